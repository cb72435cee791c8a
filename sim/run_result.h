// SPDX-License-Identifier: Apache-2.0
// What a simulated run came to, and the file in which it tells the tool that started it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "anygin/base/status.h"
#include "anygin/base/time.h"

namespace anygin::sim {

// In order of gravity: a run has the worst that happened.
enum class RunVerdict : uint8_t { kClean, kFinding, kHang, kDiverged };
std::string_view name_of(RunVerdict verdict);

struct Finding {
  uint64_t step = 0;
  std::string text;  // one line

  friend bool operator==(const Finding&, const Finding&) = default;
};

struct RunResult {
  RunVerdict verdict = RunVerdict::kClean;
  uint64_t digest = 0;  // of all that happened
  uint64_t choices_digest = 0;
  uint64_t steps = 0;
  uint64_t choices = 0;
  uint64_t deviations = 0;  // choices that were not the canonical ones
  uint64_t actors = 0;
  uint64_t faults = 0;  // of the plan, that struck
  Time time = 0;        // virtual
  std::vector<Finding> findings;

  void add(RunVerdict worse, uint64_t step, std::string text);
};

std::string to_text(const RunResult& result);
Result<RunResult> parse_run_result(std::string_view text);

}  // namespace anygin::sim
