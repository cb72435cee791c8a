// SPDX-License-Identifier: Apache-2.0
// A test that reaches a cause of an error says so: a tidy rule asks for every row of lib/base/error_causes.def.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "anygin/base/status.h"

namespace anygin::reached {

// The first name of a cause in a text; empty if there is none.
inline std::string cause_in(const std::string& text) {
  const size_t at = text.find("GIN_ERR_");
  if (at == std::string::npos) return "";
  return text.substr(at, text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_", at) - at);
}
inline std::string cause_in(const Status& status) {
  return std::string(info_of(status.cause()).name);
}

}  // namespace anygin::reached

// `text`: ncclGetLastError's, a report's, or a Status.
#define REACHES(name, text) EXPECT_EQ(::anygin::reached::cause_in(text), #name) << #text
// The same as a regular expression over a report of misuse, for death tests.
#define REACHES_REPORT(name, words) "misuse: " #name ": .*" words
