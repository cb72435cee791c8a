// SPDX-License-Identifier: Apache-2.0
// Steps engines only when a test says so, one action at a time, in canonical order; no thread of its own.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "anygin/base/executor.h"
#include "support/virtual_time.h"

namespace anygin::testing {

// Thread-safe, so that one thread a rank can set up communicators: whoever steps holds the lock. Engines that an action
// adds or removes are seen by the next step.
class TestExecutor final : public Executor {
 public:
  explicit TestExecutor(VirtualClock& clock) : clock_(clock) {}

  // Runs one action of the first engine (in id order, going round) that offers one. If none does, moves the clock to
  // the next wake-up that an engine named and tries again. False if nothing can move.
  bool step_once();
  // Steps until the condition holds: true; or until nothing can move or `budget` actions ran: false.
  bool run_until(const std::function<bool()>& condition, size_t budget = 100'000);
  // Steps until nothing can move. Returns how many actions ran; aborts the test program after `budget`.
  size_t run_until_idle(size_t budget = 100'000);
  // What every engine says is pending, one line each.
  std::string pending();

  void add(Engine& engine) override;
  void remove(Engine& engine) override;
  void kick(Engine& engine) override;
  bool poll() override;
  // Steps engines until the test holds. If nothing can move: jumps to the deadline if there is one; else a gtest
  // failure that names the wait, and kAborted.
  WaitOutcome block(Waiter& waiter) override;
  WakeWord& wake_word() override { return *word_.load(); }
  void use_wake_word(WakeWord& word) override { word_.store(&word); }
  uint64_t progress() const override { return progress_.load(); }
  void visit_engines(void (*visit)(Engine&, void*), void* argument) override;

 private:
  struct Entry {
    Engine* engine;
    Time wake = kNever;
  };

  bool run_ready_action();
  bool jump_to(Time limit);

  VirtualClock& clock_;
  std::recursive_mutex mutex_;
  std::map<uint32_t, Entry> engines_;  // by id
  uint32_t last_run_ = 0;
  std::atomic<uint64_t> progress_{0};
  WakeWord own_word_;
  std::atomic<WakeWord*> word_{&own_word_};
};

}  // namespace anygin::testing
