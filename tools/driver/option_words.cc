// SPDX-License-Identifier: Apache-2.0
#include "option_words.h"

#include <algorithm>
#include <cctype>

namespace anygin::driver {
namespace {

using Strings = std::vector<std::string>;

bool is_separator(char c, bool commas) {
  return (commas && c == ',') || std::isspace(static_cast<unsigned char>(c)) != 0;
}

Strings split(const std::string& text, bool commas) {
  Strings parts;
  std::string part;
  bool open = false;  // a part has begun, perhaps an empty one in quotes
  char quote = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\\' && quote != '\'' && i + 1 < text.size()) {
      part += text[++i];
      open = true;
    } else if (quote != 0 ? c == quote : c == '"' || c == '\'') {
      quote = quote != 0 ? 0 : c;
      open = true;
    } else if (quote == 0 && is_separator(c, commas)) {
      if (open) parts.push_back(std::move(part));
      part.clear();
      open = false;
    } else {
      part += c;
      open = true;
    }
  }
  if (open) parts.push_back(std::move(part));
  return parts;
}

}  // namespace

Strings split_list(const std::string& text) {
  Strings parts;
  for (std::string& part : split(text, true)) {
    // -Wl,-rpath,folder is one option of the host compiler though its commas look like ours.
    const bool of_linker = !parts.empty() && parts.back().rfind("-Wl", 0) == 0;
    if (of_linker) {
      parts.back() += ',' + part;
    } else {
      parts.push_back(std::move(part));
    }
  }
  return parts;
}

Strings split_words(const std::string& text) {
  return split(text, false);
}

Architecture architecture_in(const std::string& text) {
  Architecture result;
  for (const char* word : {"native", "all", "all-major"}) result.known |= text == word;
  for (const char* word : {"sm_", "compute_", "lto_"}) {
    for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
      size_t end = at + std::char_traits<char>::length(word);
      int number = 0;
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0 && number < 1000) {
        number = number * 10 + (text[end++] - '0');
      }
      if (number == 0) continue;
      result.known = true;
      result.number = std::max(result.number, number * 10);
      if (end < text.size() && (text[end] == 'a' || text[end] == 'f')) result.specific = true;
    }
  }
  return result;
}

std::string usable_standard(const std::string& name) {
  for (const char* old : {"03", "11", "14"}) {
    if (name == std::string("c++") + old) return "c++17";
    if (name == std::string("gnu++") + old) return "gnu++17";
  }
  return name;
}

std::string extension_of(const std::string& path) {
  const size_t slash = path.rfind('/');
  const size_t dot = path.rfind('.');
  if (dot == std::string::npos || (slash != std::string::npos && dot < slash)) return "";
  return path.substr(dot + 1);
}

}  // namespace anygin::driver
