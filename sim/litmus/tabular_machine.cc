// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/litmus/tabular_machine.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "anygin/base/assert.h"
#include "anygin/base/mutant.h"
#include "anygin/base/seq.h"

namespace anygin::litmus {
namespace {

using emulated::OrderClass;

constexpr uint64_t kCounterMask = (uint64_t{1} << kCounterBits) - 1;

constexpr uint32_t bit(size_t i) {
  return uint32_t{1} << i;
}

// What the table is asked, as a mutant has it.
bool passes(Profile profile, OrderClass earlier, OrderClass later) {
  if (MUTANT(litmus_weak_as_strong) && later == OrderClass::kWeak) later = OrderClass::kStrong;
  if (MUTANT(litmus_strong_as_weak) && later == OrderClass::kStrong) later = OrderClass::kWeak;
  if (MUTANT(litmus_put_overtakes_get) && earlier == OrderClass::kGet && later == OrderClass::kPut) return true;
  return emulated::may_pass(profile, earlier, later);
}

}  // namespace

TabularMachine::TabularMachine(const Program& program, Profile profile)
    : program_(program), flow_works_(program.flows.size()) {
  std::memset(&initial_, 0, sizeof(initial_));
  for (size_t i = 0; i < program.cells.size(); ++i) initial_.cells[i] = program.cells[i].initial;
  std::vector<bool> awaited(program.flows.size());  // some operation of the flow waits for acknowledgements
  for (size_t w = 0; w < program.works.size(); ++w) {
    const Work& work = program.works[w];
    flow_works_[work.flow] |= bit(w);
    if (emulated::waits_for_acknowledgements(profile, work.order)) awaited[work.flow] = true;
  }
  for (const Work& work : program.works) {
    Rule rule{};
    for (size_t e = 0; e < program.works.size(); ++e) {
      if (!passes(profile, program.works[e].order, work.order)) rule.waits_effective |= bit(e);
    }
    rule.waits_acknowledged = emulated::waits_for_acknowledgements(profile, work.order);
    rule.any_order = emulated::granules_in_any_order(profile, work.order);
    rule.early = emulated::completes_before_visible(profile, work.order);
    rule.acknowledged_matters = work.observed || awaited[work.flow];
    rules_.push_back(rule);
  }
}

// --- What may happen next --------------------------------------------------------------------------------------------

void TabularMachine::collect(const TabularState& state, Steps& out) const {
  out.count = 0;
  for (size_t thread = 0; thread < program_.threads.size(); ++thread) collect_thread(state, thread, out);
  for (uint32_t left = state.posted & ~(state.effective & state.acknowledged & state.completed); left != 0;
       left &= left - 1) {
    collect_work(state, static_cast<size_t>(std::countr_zero(left)), out);
  }
}

// A thread goes on with its next micro; a relaxed read lets the loads behind it go first.
void TabularMachine::collect_thread(const TabularState& state, size_t thread, Steps& out) const {
  const std::vector<Micro>& micros = program_.threads[thread].micros;
  bool overtakes = false;
  for (size_t i = static_cast<size_t>(std::countr_one(state.done[thread])); i < micros.size(); ++i) {
    const Micro& micro = micros[i];
    if ((state.done[thread] & bit(i)) != 0) continue;
    if (overtakes && micro.kind != MicroKind::kLoad && micro.kind != MicroKind::kReadRelaxed) return;
    if (enabled(state, thread, micro)) out.add(StepKind::kMicro, thread, i);
    if (micro.kind != MicroKind::kReadRelaxed) return;
    overtakes = true;
  }
}

// Has every thread of the rank come to this meeting?
bool TabularMachine::met(const TabularState& state, size_t thread, const Micro& micro) const {
  for (size_t other = 0; other < program_.threads.size(); ++other) {
    const Thread& theirs = program_.threads[other];
    if (other == thread || theirs.rank != program_.threads[thread].rank) continue;
    const auto next = static_cast<size_t>(std::countr_one(state.done[other]));
    for (size_t i = 0; i < theirs.micros.size(); ++i) {
      const bool this_one = theirs.micros[i].kind == MicroKind::kSync && theirs.micros[i].value == micro.value;
      if (this_one && next < i) return false;
    }
  }
  return true;
}

bool TabularMachine::enabled(const TabularState& state, size_t thread, const Micro& micro) const {
  switch (micro.kind) {
    case MicroKind::kWait:
      return rolling_reached(micro.value, state.cells[micro.cell], micro.bits);
    case MicroKind::kFlush:
      return MUTANT(litmus_flush_is_nothing) || (micro.works & ~state.completed) == 0;
    case MicroKind::kSync:
      return met(state, thread, micro);
    default:
      return true;
  }
}

bool TabularMachine::blocked(const TabularState& state, size_t w) const {
  const Rule& rule = rules_[w];
  const uint32_t earlier = state.before[w];
  const int payload = MUTANT(litmus_signal_before_data) ? -1 : program_.works[w].payload;
  if (payload >= 0 && (state.effective & bit(static_cast<size_t>(payload))) == 0) return true;
  if (rule.waits_acknowledged && (earlier & ~state.acknowledged) != 0) return true;
  uint32_t waits = rule.waits_effective;
  if (MUTANT(litmus_signal_before_data) && program_.works[w].payload >= 0) {
    waits &= ~bit(static_cast<size_t>(program_.works[w].payload));
  }
  return (earlier & waits & ~state.effective) != 0;
}

void TabularMachine::collect_work(const TabularState& state, size_t w, Steps& out) const {
  const Work& work = program_.works[w];
  const Rule& rule = rules_[w];
  const bool effective = (state.effective & bit(w)) != 0;
  const bool free_to_go = !effective && !blocked(state, w);
  const uint8_t taken = work.stable ? work.granules : state.taken[w];
  switch (work.order) {
    case OrderClass::kPut:
      if (taken < work.granules) out.add(StepKind::kTake, w, taken);
      if (!free_to_go) break;
      if (work.granules == 0) out.add(StepKind::kShow, w, 0);
      for (size_t g = 0; g < taken; ++g) {
        if ((state.shown[w] & bit(g)) != 0) continue;
        out.add(StepKind::kShow, w, g);
        if (!rule.any_order) break;
      }
      break;
    case OrderClass::kGet:
      if (free_to_go) out.add(StepKind::kTake, w, state.taken[w]);
      if (const auto landed = static_cast<size_t>(std::popcount(state.shown[w])); landed < state.taken[w]) {
        out.add(StepKind::kLand, w, landed);
      }
      break;
    default:
      if (free_to_go) out.add(StepKind::kAdd, w, 0);
  }
  if (!rule.acknowledged_matters) return;
  const bool acknowledged = (state.acknowledged & bit(w)) != 0;
  const bool accepted = (state.accepted & bit(w)) != 0;
  if (effective && !acknowledged && work.order != OrderClass::kGet) out.add(StepKind::kAcknowledge, w, 0);
  if (!work.observed) return;
  const bool source_read = taken == work.granules || MUTANT(litmus_complete_before_read);
  if (rule.early && !accepted && !acknowledged && source_read) out.add(StepKind::kAccept, w, 0);
  const bool complete = (state.completed & bit(w)) != 0;
  if (!complete && (acknowledged || accepted) && (state.before[w] & ~state.completed) == 0) {
    out.add(StepKind::kComplete, w, 0);
  }
}

// --- What happens ----------------------------------------------------------------------------------------------------

void TabularMachine::apply(TabularState& state, TabularStep step, Witness* witness) const {
  if (witness != nullptr) note(state, step, *witness);
  const size_t w = step.who;
  switch (step.kind) {
    case StepKind::kMicro:
      run_micro(state, step.who, step.which);
      break;
    case StepKind::kTake:
      take(state, w, step.which);
      break;
    case StepKind::kShow:
      show(state, w, step.which);
      break;
    case StepKind::kAdd:
      state.cells[program_.works[w].remote] += program_.works[w].value * (MUTANT(litmus_double_add) ? 2 : 1);
      state.effective |= bit(w);
      break;
    case StepKind::kLand: {
      const Work& work = program_.works[w];
      state.cells[work.local + step.which] = state.captured[work.capture + step.which];
      state.captured[work.capture + step.which] = 0;
      state.shown[w] = static_cast<uint8_t>(state.shown[w] | bit(step.which));
      if (step.which + 1 == work.granules) state.acknowledged |= bit(w);
      break;
    }
    case StepKind::kAcknowledge:
      state.acknowledged |= bit(w);
      break;
    case StepKind::kAccept:
      state.accepted |= bit(w);
      break;
    case StepKind::kComplete:
      state.completed |= bit(w);
      if (const int counter = program_.works[w].counter; counter >= 0) {
        state.cells[counter] = (state.cells[counter] + 1) & kCounterMask;
      }
  }
}

// Reads the next granule of a source; of a get, at the target.
void TabularMachine::take(TabularState& state, size_t w, size_t granule) const {
  const Work& work = program_.works[w];
  const bool get = work.order == OrderClass::kGet;
  state.captured[work.capture + granule] = state.cells[(get ? work.remote : work.local) + granule];
  state.taken[w] = static_cast<uint8_t>(granule + 1);
  if (get && granule + 1u == work.granules) state.effective |= bit(w);
}

void TabularMachine::show(TabularState& state, size_t w, size_t granule) const {
  const Work& work = program_.works[w];
  if (work.granules > 0) {
    uint64_t& source = work.stable ? state.cells[work.local + granule] : state.captured[work.capture + granule];
    uint64_t& cell = state.cells[work.remote + granule];
    uint64_t value = work.by_value ? work.value : source;
    if (MUTANT(litmus_torn_granule)) value = (value & 0xffffffff) | (cell & ~uint64_t{0xffffffff});
    if (!work.stable) source = 0;
    cell = value;
  }
  state.shown[w] = static_cast<uint8_t>(state.shown[w] | bit(granule));
  if (std::popcount(state.shown[w]) >= work.granules) state.effective |= bit(w);
}

void TabularMachine::post(TabularState& state, const Post& call) const {
  for (uint32_t left = call.works; left != 0; left &= left - 1) {
    const auto w = static_cast<size_t>(std::countr_zero(left));
    state.before[w] = state.posted & flow_works_[program_.works[w].flow];
    state.posted |= bit(w);
  }
}

uint64_t TabularMachine::read(const TabularState& state, const Micro& micro) const {
  const uint64_t value = state.cells[micro.cell];
  return micro.bits == 64 ? value : value & ((uint64_t{1} << micro.bits) - 1);
}

void TabularMachine::run_micro(TabularState& state, size_t thread, size_t at) const {
  const Micro& micro = program_.threads[thread].micros[at];
  state.done[thread] |= bit(at);
  switch (micro.kind) {
    case MicroKind::kPost:
      post(state, program_.posts[micro.post]);
      break;
    case MicroKind::kRead:
    case MicroKind::kReadRelaxed:
    case MicroKind::kLoad:
      state.registers[micro.reg] = read(state, micro);
      break;
    case MicroKind::kStore:
      state.cells[micro.cell] = micro.value;
      break;
    case MicroKind::kWait:
    case MicroKind::kAsk:
    case MicroKind::kFlush:
    case MicroKind::kSync:
      break;
  }
}

void TabularMachine::note(const TabularState& state, TabularStep step, Witness& witness) const {
  const size_t w = step.who;
  const bool takes_effect = step.kind == StepKind::kShow || step.kind == StepKind::kAdd ||
                            (step.kind == StepKind::kTake && program_.works[w].order == OrderClass::kGet);
  if (takes_effect) {
    for (uint32_t left = state.before[w] & ~state.effective; left != 0; left &= left - 1) {
      const Work& earlier = program_.works[static_cast<size_t>(std::countr_zero(left))];
      witness.passed[static_cast<size_t>(earlier.order)] |= bit(static_cast<size_t>(program_.works[w].order));
    }
  }
  if (step.kind == StepKind::kShow && (state.shown[w] & (bit(step.which) - 1)) != bit(step.which) - 1) {
    witness.granules_out_of_order = true;
  }
  if (step.kind == StepKind::kComplete && (state.effective & bit(w)) == 0) witness.completed_before_visible = true;
}

// --- Runs ------------------------------------------------------------------------------------------------------------

bool TabularMachine::finished(const TabularState& state) const {
  for (size_t thread = 0; thread < program_.threads.size(); ++thread) {
    if (static_cast<size_t>(std::popcount(state.done[thread])) < program_.threads[thread].micros.size()) return false;
  }
  if (program_.finals.empty()) return true;
  if (state.effective != state.posted) return false;
  for (size_t w = 0; w < program_.works.size(); ++w) {
    if (program_.works[w].order == OrderClass::kGet && std::popcount(state.shown[w]) < program_.works[w].granules) {
      return false;
    }
  }
  return true;
}

Outcome TabularMachine::outcome(const TabularState& state) const {
  Outcome outcome(state.registers, state.registers + program_.registers.size());
  const size_t first = outcome.size() - program_.finals.size();
  for (size_t i = 0; i < program_.finals.size(); ++i) outcome[first + i] = state.cells[program_.finals[i]];
  return outcome;
}

// --- Words -----------------------------------------------------------------------------------------------------------

std::string TabularMachine::describe(TabularStep step) const {
  if (step.kind == StepKind::kMicro) {
    const Thread& thread = program_.threads[step.who];
    return fmt::format("thread {} of rank {}: {}", step.who, thread.rank, thread.micros[step.which].text);
  }
  const Work& work = program_.works[step.who];
  const Flow& flow = program_.flows[work.flow];
  const std::string what =
      fmt::format("NIC {} to {} on c{}: {} {}", flow.from, flow.to, flow.context, name_of(work.order), step.who);
  const auto cell = [&](size_t first) { return program_.cells[first + step.which].name; };
  const bool get = work.order == OrderClass::kGet;
  switch (step.kind) {
    case StepKind::kTake:
      return fmt::format("{} reads {}", what, cell(get ? work.remote : work.local));
    case StepKind::kShow:
      return work.granules == 0 ? what + " is done" : fmt::format("{} shows {}", what, cell(work.remote));
    case StepKind::kAdd:
      return fmt::format("{} adds {} to {}", what, work.value, cell(work.remote));
    case StepKind::kLand:
      return fmt::format("{} lands in {}", what, cell(work.local));
    case StepKind::kAcknowledge:
      return what + " is acknowledged";
    case StepKind::kAccept:
      return what + " is accepted by the target";
    default:
      return what + " is locally complete";
  }
}

std::string TabularMachine::describe_hang(const TabularState& state) const {
  std::string text;
  for (size_t thread = 0; thread < program_.threads.size(); ++thread) {
    const Thread& one = program_.threads[thread];
    const auto next = static_cast<size_t>(std::countr_one(state.done[thread]));
    if (next >= one.micros.size()) continue;
    const Micro& micro = one.micros[next];
    text += fmt::format("{}thread {} of rank {} waits in '{}'", text.empty() ? "" : "; ", thread, one.rank, micro.text);
    if (micro.kind == MicroKind::kWait) {
      text += fmt::format(" for {} of {}, which is {}", micro.value, program_.cells[micro.cell].name,
                          state.cells[micro.cell]);
    }
  }
  return text;
}

}  // namespace anygin::litmus
