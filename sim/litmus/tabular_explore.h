// SPDX-License-Identifier: Apache-2.0
// Running the tabular form: every way, or ways that a ChoiceSource picks.
#pragma once

#include <optional>

#include "anygin/base/choices.h"
#include "anygin/sim/litmus/tabular_machine.h"

namespace anygin::litmus {

struct Exploration {
  std::set<Outcome> outcomes;
  size_t states = 0;
  bool complete = true;           // false: there are more states than the limit
  std::string hang;               // not empty: the first hang that was found, and how it comes about
  std::vector<std::string> path;  // the shortest way to the outcome asked for
  Witness witness;
};

struct ExploreOptions {
  size_t states_max = 1'000'000;
  std::optional<Pattern> find;  // an outcome whose path is wanted
};

// Visits every state that can be reached, breadth first, each once: what can happen next is a function of the state, so
// nothing is lost by not visiting it again.
Exploration explore(const Program& program, Profile profile, const ExploreOptions& options = {});

// Runs the machine once, each step chosen by a ChoiceSource.
class TabularRunner {
 public:
  explicit TabularRunner(const TabularMachine& machine) : machine_(machine) {}

  // False: it hangs. `witness` may be null.
  bool run(ChoiceSource& choices, Witness* witness = nullptr);
  const TabularState& state() const { return state_; }
  Outcome outcome() const { return machine_.outcome(state_); }

 private:
  const TabularMachine& machine_;
  TabularState state_{};
  TabularMachine::Steps steps_;
  std::array<ChoiceOption, std::tuple_size_v<decltype(TabularMachine::Steps::at)>> options_;
};

// Goes through every sequence of choices, depth first, by running again and again: begin a run, and go on as long as
// next() says so. For programs of few steps.
class DepthFirstChoices final : public ChoiceSource {
 public:
  size_t pick(ChoiceKind kind, ArrayView<const ChoiceOption> options) override {
    return static_cast<size_t>(pick_below(kind, options.size()));
  }
  uint64_t pick_below(ChoiceKind kind, uint64_t count) override;
  // False: that was the last sequence.
  bool next();

 private:
  struct Choice {
    uint64_t taken, count;
  };
  std::vector<Choice> path_;
  size_t at_ = 0;
};

}  // namespace anygin::litmus
