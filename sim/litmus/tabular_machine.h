// SPDX-License-Identifier: Apache-2.0
// The tabular form: threads, cells and the flow table, and nothing else. It shares with the software HCA the functions
// of emulated/profile.h, so there is one rule of what may pass what; docs/litmus.md says what each step means.
#pragma once

#include <array>

#include "anygin/sim/litmus/litmus_program.h"

namespace anygin::litmus {

// Everything that can differ between two moments of a run. Compared and hashed as bytes: no padding, unused places 0.
struct TabularState {
  uint64_t cells[kCellsMax];
  uint64_t registers[kRegistersMax];
  uint64_t captured[kCapturesMax];                                // read from a source that may change, not yet visible
  uint32_t before[kWorksMax];                                     // works of the same flow that were posted earlier
  uint32_t posted, effective, acknowledged, accepted, completed;  // a bit a work
  uint32_t done[kThreadsMax];                                     // a bit a micro
  uint8_t taken[kWorksMax];                                       // granules whose source was read, from the first
  uint8_t shown[kWorksMax];  // a bit a granule that is visible; of a get, that has landed
  uint32_t unused;
};
static_assert(sizeof(TabularState) == 8 * (kCellsMax + kRegistersMax + kCapturesMax) +
                                          4 * (kWorksMax + 5 + kThreadsMax + 1) + 2 * kWorksMax,
              "no padding");

enum class StepKind : uint8_t { kMicro, kTake, kShow, kAdd, kLand, kAcknowledge, kAccept, kComplete };
// kMicro: thread `who`, its micro `which`. Others: work `who`; kTake, kShow, kLand: granule `which`.
struct TabularStep {
  StepKind kind;
  uint8_t who, which;
  uint64_t name() const { return static_cast<uint64_t>(kind) << 16 | static_cast<uint64_t>(who) << 8 | which; }
};

// Freedoms that a run made use of.
struct Witness {
  uint32_t passed[emulated::kOrderClasses] = {};  // [earlier class]: a bit a later class that took effect before it
  bool granules_out_of_order = false;
  bool completed_before_visible = false;
};

class TabularMachine {
 public:
  // `program` outlives this.
  TabularMachine(const Program& program, Profile profile);

  struct Steps {
    std::array<TabularStep, kWorksMax*(kGranulesMax + 3) + kThreadsMax * kMicrosMax> at;
    size_t count = 0;
    void add(StepKind kind, size_t who, size_t which) {
      at[count++] = {kind, static_cast<uint8_t>(who), static_cast<uint8_t>(which)};
    }
  };

  const TabularState& initial() const { return initial_; }
  // Everything that may happen next.
  void collect(const TabularState& state, Steps& out) const;
  void apply(TabularState& state, TabularStep step, Witness* witness = nullptr) const;
  // All threads are through and nothing that a `final` line could see is still to come.
  bool finished(const TabularState& state) const;
  Outcome outcome(const TabularState& state) const;

  std::string describe(TabularStep step) const;
  // The threads that cannot go on, and what they wait for.
  std::string describe_hang(const TabularState& state) const;

 private:
  struct Rule {                 // of a work
    uint32_t waits_effective;   // works of a class that it may not pass, of whichever flow
    bool waits_acknowledged;    // it leaves only once all earlier ones are acknowledged
    bool any_order;             // its granules
    bool early;                 // it may be locally complete before it is visible
    bool acknowledged_matters;  // somebody can tell
  };

  bool enabled(const TabularState& state, size_t thread, const Micro& micro) const;
  void collect_thread(const TabularState& state, size_t thread, Steps& out) const;
  void collect_work(const TabularState& state, size_t work, Steps& out) const;
  bool blocked(const TabularState& state, size_t work) const;
  void run_micro(TabularState& state, size_t thread, size_t at) const;
  void post(TabularState& state, const Post& post) const;
  void take(TabularState& state, size_t work, size_t granule) const;
  void show(TabularState& state, size_t work, size_t granule) const;
  void note(const TabularState& state, TabularStep step, Witness& witness) const;
  bool met(const TabularState& state, size_t thread, const Micro& micro) const;
  uint64_t read(const TabularState& state, const Micro& micro) const;

  const Program& program_;
  std::vector<Rule> rules_;
  std::vector<uint32_t> flow_works_;  // by flow
  TabularState initial_;
};

}  // namespace anygin::litmus
