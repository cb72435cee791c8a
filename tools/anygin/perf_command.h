// SPDX-License-Identifier: Apache-2.0
// `anygin perf`: latency, rate and bandwidth of GIN operations between 2 ranks on this machine.
#pragma once

#include <cstdint>

namespace anygin::tools {

struct PerfRequest {
  bool procs = false;  // a process each, else threads of one
  uint64_t least_bytes = 8;
  uint64_t most_bytes = uint64_t{4} << 20;
  uint64_t turns = 2000;  // of the smallest size
};

// Prints the table; returns the exit code of what measured. Ranks as threads replace this process.
int run_perf(const PerfRequest& request);

}  // namespace anygin::tools
