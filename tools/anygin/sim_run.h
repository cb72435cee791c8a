// SPDX-License-Identifier: Apache-2.0
// One run of a program in the simulated world, as a process of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "anygin/sim/run_result.h"

namespace anygin::tools {

struct SimRunRequest {
  std::vector<std::string> command;
  uint64_t seed = 1;
  std::string profile = "relaxed";
  std::string strategy = "random";
  uint64_t expected_steps = 0;  // of pct; 0: the default
  std::string faults;           // as --faults takes them; empty: none
  std::string replay_file;      // repeat these choices
  bool tolerant = false;
  std::string choices_file;  // write the choices there
  std::string events_file;   // write the event stream there
  double timeout_s = 60;     // real time; a program that blocks in a call that is not simulated would wait for ever
  bool expect_hang = false;  // the program is about a hang: its exit code judges
  bool show_output = false;  // the program's output goes where ours goes; else it is kept
};

// What a run came to, as the exit code of a tool says it.
enum class RunOutcome : uint8_t { kClean, kFinding, kHang, kDiverged, kNotJudged };

struct SimRun {
  RunOutcome outcome = RunOutcome::kNotJudged;
  int exit_code = -1;  // of the program, 128 + signal if one ended it
  std::string output;  // stdout and stderr as they came, its end if there is much
  std::optional<sim::RunResult> result;
  // One line: what is wrong. Empty if nothing is.
  std::string why() const;
  // Equal for runs that fail in the same way.
  std::string kind() const;
};

// The world library beside this tool; empty if it is not there.
std::string world_library();
SimRun run_simulated(const SimRunRequest& request);

}  // namespace anygin::tools
