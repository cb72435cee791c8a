// SPDX-License-Identifier: Apache-2.0
// Runs engines one action at a time: looks at all of them, asks which action is next, runs it, and lets time pass. If
// nothing can run, time jumps to the next wake-up. One thread.
#pragma once

#include <functional>
#include <memory>
#include <set>
#include <vector>

#include "anygin/base/engine.h"
#include "anygin/sim/digest.h"
#include "anygin/sim/sim_choices.h"
#include "anygin/sim/virtual_clock.h"

namespace anygin::sim {

class Scheduler {
 public:
  static constexpr Time kStepTime = 100 * kNanosecond;  // what an action takes
  static constexpr Time kStallFor = 200 * kMicrosecond;
  // Loops of the program that only look at memory are let run so often while nothing else can; then nobody will end
  // their wait. A wait through the library is judged at once.
  static constexpr uint64_t kPollsInVain = 200'000;
  static constexpr uint64_t kHostPoll = 16;  // those of a host thread cost more: one counts for so many
  // Loops that pause between two looks: time goes on from pause to pause so often, then in steps of an eighth of what
  // has passed in vain, so that whatever else is to come comes. Behind the last hope nothing is.
  static constexpr uint64_t kPatientJumps = 1'000;
  static constexpr Time kLastHope = 1000 * kSecond;

  Scheduler(VirtualClock& clock, SimChoices& choices) : clock_(clock), choices_(choices) {}

  // Not owned. Also while an action runs.
  void add(Engine& engine);
  void remove(Engine& engine);

  enum class Moved : uint8_t {
    kRan,    // one action ran
    kStuck,  // nothing can run and no time will help
    kStopped,
  };
  Moved step();
  // step() does nothing any more: the run is judged.
  void stop() { stopped_ = true; }

  // Called after every action.
  void set_observer(std::function<void()> observer) { observer_ = std::move(observer); }
  // A NIC or proxy, chosen, does nothing for a while.
  void stall_one(ChoiceSource& choices);
  void visit(const std::function<void(Engine&)>& visit);

  uint64_t steps() const { return steps_; }
  size_t actors() const { return actors_.size(); }  // that ever could act
  Digest& digest() { return digest_; }
  // The action that runs or ran last, in words.
  std::string last_action() const;

 private:
  struct Slot {
    Engine* engine;
    ActionList actions{0};
    Time wake = kNever;
    Time stalled_until = 0;
    size_t place = 0;  // where the canonical order goes on
  };
  struct Candidate {
    Slot* slot;
    size_t index;
  };

  void look();
  bool jump();
  void offer(const Candidate& candidate);
  void run(const Candidate& chosen);

  VirtualClock& clock_;
  SimChoices& choices_;
  Digest digest_;
  std::vector<std::unique_ptr<Slot>> slots_;  // in id order
  uint32_t last_engine_ = 0;                  // the canonical order goes round
  // Scratch of one step.
  std::vector<Candidate> candidates_;
  std::vector<StepOption> options_;
  bool any_progress_ = false;  // among the candidates
  Time next_wake_ = kNever;

  uint64_t steps_ = 0;
  std::set<uint64_t> actors_;
  uint64_t polls_in_vain_ = 0;  // since time went on, or anything moved
  uint64_t cost_in_vain_ = 0;   // of them: polls of host threads count kHostPoll times
  uint64_t jumps_in_vain_ = 0;  // of time, since anything moved
  Time moved_at_ = 0;           // when anything did
  bool stopped_ = false;
  std::function<void()> observer_;
  Action last_;
};

}  // namespace anygin::sim
