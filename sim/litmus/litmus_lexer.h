// SPDX-License-Identifier: Apache-2.0
// One line of a litmus file as tokens: names, numbers, and the signs : [ ] = , | <- -> >=.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace anygin::litmus {

struct Token {
  enum Kind : uint8_t { kName, kNumber, kSign, kEnd } kind = kEnd;
  std::string text;  // as it stands in the file
  uint64_t number = 0;
};

// Splits a line; a '#' begins a comment. The last token is kEnd. False: `*error` says what is wrong.
bool split_line(std::string_view line, std::vector<Token>* tokens, std::string* error);

}  // namespace anygin::litmus
