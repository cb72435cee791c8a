// SPDX-License-Identifier: Apache-2.0
// Commands as they can be typed again.
#pragma once

#include <algorithm>
#include <cctype>
#include <cstring>
#include <string>
#include <vector>

namespace anygin::tools {

// As a shell takes it for one word.
inline std::string shell_word(const std::string& text) {
  const bool plain = !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || std::strchr("_-+./:=,@%^", c) != nullptr;
  });
  if (plain) return text;
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

// Words with blanks between.
inline std::string shell_words(const std::vector<std::string>& command) {
  std::string text;
  for (const std::string& word : command) {
    if (!text.empty()) text += ' ';
    text += shell_word(word);
  }
  return text;
}

}  // namespace anygin::tools
