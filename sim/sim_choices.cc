// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/sim_choices.h"

#include <fmt/format.h>

#include <algorithm>

namespace anygin::sim {
namespace {

constexpr size_t kLookAhead = 16;  // tolerant: so many records of the kind are tried before the canonical answer

size_t index_of(ChoiceKind kind) {
  return static_cast<size_t>(kind);
}

template <typename Options>
std::optional<size_t> find_name(const Options& options, uint64_t name) {
  for (size_t i = 0; i < options.size(); ++i) {
    if (options[i].name == name) return i;
  }
  return std::nullopt;
}

}  // namespace

SimChoices::SimChoices(ChoiceTrace trace, ReplayMode mode)
    : strategy_(std::make_unique<CanonicalStrategy>()), mode_(mode), sequence_(std::move(trace.choices)) {
  for (size_t i = 0; i < sequence_.size(); ++i) by_kind_[index_of(sequence_[i].kind)].push_back(i);
}

template <typename Fits>
const ChoiceRecord* SimChoices::next_record(Kind kind, bool numbered, const Fits& fits) {
  if (*mode_ == ReplayMode::kStrict) {
    if (divergence_ || place_ == sequence_.size()) return nullptr;
    const ChoiceRecord& record = sequence_[place_++];
    if (record.kind == kind && record.numbered == numbered && fits(record)) return &record;
    divergence_ = fmt::format("choice {}: the trace has '{}'; the run offers {} and not that", place_, describe(record),
                              name_of(kind));
    return nullptr;
  }
  const std::vector<size_t>& mine = by_kind_[index_of(kind)];
  size_t& place = place_of_kind_[index_of(kind)];
  const size_t end = std::min(mine.size(), place + kLookAhead);
  for (size_t at = place; at < end; ++at) {
    const ChoiceRecord& record = sequence_[mine[at]];
    if (record.numbered != numbered || (!record.canonical && !fits(record))) continue;
    place = at + 1;
    return record.canonical ? nullptr : &record;  // whatever is canonical now
  }
  return nullptr;
}

void SimChoices::note(const ChoiceRecord& record) {
  chosen_.push_back(record);
  digest_.add(uint64_t{static_cast<uint8_t>(record.kind)} << 1 | (record.numbered ? 1 : 0));
  digest_.add(record.name);
  deviations_ += record.canonical ? 0 : 1;
}

size_t SimChoices::pick(Kind kind, ArrayView<const ChoiceOption> options) {
  if (options.size() == 1) return 0;
  size_t chosen = 0;
  if (replaying()) {
    const auto offered = [&](const ChoiceRecord& record) { return find_name(options, record.name).has_value(); };
    if (const ChoiceRecord* record = next_record(kind, false, offered)) chosen = *find_name(options, record->name);
  } else {
    chosen = strategy_->pick(kind, options);
  }
  note({kind, false, chosen == 0, options[chosen].name});
  return chosen;
}

uint64_t SimChoices::pick_below(Kind kind, uint64_t count) {
  if (count == 1) return 0;
  uint64_t chosen = count - 1;
  if (replaying()) {
    const auto below = [&](const ChoiceRecord& record) { return record.name < count; };
    if (const ChoiceRecord* record = next_record(kind, true, below)) chosen = record->name;
  } else {
    chosen = strategy_->below(kind, count);
  }
  note({kind, true, chosen == count - 1, chosen});
  return chosen;
}

size_t SimChoices::pick_step(const std::vector<StepOption>& options) {
  if (options.size() == 1) return 0;
  size_t chosen = 0;
  if (replaying()) {
    const auto offered = [&](const ChoiceRecord& record) { return find_name(options, record.name).has_value(); };
    if (const ChoiceRecord* record = next_record(Kind::kEngineOrder, false, offered)) {
      chosen = *find_name(options, record->name);
    }
  } else {
    chosen = strategy_->step(options);
  }
  note({Kind::kEngineOrder, false, chosen == 0, options[chosen].name});
  return chosen;
}

}  // namespace anygin::sim
