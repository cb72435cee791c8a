// SPDX-License-Identifier: Apache-2.0
#include "perf_charts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

namespace anygin::tools {
namespace {

// Over what a test is drawn, and what tells its curves apart.
struct Arrangement {
  const char* test;
  const char* x_label;
  uint64_t PerfRow::*x;
  const char* curves;               // behind the number; null: curves are named after the operation
  uint64_t PerfRow::*curve_number;  // null likewise
};
constexpr Arrangement kArrangements[] = {
    {"puts", "bytes", &PerfRow::bytes, nullptr, nullptr},
    {"rate", "threads", &PerfRow::threads, "contexts", &PerfRow::contexts},
    {"barrier", "ranks", &PerfRow::ranks, nullptr, nullptr},
    {"alltoall", "bytes a pair", &PerfRow::bytes, "ranks", &PerfRow::ranks},
    {"moe", "ranks", &PerfRow::ranks, nullptr, nullptr},
    {"sendrecv", "bytes", &PerfRow::bytes, "ranks", &PerfRow::ranks},
};

const Arrangement* arrangement_of(const std::string& test) {
  const auto* const found = std::find_if(std::begin(kArrangements), std::end(kArrangements),
                                         [&](const Arrangement& one) { return test == one.test; });
  return found == std::end(kArrangements) ? nullptr : found;
}

// `name`'s entry in a list of (name, value), made at its end if it is not there.
template <typename Value>
Value& entry(std::vector<std::pair<std::string, Value>>& list, const std::string& name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const auto& one) { return one.first == name; });
  if (found != list.end()) return found->second;
  return list.emplace_back(name, Value{}).second;
}

bool take_number(const std::string& text, uint64_t& value) {
  char* end = nullptr;
  value = std::strtoull(text.c_str(), &end, 10);
  return !text.empty() && *end == '\0';
}
bool take_number(const std::string& text, double& value) {
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

bool take_row(const std::string& line, PerfRow& row) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  if (cells.size() != 11 || arrangement_of(cells[0]) == nullptr) return false;
  row.test = cells[0];
  row.operation = cells[1];
  row.quantity = cells[7];
  return take_number(cells[2], row.ranks) && take_number(cells[3], row.threads) &&
         take_number(cells[4], row.contexts) && take_number(cells[5], row.bytes) && take_number(cells[6], row.turns) &&
         take_number(cells[8], row.median) && take_number(cells[9], row.least) && take_number(cells[10], row.most);
}

}  // namespace

Result<std::vector<PerfRow>> read_perf_rows(const std::string& text) {
  std::vector<PerfRow> rows;
  std::istringstream lines(text);
  std::string line;
  std::getline(lines, line);
  const auto bad = [](size_t number, const std::string& what) {
    return Status(Cause::kToolInput, "anygin perf",
                  fmt::format("line {}: '{}' is not {}", number, what, kPerfColumns));
  };
  if (line != kPerfColumns) return bad(1, line);
  while (std::getline(lines, line)) {
    PerfRow row;
    if (!take_row(line, row)) return bad(rows.size() + 2, line);
    rows.push_back(row);
  }
  return rows;
}

std::vector<Chart> charts_of(const std::vector<PerfRow>& rows) {
  std::vector<std::pair<std::string, Chart>> charts;
  for (const PerfRow& row : rows) {
    const Arrangement& how = *arrangement_of(row.test);
    Chart& chart = entry(charts, row.test + ": " + row.quantity);
    chart.title = row.test;
    chart.x_label = how.x_label;
    chart.y_label = row.quantity;
    chart.bytes = how.x == &PerfRow::bytes;
    const std::string curve =
        how.curves == nullptr ? row.operation : fmt::format("{} {}", row.*how.curve_number, how.curves);
    entry(chart.curves, curve).push_back({static_cast<double>(row.*how.x), row.median, row.least, row.most});
  }
  std::vector<Chart> in_order;
  for (auto& [name, chart] : charts) in_order.push_back(std::move(chart));
  return in_order;
}

}  // namespace anygin::tools
