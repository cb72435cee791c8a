// SPDX-License-Identifier: Apache-2.0
// The executor of the simulated world. Without program threads (tests, litmus) whoever waits drives the scheduler; with
// them a thread of its own does, and waiting threads give way to it.
#pragma once

#include "anygin/base/executor.h"
#include "anygin/sim/program_threads.h"
#include "anygin/sim/scheduler.h"

namespace anygin::sim {

class SimExecutor final : public Executor {
 public:
  // `threads` may be null: then only one host thread uses the world.
  SimExecutor(Scheduler& scheduler, VirtualClock& clock, ProgramThreads* threads)
      : scheduler_(scheduler), clock_(clock), threads_(threads) {}

  void add(Engine& engine) override { scheduler_.add(engine); }
  void remove(Engine& engine) override { scheduler_.remove(engine); }
  // Every engine that has work is looked at before each step.
  void kick(Engine&) override {}
  // On a program thread: lets others go on. Without program threads: runs one action.
  bool poll() override;
  // Without program threads kAborted also means that nothing can move any more.
  WaitOutcome block(Waiter& waiter) override;
  WakeWord& wake_word() override { return *word_; }
  void use_wake_word(WakeWord& word) override { word_ = &word; }
  uint64_t progress() const override { return scheduler_.steps(); }
  void visit_engines(void (*visit)(Engine&, void*), void* argument) override;

 private:
  WaitOutcome drive(Waiter& waiter);

  Scheduler& scheduler_;
  VirtualClock& clock_;
  ProgramThreads* const threads_;
  WakeWord own_word_;
  WakeWord* word_ = &own_word_;
};

}  // namespace anygin::sim
