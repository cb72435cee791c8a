// SPDX-License-Identifier: Apache-2.0
// The host threads of the program under test: of them and the driver exactly one runs at any time. A thread that cannot
// go on hands the turn to the driver, which runs the scheduler; the threads that can go on are actions of this engine,
// so that their order is a choice like any other.
//
// Nothing here takes a lock: whoever has the turn owns everything. The interposed calls (interpose_*.cc) come in
// through this class; so does Executor::block.
#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "anygin/base/engine.h"
#include "anygin/base/wait.h"
#include "anygin/sim/virtual_clock.h"

namespace anygin::sim {

class ProgramThreads final : public Engine {
 public:
  // The calling thread becomes program thread 0 and has the turn.
  ProgramThreads(VirtualClock& clock, std::function<void()> drive);
  ~ProgramThreads() override;

  // --- Called by the thread that has the turn ---
  bool on_program_thread() const;
  // Makes a thread that starts with `start(argument)` once it gets the turn; the caller goes on.
  int create(pthread_t* handle, const pthread_attr_t* attributes, void* (*start)(void*), void* argument);
  // Waits until that thread has ended, destructors of its thread-local objects included. False: it is not one of ours.
  bool wait_for_end(pthread_t handle);
  WaitOutcome block(Waiter& waiter);
  // Others may go on; this thread goes on when it is picked.
  void yield();
  // It looked at the clock: a loop of its own may wait for time to pass.
  void note_clock_look();
  // Sleeps until wake(channel), or the deadline: then false. `what` is for the report, static storage.
  bool sleep_on_channel(const void* channel, const char* what, Time deadline = kNever);
  // The next look of a condition: at most `count` sleepers, longest first, may go on.
  void wake(const void* channel, uint32_t count);
  void sleep_until(Time deadline);

  // What each thread that cannot go on waits for, for the report.
  std::vector<std::string> describe_waits() const;
  // How many threads there are that have not ended.
  size_t alive() const;

  // --- Engine ---
  static constexpr EngineId kId{0};
  EngineId id() const override { return kId; }
  std::string_view name() const override { return "host threads"; }
  bool has_work() const override { return true; }
  void ready(ActionList& out) override;
  void run(const Action& action, Time now) override;

 private:
  enum class State : uint8_t { kReady, kRunning, kPolls, kWaits, kSleeps, kEnded };
  struct Thread;

  static void* run_thread(void* thread);
  static void thread_ends(void* thread);
  static void* run_driver(void* threads);
  Thread& current();
  void give_turn();  // to the driver; returns when the calling thread has it again
  bool can_go_on(Thread& thread, ActionList& out) const;
  bool only_polls(Thread& thread, ActionList& out) const;

  VirtualClock& clock_;
  const std::function<void()> drive_;
  std::vector<std::unique_ptr<Thread>> threads_;
  pthread_key_t ending_;
  bool driver_started_ = false;
  std::atomic<uint32_t> driver_turn_{0};
};

}  // namespace anygin::sim
