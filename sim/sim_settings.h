// SPDX-License-Identifier: Apache-2.0
// ANYGIN_SIM: how one simulated run goes, "key=value,key=value". `anygin check` and `anygin replay` write it.
#pragma once

#include <string>
#include <string_view>

#include "anygin/base/status.h"
#include "anygin/sim/fault_plan.h"
#include "anygin/sim/sim_choices.h"
#include "anygin/sim/strategy.h"

namespace anygin::sim {

struct SimSettings {
  uint64_t seed = 1;        // ANYGIN_SEED
  StrategyChoice strategy;  // strategy=canonical|random|pct:3, steps=<expected length of a run, for pct>
  std::string replay_file;  // replay=<file>: repeat the choices in it
  ReplayMode replay_mode = ReplayMode::kStrict;  // mode=strict|tolerant
  std::string choices_file;                      // choices=<file>: write the choices there
  std::string result_file;                       // result=<file>: write the result there
  FaultPlan faults;                              // faults=<plan>
  int parent = 0;                                // parent=<pid>: the run ends with this process; 0: with nobody
};

Result<SimSettings> parse_sim_settings(std::string_view text);

}  // namespace anygin::sim
