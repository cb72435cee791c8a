// SPDX-License-Identifier: Apache-2.0
// `anygin conformance`: the installed conformance programs over the arms of this prefix, as a matrix.
#pragma once

#include <cstdint>
#include <string>

namespace anygin::tools {

struct ConformanceRequest {
  std::string arms = "*", cases = "*";  // patterns as of a shell; a case also by its first words
  std::string nic = "emu";
  std::string junit_file;
  bool list = false, mutants = false;
  uint64_t seed = 1;
  int jobs = 0;  // 0: as many as there are cores; on one GPU, which runs take turns at, 4
};

// 0: all passed. 1: a case failed, or a mutant was not caught. 2: nothing matches. 3: what it needs is not here.
int run_conformance(const ConformanceRequest& request);
// A pattern as of a shell, of the whole name or of its first words: P2 is P2_a_strong_signal and not P20_a_barrier.
bool matches_case(const std::string& pattern, const std::string& name);
// Which deliberate faults the conformance cases notice, of the list beside them.
int run_conformance_mutants(const ConformanceRequest& request);

}  // namespace anygin::tools
