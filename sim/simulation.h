// SPDX-License-Identifier: Apache-2.0
// The simulation of this process: set up when the library is loaded, from ANYGIN_SIM; judged and written down when the
// program ends, however it ends.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "anygin/sim/program_threads.h"
#include "anygin/sim/run_result.h"
#include "anygin/sim/scheduler.h"
#include "anygin/sim/sim_settings.h"
#include "anygin/sim/sim_world.h"
#include "anygin/sim/wait_graph.h"

namespace anygin::sim {

class Simulation {
 public:
  // Null unless this process is simulated.
  static Simulation* active();
  // Becomes active; the calling thread is the program's first. Prints what is wrong with the settings and ends the
  // process with exit code 2.
  static void start();

  ProgramThreads& threads() { return threads_; }
  VirtualClock& clock() { return clock_; }
  // Made on first use.
  World& world();

  void add_finding(RunVerdict verdict, std::string text);
  // Writes result and choices; the first call counts. On the thread that has the turn.
  void finish();

 private:
  explicit Simulation(SimSettings settings);
  static SimChoices make_choices(const SimSettings& settings);
  void drive();
  void observe();
  void judge_standstill();
  void print_graph() const;
  [[noreturn]] void end_process(int exit_code);

  SimSettings settings_;
  uint64_t faults_in_vain_ = 0;  // deaths of ranks that are not there
  VirtualClock clock_;
  SimChoices choices_;
  Scheduler scheduler_;
  ProgramThreads threads_;
  PromiseCheckers checkers_;
  WaitGraph waits_;
  std::unique_ptr<SimWorld> world_;
  RunResult result_;
  uint64_t judged_at_step_ = 0;
  bool judged_ = false;
  bool finished_ = false;
};

}  // namespace anygin::sim
