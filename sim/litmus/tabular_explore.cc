// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/litmus/tabular_explore.h"

#include <algorithm>
#include <cstring>

#include "anygin/base/assert.h"

namespace anygin::litmus {
namespace {

// States in the order they were found, each once; an open-addressed table of their places.
class StateSet {
 public:
  struct Entry {
    TabularState state;
    size_t from;  // place of the state before
    TabularStep step;
  };

  StateSet() : table_(1024, kFree) {}

  // True if the state is new.
  bool insert(const TabularState& state, size_t from, TabularStep step) {
    if (2 * entries_.size() >= table_.size()) grow();
    const size_t place = find(state);
    if (table_[place] != kFree) return false;
    table_[place] = entries_.size();
    entries_.push_back({state, from, step});
    return true;
  }
  size_t size() const { return entries_.size(); }
  const Entry& operator[](size_t i) const { return entries_[i]; }

 private:
  static constexpr size_t kFree = ~size_t{0};

  static size_t hash(const TabularState& state) {
    uint64_t words[sizeof(TabularState) / 8];
    static_assert(sizeof(words) == sizeof(TabularState));
    std::memcpy(words, &state, sizeof(words));
    uint64_t h = 0x9e3779b97f4a7c15;
    for (const uint64_t word : words) {
      h = (h ^ word) * 0xff51afd7ed558ccd;
      h ^= h >> 32;
    }
    return static_cast<size_t>(h);
  }
  size_t find(const TabularState& state) const {
    size_t place = hash(state) & (table_.size() - 1);
    while (table_[place] != kFree && std::memcmp(&entries_[table_[place]].state, &state, sizeof(state)) != 0) {
      place = (place + 1) & (table_.size() - 1);
    }
    return place;
  }
  void grow() {
    table_.assign(4 * table_.size(), kFree);
    for (size_t i = 0; i < entries_.size(); ++i) table_[find(entries_[i].state)] = i;
  }

  std::vector<Entry> entries_;
  std::vector<size_t> table_;  // a power of two
};

std::vector<std::string> path_to(const TabularMachine& machine, const StateSet& states, size_t at) {
  std::vector<std::string> path;
  for (; at != 0; at = states[at].from) path.push_back(machine.describe(states[at].step));
  std::reverse(path.begin(), path.end());
  return path;
}

std::string join(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "\n  " + line;
  return text;
}

}  // namespace

Exploration explore(const Program& program, Profile profile, const ExploreOptions& options) {
  const TabularMachine machine(program, profile);
  Exploration result;
  StateSet states;
  states.insert(machine.initial(), 0, {});
  TabularMachine::Steps steps;
  for (size_t at = 0; at < states.size(); ++at) {
    if (states.size() > options.states_max) {
      result.complete = false;
      break;
    }
    if (machine.finished(states[at].state)) {
      Outcome outcome = machine.outcome(states[at].state);
      if (options.find && result.path.empty() && matches(*options.find, outcome)) {
        result.path = path_to(machine, states, at);
      }
      result.outcomes.insert(std::move(outcome));
      continue;
    }
    machine.collect(states[at].state, steps);
    if (steps.count == 0 && result.hang.empty()) {
      result.hang = machine.describe_hang(states[at].state) + join(path_to(machine, states, at));
    }
    for (size_t i = 0; i < steps.count; ++i) {
      TabularState next = states[at].state;
      machine.apply(next, steps.at[i], &result.witness);
      states.insert(next, at, steps.at[i]);
    }
  }
  result.states = states.size();
  return result;
}

bool TabularRunner::run(ChoiceSource& choices, Witness* witness) {
  state_ = machine_.initial();
  while (!machine_.finished(state_)) {
    machine_.collect(state_, steps_);
    if (steps_.count == 0) return false;
    size_t chosen = 0;
    if (steps_.count > 1) {
      for (size_t i = 0; i < steps_.count; ++i) options_[i].name = steps_.at[i].name();
      chosen = choices.pick(ChoiceKind::kEngineOrder, {options_.data(), steps_.count});
    }
    machine_.apply(state_, steps_.at[chosen], witness);
  }
  return true;
}

uint64_t DepthFirstChoices::pick_below(ChoiceKind, uint64_t count) {
  if (at_ == path_.size()) path_.push_back({0, count});
  ANYGIN_ASSERT(path_[at_].count == count);
  return path_[at_++].taken;
}

bool DepthFirstChoices::next() {
  ANYGIN_ASSERT(at_ == path_.size());
  while (!path_.empty() && path_.back().taken + 1 == path_.back().count) path_.pop_back();
  at_ = 0;
  if (path_.empty()) return false;
  ++path_.back().taken;
  return true;
}

}  // namespace anygin::litmus
