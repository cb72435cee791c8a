// SPDX-License-Identifier: Apache-2.0
// What was measured: a line of the table on stdout, and lines of a file of comma-separated values from which `anygin
// perf` draws. Rank 0 reports.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace perf {

// Of several runs.
struct Spread {
  double median = 0, least = 0, most = 0;
};

inline Spread spread_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return {values[values.size() / 2], values.front(), values.back()};
}

// `amount` a run, e.g. messages per microsecond of each: the slowest run has the least.
inline Spread rate_of(double amount, const Spread& times) {
  return {amount / times.median, amount / times.most, amount / times.least};
}

struct Quantity {
  const char* unit;  // its name in the table: "us", "GB/s"
  Spread value;
};

struct Line {
  std::string operation;
  int threads = 1, contexts = 1;
  uint64_t bytes = 0;
  uint64_t turns = 0;                // a run
  std::vector<Quantity> quantities;  // the first with its spread, of the others the median
};

class Report {
 public:
  // `file` may be null; it is closed by its owner.
  Report(std::string test, int ranks, std::FILE* file) : test_(std::move(test)), ranks_(ranks), file_(file) {}

  void add(const Line& line) {
    if (!headed_) print_head(line);
    headed_ = true;
    std::printf("%-18s %5d %7d %8d %10llu %7llu", line.operation.c_str(), ranks_, line.threads, line.contexts,
                as_long(line.bytes), as_long(line.turns));
    const Spread& first = line.quantities.front().value;
    std::printf(" %11.5g %11.5g %11.5g", first.median, first.least, first.most);
    for (size_t i = 1; i < line.quantities.size(); ++i) std::printf(" %11.4g", line.quantities[i].value.median);
    std::printf("\n");
    std::fflush(stdout);
    if (file_ != nullptr) write(line);
  }

 private:
  static unsigned long long as_long(uint64_t value) { return value; }

  void print_head(const Line& line) const {
    const char* const unit = line.quantities.front().unit;
    std::printf("\n%-18s %5s %7s %8s %10s %7s", ("# " + test_).c_str(), "ranks", "threads", "contexts", "bytes",
                "turns");
    for (const char* which : {" median", " least", " most"}) std::printf(" %11s", (unit + std::string(which)).c_str());
    for (size_t i = 1; i < line.quantities.size(); ++i) std::printf(" %11s", line.quantities[i].unit);
    std::printf("\n");
  }
  void write(const Line& line) const {
    for (const Quantity& quantity : line.quantities) {
      std::fprintf(file_, "%s,%s,%d,%d,%d,%llu,%llu,%s,%.6g,%.6g,%.6g\n", test_.c_str(), line.operation.c_str(), ranks_,
                   line.threads, line.contexts, as_long(line.bytes), as_long(line.turns), quantity.unit,
                   quantity.value.median, quantity.value.least, quantity.value.most);
    }
    std::fflush(file_);
  }

  const std::string test_;
  const int ranks_;
  std::FILE* const file_;
  bool headed_ = false;
};

}  // namespace perf
