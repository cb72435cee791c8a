// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/scheduler.h"

#include <fmt/format.h>

#include <algorithm>

#include "anygin/base/assert.h"
#include "anygin/sim/program_threads.h"

namespace anygin::sim {
namespace {

// Stable between runs: engine ids are given in the order of creation.
uint64_t name_of(const Action& action) {
  return mix_bits(mix_bits(action.engine.value) + action.kind) + action.name;
}
// Priorities are given to whoever acts: lanes of a block and pieces of a queue are one actor each. Kinds of action are
// not told apart.
uint64_t actor_of(const Action& action) {
  return mix_bits(mix_bits(action.engine.value) + (action.name >> 11));
}

}  // namespace

void Scheduler::add(Engine& engine) {
  auto slot = std::make_unique<Slot>();
  slot->engine = &engine;
  slot->wake = 0;  // look at it once
  const auto at = std::lower_bound(slots_.begin(), slots_.end(), engine.id(),
                                   [](const auto& one, EngineId id) { return one->engine->id() < id; });
  ANYGIN_ASSERT(at == slots_.end() || (*at)->engine->id() != engine.id());
  slots_.insert(at, std::move(slot));
}

void Scheduler::remove(Engine& engine) {
  const auto at = std::find_if(slots_.begin(), slots_.end(), [&](const auto& one) { return one->engine == &engine; });
  ANYGIN_ASSERT(at != slots_.end());
  slots_.erase(at);
}

void Scheduler::visit(const std::function<void(Engine&)>& visit) {
  for (const auto& slot : slots_) visit(*slot->engine);
}

void Scheduler::stall_one(ChoiceSource& choices) {
  std::vector<Slot*> some;
  for (const auto& slot : slots_) {
    const std::string_view name = slot->engine->name();
    if (name == "proxy" || name.substr(0, 8) == "software") some.push_back(slot.get());
  }
  if (some.empty()) return;
  some[choices.pick_below(ChoiceKind::kFault, some.size())]->stalled_until = clock_.now() + kStallFor;
}

// Candidates in canonical order: engines go round by id, each engine's actions from where it stopped.
void Scheduler::look() {
  candidates_.clear();
  any_progress_ = false;
  next_wake_ = kNever;
  const Time now = clock_.now();
  const size_t count = slots_.size();
  size_t first = 0;
  while (first < count && slots_[first]->engine->id().value <= last_engine_) ++first;
  for (size_t i = 0; i < count; ++i) {
    Slot& slot = *slots_[(first + i) % count];
    if (slot.stalled_until > now) {
      next_wake_ = std::min(next_wake_, slot.stalled_until);
      continue;
    }
    if (slot.engine->has_work() || slot.wake <= now) {
      slot.actions.begin(now);
      slot.engine->ready(slot.actions);
      slot.wake = slot.actions.next_wake();
      const size_t actions = slot.actions.size();
      for (size_t at = 0; at < actions; ++at) offer({&slot, (slot.place + at) % actions});
    }
    next_wake_ = std::min(next_wake_, slot.wake);
  }
}

void Scheduler::offer(const Candidate& candidate) {
  candidates_.push_back(candidate);
  any_progress_ |= !candidate.slot->actions[candidate.index].only_polls;
}

// Nothing moves now, or what can run has only looked around: on to the next wake-up.
bool Scheduler::jump() {
  if (next_wake_ == kNever) return false;
  const Time now = clock_.now(), in_vain = now - moved_at_;
  Time to = std::max(now + 1, next_wake_);
  if (++jumps_in_vain_ > kPatientJumps) {
    if (in_vain > kLastHope) return false;
    to = std::max(to, now + in_vain / 8);
  }
  clock_.advance_to(to);
  polls_in_vain_ = cost_in_vain_ = 0;
  return true;
}

Scheduler::Moved Scheduler::step() {
  while (!stopped_) {
    look();
    if (candidates_.empty()) {
      if (!jump()) return Moved::kStuck;
      continue;
    }
    if (any_progress_) {
      polls_in_vain_ = cost_in_vain_ = jumps_in_vain_ = 0;
      moved_at_ = clock_.now();
    } else {
      ++polls_in_vain_;
      if (next_wake_ != kNever && polls_in_vain_ > candidates_.size() && jump()) continue;
      if (cost_in_vain_ >= kPollsInVain) return Moved::kStuck;
    }
    options_.clear();
    for (const Candidate& candidate : candidates_) {
      const Action& action = candidate.slot->actions[candidate.index];
      options_.push_back({name_of(action), actor_of(action)});
    }
    const Candidate& chosen = candidates_[choices_.pick_step(options_)];
    cost_in_vain_ += chosen.slot->engine->id() == ProgramThreads::kId ? kHostPoll : 1;
    run(chosen);
    return Moved::kRan;
  }
  return Moved::kStopped;
}

// The slot may be gone afterwards: an action may remove engines.
void Scheduler::run(const Candidate& chosen) {
  Slot& slot = *chosen.slot;
  last_ = slot.actions[chosen.index];
  slot.place = chosen.index + 1;
  slot.wake = 0;  // look at it again, whatever it says of its work
  last_engine_ = last_.engine.value;
  const Time now = clock_.now();
  digest_.add(now);
  digest_.add(uint64_t{last_.engine.value} << 16 | last_.kind);
  digest_.add(last_.name);
  ++steps_;
  actors_.insert(actor_of(last_));
  slot.engine->run(last_, now);
  clock_.advance_by(kStepTime);
  if (observer_) observer_();
}

std::string Scheduler::last_action() const {
  std::string_view who = "an engine that is gone";
  for (const auto& slot : slots_) {
    if (slot->engine->id() == last_.engine) who = slot->engine->name();
  }
  return fmt::format("step {}: {}, action {} of {:#x}", steps_, who, last_.kind, last_.name);
}

}  // namespace anygin::sim
