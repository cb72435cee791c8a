// SPDX-License-Identifier: Apache-2.0
// `anygin perf`: latency, rate and bandwidth on this machine, as tables, comma-separated values and curves.
#pragma once

#include <string>
#include <vector>

namespace anygin::tools {

// One thing that can be measured.
struct PerfTest {
  const char* name;
  const char* what;
  bool pair;               // always 2 ranks
  std::vector<int> ranks;  // if none are asked for
};
const std::vector<PerfTest>& perf_tests();

struct PerfRequest {
  std::vector<std::string> tests;      // names; "all": every one
  std::vector<int> ranks;              // empty: each test's own
  bool procs = false;                  // a process each, else threads of one
  std::string csv_file, svg_file;      // empty: none
  std::vector<std::string> handed_on;  // further options of anygin-perf, which checks them
};

// Prints the tables and writes the files; returns the exit code of the first measurement that failed, or 0.
int run_perf(const PerfRequest& request);

}  // namespace anygin::tools
