// SPDX-License-Identifier: Apache-2.0
// The world that the production stack runs in for litmus programs: one process, a clock that only this code moves,
// engines that run one action at a time when they are told, choices from a seed that every run sets anew.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "anygin/base/choices_seeded.h"
#include "anygin/base/world.h"
#include "anygin/sim/virtual_clock.h"

namespace anygin::litmus {

class StackChoices final : public ChoiceSource {
 public:
  void seed(uint64_t seed) { source_.emplace(seed); }
  size_t pick(ChoiceKind kind, ArrayView<const ChoiceOption> options) override { return source_->pick(kind, options); }
  uint64_t pick_below(ChoiceKind kind, uint64_t count) override { return source_->pick_below(kind, count); }

 private:
  std::optional<SeededChoices> source_{std::in_place, 1};
};

// One thread at a time uses it: the ranks' threads in turns while they are set up, then the one that runs programs.
class StackExecutor final : public Executor {
 public:
  explicit StackExecutor(sim::VirtualClock& clock) : clock_(clock) {}

  // One ready action. Valid until the next run().
  struct Ready {
    Engine* engine;
    const Action* action;
  };
  // Everything that can run now, in the order of engines' ids.
  void collect(std::vector<Ready>& out);
  void run(const Ready& ready) { ready.engine->run(*ready.action, clock_.now()); }
  // What collect() saw named a later time at which something becomes ready.
  bool time_may_pass() const { return next_wake_ != kNever; }
  void pass_time() { clock_.advance_to(next_wake_); }
  // Runs all that can run, in canonical order. False: it did not come to an end.
  bool drain();
  std::string pending();

  void add(Engine& engine) override;
  void remove(Engine& engine) override;
  void kick(Engine&) override {}
  bool poll() override { return false; }
  // Nothing moves meanwhile: a wait that does not hold has passed its deadline.
  WaitOutcome block(Waiter& waiter) override;
  WakeWord& wake_word() override { return *word_; }
  void use_wake_word(WakeWord& word) override { word_ = &word; }
  uint64_t progress() const override { return 0; }
  void visit_engines(void (*visit)(Engine&, void*), void* argument) override;

 private:
  struct Entry {
    Engine* engine;
    std::optional<ActionList> actions;  // for `at`
    Time at = 0;
    Time wake = kNever;
  };

  sim::VirtualClock& clock_;
  std::map<uint32_t, Entry> engines_;  // by id
  Time next_wake_ = kNever;
  WakeWord own_word_;
  WakeWord* word_ = &own_word_;
};

// One at a time; while it lives it is world().
class StackWorld final : public World {
 public:
  static std::unique_ptr<StackWorld> create();
  ~StackWorld() override;

  EngineId next_engine_id() override { return EngineId(++last_engine_id_); }
  StackExecutor& stack_executor();
  StackChoices& stack_choices();

 private:
  struct Parts;
  explicit StackWorld(std::unique_ptr<Parts> parts);

  std::unique_ptr<Parts> parts_;
  uint32_t last_engine_id_ = 0;
};

}  // namespace anygin::litmus
