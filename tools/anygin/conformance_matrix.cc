// SPDX-License-Identifier: Apache-2.0
#include "conformance_matrix.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <set>

namespace anygin::tools {
namespace {

// P2 before P10: letters, then the number.
std::pair<std::string, int> order_of(const std::string& line) {
  const size_t digits = line.find_first_of("0123456789");
  if (digits == std::string::npos) return {line, 0};
  return {line.substr(0, digits), std::atoi(line.c_str() + digits)};
}

// Columns of characters, not of bytes: a line may hold one of two.
std::string padded(const std::string& text, size_t width) {
  const auto shown =
      static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
  return text + std::string(width > shown ? width - shown : 0, ' ');
}

std::string without_end(const std::string& row) {
  return row.substr(0, row.find_last_not_of(' ') + 1);
}

char letter(size_t index) {
  return static_cast<char>('a' + index);
}

}  // namespace

std::vector<std::string> ConformanceCase::lines() const {
  static const std::regex kMisuse(R"(^(M\d+)_R_)"), kToken(R"(^([A-Z]+\d+)_)"), kWord(R"(^([A-Za-z0-9]+))");
  const std::string scenario = "Scenario_";
  const bool is_scenario = name.rfind(scenario, 0) == 0;
  std::string rest = is_scenario ? name.substr(scenario.size()) : name;
  std::smatch match;
  if (std::regex_search(rest, match, kMisuse)) return {match[1].str() + "·R"};
  std::vector<std::string> lines;
  for (; std::regex_search(rest, match, kToken); rest = match.suffix()) {
    lines.push_back((is_scenario ? "scenario " : "") + match[1].str());
  }
  if (lines.empty() && std::regex_search(rest, match, kWord)) lines.push_back(match[1]);
  return lines;
}

void ConformanceMatrix::passed(const ConformanceCase& one, const Arm& arm) {
  for (const std::string& line : one.lines()) ++cells_[{line, arm.name}].passed;
  ++passes_;
}

void ConformanceMatrix::failed(const ConformanceCase& one, const Arm& arm, const std::string& why) {
  for (const std::string& line : one.lines()) ++cells_[{line, arm.name}].failed;
  failed_.push_back(fmt::format("FAILED {} on {}: {}", one.name, arm.name, why));
}

void ConformanceMatrix::not_here(const ConformanceCase& one, const Arm& arm, const std::string& why) {
  for (const std::string& line : one.lines()) cells_[{line, arm.name}];
  ++reasons_[{one.name, why}];
  ++elsewhere_;
}

std::vector<std::string> ConformanceMatrix::lines() const {
  std::set<std::string> names;
  for (const auto& [key, cell] : cells_) names.insert(key.first);
  std::vector<std::string> sorted(names.begin(), names.end());
  std::sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) { return order_of(a) < order_of(b); });
  return sorted;
}

std::string ConformanceMatrix::text() const {
  std::string text;
  for (size_t i = 0; i < arms_.size(); ++i) text += fmt::format("{}  {}\n", letter(i), arms_[i].name);
  std::string head = padded("line", 14);
  for (size_t i = 0; i < arms_.size(); ++i) head += padded(std::string(1, letter(i)), 6);
  text += without_end(head) + "\n";
  for (const std::string& line : lines()) {
    std::string row = padded(line, 14);
    for (const Arm& arm : arms_) {
      const auto cell = cells_.find({line, arm.name});
      const bool ran = cell != cells_.end() && cell->second.passed + cell->second.failed > 0;
      row += padded(!ran ? "-" : cell->second.failed > 0 ? "FAIL" : "ok", 6);
    }
    text += without_end(row) + "\n";
  }
  for (const std::string& failure : failed_) text += failure + "\n";
  for (const auto& [key, arms] : reasons_)
    text += fmt::format("not on {} arm{}: {}: {}\n", arms, arms == 1 ? "" : "s", key.first, key.second);
  return text;
}

}  // namespace anygin::tools
