// SPDX-License-Identifier: Apache-2.0
// What `anygin perf` measured, read back from its comma-separated values and arranged for drawing.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "anygin/base/status.h"
#include "chart.h"

namespace anygin::tools {

// The first line of the file: one column a member of PerfRow.
inline constexpr const char* kPerfColumns =
    "test,operation,ranks,threads,contexts,bytes,turns,quantity,median,least,most";

struct PerfRow {
  std::string test, operation;
  uint64_t ranks = 0, threads = 0, contexts = 0, bytes = 0, turns = 0;
  std::string quantity;  // its unit
  double median = 0, least = 0, most = 0;
};

// Of a whole file; an error names the line that is none.
Result<std::vector<PerfRow>> read_perf_rows(const std::string& text);

// A chart for each test and quantity, in the order in which they were measured.
std::vector<Chart> charts_of(const std::vector<PerfRow>& rows);

}  // namespace anygin::tools
