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

std::string ConformanceCase::line() const {
  static const std::regex kScenario(R"(^Scenario_([A-Z]+\d+))"), kMisuse(R"(^(M\d+)_R_)"), kWord(R"(^([A-Za-z0-9]+))");
  std::smatch match;
  if (std::regex_search(name, match, kScenario)) return "scenario " + match[1].str();
  if (std::regex_search(name, match, kMisuse)) return match[1].str() + "·R";
  return std::regex_search(name, match, kWord) ? match[1].str() : name;
}

void ConformanceMatrix::passed(const ConformanceCase& one, const Arm& arm) {
  ++cells_[{one.line(), arm.name}].passed;
  ++passes_;
}

void ConformanceMatrix::failed(const ConformanceCase& one, const Arm& arm, const std::string& why) {
  ++cells_[{one.line(), arm.name}].failed;
  failed_.push_back(fmt::format("FAILED {} on {}: {}", one.name, arm.name, why));
}

void ConformanceMatrix::not_here(const ConformanceCase& one, const Arm& arm, const std::string& why) {
  cells_[{one.line(), arm.name}];
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
