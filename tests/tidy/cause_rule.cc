// SPDX-License-Identifier: Apache-2.0
// Every cause of an error (lib/base/error_causes.def) is reached by a test that names it: REACHES(GIN_ERR_..., text).
#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>

#include "tidy/tidy_rules.h"

namespace anygin::tidy {

Findings check_causes(const Tree& tree) {
  static const std::regex kRow(R"(ANYGIN_CAUSE\(k\w+,\s+(\w+),)");
  static const std::regex kReached(R"(\bREACHES(?:_\w+)?\(\s*GIN_ERR_(\w+)[,)])");
  constexpr const char* kTable = "lib/base/error_causes.def";
  const auto table = tree.find(kTable);
  if (table == tree.end()) return {fmt::format("{}:1: the table of causes is missing", kTable)};
  std::set<std::string> reached;
  for (const auto& [path, contents] : tree) {
    if (path.rfind("tests/", 0) != 0 || path.rfind("tests/tidy/", 0) == 0) continue;
    for (std::sregex_iterator match(contents.begin(), contents.end(), kReached), end; match != end; ++match) {
      reached.insert((*match)[1]);
    }
  }
  Findings findings;
  const std::string& rows = table->second;
  for (std::sregex_iterator match(rows.begin(), rows.end(), kRow), end; match != end; ++match) {
    if (reached.count((*match)[1]) != 0) continue;
    const auto line = 1 + std::count(rows.begin(), rows.begin() + match->position(), '\n');
    findings.push_back(fmt::format("{}:{}: no test says REACHES(GIN_ERR_{}, ...)", kTable, line, (*match)[1].str()));
  }
  return findings;
}

}  // namespace anygin::tidy
