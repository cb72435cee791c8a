// SPDX-License-Identifier: Apache-2.0
// Every promise, freedom and misuse of docs/semantics.md that a run can show, and every scenario of docs/scenarios.md,
// has a conformance case, or a row that says what it waits for.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tidy/tidy_rules.h"

namespace anygin::tidy {
namespace {

constexpr const char* kSemantics = "docs/semantics.md";
constexpr const char* kScenarios = "docs/scenarios.md";

std::set<std::string> conformance_cases(const Tree& tree) {
  static const std::regex kCase(R"(^CONFORMANCE_CASE\w*\((\w+),)");
  std::set<std::string> names;
  for (const auto& [path, contents] : tree) {
    if (path.rfind("tests/conformance/", 0) != 0) continue;
    std::istringstream stream(contents);
    std::string line;
    while (std::getline(stream, line)) {
      std::smatch match;
      if (std::regex_search(line, match, kCase)) names.insert(match[1]);
    }
  }
  return names;
}

// What a case shows, by its name: P5_P6_a_put is P5 and P6, M6_R_offset is M6·R. Scenarios are named in rows.
std::set<std::string> shown_by(const std::set<std::string>& cases) {
  static const std::regex kMisuse(R"(^(M\d+)_R_)"), kToken(R"(^([PF]\d+)_)");
  std::set<std::string> shown;
  for (std::string name : cases) {
    std::smatch match;
    if (std::regex_search(name, match, kMisuse)) shown.insert(match[1].str() + "·R");
    while (std::regex_search(name, match, kToken)) {
      shown.insert(match[1]);
      name = match.suffix();
    }
  }
  return shown;
}

// The semantics' own list, up to the litmus programs, which are held against files of their own.
std::set<std::string> lines_of(const std::string& semantics) {
  static const std::regex kLine(R"(\b([PF]\d+|M\d+·R))");
  const std::string text = semantics.substr(0, semantics.find("## Litmus"));
  std::set<std::string> lines;
  for (std::sregex_iterator match(text.begin(), text.end(), kLine), end; match != end; ++match)
    lines.insert(match->str());
  return lines;
}

struct Row {
  int number;
  std::string id, left;
  std::set<std::string> cases;
};

std::vector<Row> rows_of(const std::string& page) {
  static const std::regex kRow(R"(^\| ([A-Z]+\d+(?:·R)?) \|[^|]*\|([^|]*)\|([^|]*)\|$)"), kName(R"(`(\w+)`)");
  std::vector<Row> rows;
  std::istringstream stream(page);
  std::string line;
  for (int number = 1; std::getline(stream, line); ++number) {
    std::smatch match;
    if (!std::regex_match(line, match, kRow)) continue;
    Row row{number, match[1], match[3], {}};
    const std::string names = match[2];
    for (std::sregex_iterator name(names.begin(), names.end(), kName), end; name != end; ++name)
      row.cases.insert((*name)[1]);
    rows.push_back(row);
  }
  return rows;
}

bool is_empty(const std::string& cell) {
  return cell.find_first_not_of(' ') == std::string::npos;
}

void check_rows(const std::vector<Row>& rows, const std::set<std::string>& cases, Findings* findings) {
  for (const Row& row : rows) {
    if (row.cases.empty() && is_empty(row.left)) {
      findings->push_back(fmt::format("{}:{}: {} has neither a case nor a reason", kScenarios, row.number, row.id));
    }
    for (const std::string& name : row.cases) {
      if (cases.count(name) == 0) {
        findings->push_back(
            fmt::format("{}:{}: {}: no conformance case is called {}", kScenarios, row.number, row.id, name));
      }
    }
  }
}

}  // namespace

Findings check_promises(const Tree& tree) {
  Findings findings;
  const auto semantics = tree.find(kSemantics), scenarios = tree.find(kScenarios);
  if (semantics == tree.end()) return findings;
  const std::set<std::string> cases = conformance_cases(tree), shown = shown_by(cases);
  const std::vector<Row> rows = scenarios == tree.end() ? std::vector<Row>{} : rows_of(scenarios->second);
  for (const std::string& line : lines_of(semantics->second)) {
    const bool excused =
        std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.cases.empty() && row.id == line; });
    if (shown.count(line) == 0 && !excused) {
      findings.push_back(
          fmt::format("{}: {} has no conformance case; one whose name begins with it would be right, or a row with the "
                      "reason in {}",
                      kSemantics, line, kScenarios));
    }
  }
  check_rows(rows, cases, &findings);
  std::set<std::string> named;
  for (const Row& row : rows) named.insert(row.cases.begin(), row.cases.end());
  for (const std::string& name : cases) {
    if (name.rfind("Scenario_", 0) == 0 && named.count(name) == 0) {
      findings.push_back(fmt::format("{}: no row names the case {}", kScenarios, name));
    }
  }
  return findings;
}

}  // namespace anygin::tidy
