// SPDX-License-Identifier: Apache-2.0
#include "coverage/coverage_names.h"

#include <fmt/format.h>

#include <regex>
#include <sstream>

namespace anygin::coverage {
namespace {

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t") + 1 - first);
}

// "ncclGin.put(ncclSymPtr)" -> owner, token, form.
void take_apart(Name& name) {
  std::string path = name.text;
  const size_t form = path.find('(');
  name.is_form = form != std::string::npos;
  if (name.is_form) path.resize(form);
  const size_t dot = path.rfind('.'), colons = path.rfind("::");
  name.is_member = dot != std::string::npos;
  if (name.is_member) {
    name.owner = path.substr(0, dot);
    name.token = path.substr(dot + 1);
  } else if (colons != std::string::npos) {
    const std::string scope = path.substr(0, colons);
    name.owner = scope.substr(scope.rfind(':') + 1);
    name.token = path.substr(colons + 2);
  } else {
    name.token = path;
  }
}

bool parse_name(const std::string& line, Name& name) {
  static const std::regex kLine(
      R"(([A-Za-z_][\w.:]*(?:\([^)]*\))?)(?: = (compile|missing|refused (\w+)): ([^|]+))?(?: \| (.+))?)");
  std::smatch match;
  if (!std::regex_match(line, match, kLine)) return false;
  name.text = match[1];
  if (match[3].matched) {
    name.expected = Expected::kRefused;
  } else if (match[2].matched) {
    name.expected = match[2] == "compile" ? Expected::kCompile : Expected::kMissing;
  }
  name.code = match[3];
  name.why = trimmed(match[4]);
  name.note = trimmed(match[5]);
  take_apart(name);
  return true;
}

void parse_alias(Names& names, std::istringstream& words) {
  std::string owner, other;
  words >> owner;
  while (words >> other) names.aliases[owner].insert(other);
}

}  // namespace

Names parse_names(const std::string& text) {
  Names names;
  std::set<std::string> seen;
  std::istringstream lines(text);
  std::string line;
  for (int number = 1; std::getline(lines, line); ++number) {
    line = trimmed(line);
    if (line.rfind("## ", 0) == 0) {
      names.headings.push_back({line.substr(3), {}});
      continue;
    }
    if (line.empty() || line[0] == '#') continue;
    std::istringstream words(line);
    std::string first;
    words >> first;
    if (first == "alias") {
      parse_alias(names, words);
      continue;
    }
    if (first == "ignore") {
      std::string ignored;
      words >> ignored;
      if (!ignored.empty() && ignored.back() == ':') ignored.pop_back();
      names.ignored.insert(ignored);
      continue;
    }
    Name name;
    if (names.headings.empty() || !parse_name(line, name)) {
      names.errors.push_back(
          fmt::format("names.txt:{}: '{}' is no name as tests/coverage/coverage_names.h says", number, line));
    } else if (!seen.insert(name.text).second) {
      names.errors.push_back(fmt::format("names.txt:{}: {} comes twice", number, name.text));
    } else {
      names.headings.back().names.push_back(name);
    }
  }
  return names;
}

void mark_not_yet(Names& names, const std::string& source_of_not_yet) {
  static const std::regex kNotYet(R"(ANYGIN_NCCL_NOT_YET\((nccl\w+),|not_yet\(\"(nccl\w+)\"\))");
  std::set<std::string> not_yet;
  for (std::sregex_iterator it(source_of_not_yet.begin(), source_of_not_yet.end(), kNotYet), end; it != end; ++it) {
    not_yet.insert((*it)[1].matched ? (*it)[1] : (*it)[2]);
  }
  for (Heading& heading : names.headings) {
    for (Name& name : heading.names) {
      if (not_yet.count(name.text) == 0) continue;
      name.expected = Expected::kRefused;
      name.code = "ncclInvalidUsage";
      name.why = "not yet";
    }
  }
}

}  // namespace anygin::coverage
