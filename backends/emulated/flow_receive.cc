// SPDX-License-Identifier: Apache-2.0
// What may happen next is decided by one scan from the oldest operation on: it keeps the set of classes that are not
// done yet, and an operation may go on when it may pass all of them.
#include "anygin/emulated/flow_receive.h"

#include <fmt/format.h>

#include <algorithm>

#include "anygin/base/assert.h"
#include "anygin/base/mutant.h"

namespace anygin::emulated {
namespace {

constexpr uint64_t kWord = sizeof(uint64_t);
constexpr uint64_t kHoldChance = 3;         // one operation in three is held back,
constexpr uint64_t kHoldMicroseconds = 32;  // for less than this
constexpr uint64_t kFewGranules = 8;

// The granules (aligned 8-byte words) that [begin, end) of an operation at `address` touches.
struct Granules {
  uint64_t first, count;
};
Granules granules_of(uint64_t address, uint32_t begin, uint32_t end) {
  const uint64_t first = (address + begin) / kWord;
  return {first, (address + end - 1) / kWord - first + 1};
}

WorkKind kind_of(MessageKind kind) {
  switch (kind) {
    case MessageKind::kWrite:
      return WorkKind::kWrite;
    case MessageKind::kFetchAdd:
      return WorkKind::kFetchAdd;
    default:
      return WorkKind::kRead;
  }
}

// A run of granules of [begin, end): mostly all of it, so that a megabyte does not cost a draw per word; yet any
// single granule can come first, so that every order can be reached.
void choose_run(ChoiceSource& choices, uint64_t address, uint32_t* begin, uint32_t* end) {
  const Granules granules = granules_of(address, *begin, *end);
  if (granules.count == 1) return;
  const bool few = granules.count <= kFewGranules;
  if (choices.pick_below(ChoiceKind::kGranules, few ? 2 : 4) != 0) return;
  const uint64_t start = choices.pick_below(ChoiceKind::kGranules, granules.count);
  const uint64_t length = few ? 1 : 1 + choices.pick_below(ChoiceKind::kGranules, granules.count - start);
  const uint64_t from = (granules.first + start) * kWord;
  const uint64_t to = from + length * kWord;
  if (from > address + *begin) *begin = static_cast<uint32_t>(from - address);
  if (to < address + *end) *end = static_cast<uint32_t>(to - address);
}

}  // namespace

bool FlowReceive::on_message(const Message& m, const char* payload, ChoiceSource& choices, Time now) {
  const FlowSeq sequence(m.sequence);
  if (failed_ && !before(sequence, failed_at_)) return true;
  if (before(sequence, base_)) return true;  // a duplicate: done, and done once
  if (!settle_before(FlowSeq(m.sequence - m.unsettled))) return false;
  const size_t index = sequence.distance_from(base_);
  if (index >= kFlowOpsMax) return false;
  while (held_.size() <= index) held_.emplace_back();
  Held& held = held_[index];
  if (held.stage == Stage::kMissing) {
    if (!begin(held, m, choices, now)) {
      fail(sequence, WireStatus::kRemoteInvalid);
      return true;
    }
  } else if (held.kind != kind_of(m.kind) || held.total != m.total || held.address != m.address) {
    return false;
  }
  if (held.kind == WorkKind::kWrite && held.stage == Stage::kPartial && !take_write(held, m, payload)) return false;
  Place place;
  const WireStatus status =
      m.total == 0 ? WireStatus::kOk
                   : target_.resolve(held.rkey, held.address, held.total, access_needed(held.kind), &place);
  if (status != WireStatus::kOk) {
    fail(sequence, status);
    return true;
  }
  if (held.stage == Stage::kArrived) accept_early(index, choices);
  return true;
}

// The initiator knows operations before `floor` to be visible: those that never came it did by itself.
bool FlowReceive::settle_before(FlowSeq floor) {
  if (!before(base_, floor)) return true;
  const size_t count = std::min<size_t>(held_.size(), floor.distance_from(base_));
  for (size_t i = 0; i < count; ++i) {
    if (held_[i].stage == Stage::kMissing) held_[i].stage = Stage::kDone;
  }
  retire();
  if (held_.empty() && before(base_, floor)) base_ = floor;
  return !before(base_, floor);
}

bool FlowReceive::idle() const {
  return std::all_of(held_.begin(), held_.end(),
                     [](const Held& held) { return held.stage == Stage::kMissing || held.stage == Stage::kDone; });
}

// First message of an operation. False: an operation that no NIC does.
bool FlowReceive::begin(Held& held, const Message& m, ChoiceSource& choices, Time now) {
  held.kind = kind_of(m.kind);
  held.order = order_class(held.kind, m.may_pass);
  held.grouped = m.grouped;
  held.rkey = m.rkey;
  held.total = m.total;
  held.address = m.address;
  held.add = m.value;
  held.stage = held.kind == WorkKind::kWrite ? Stage::kPartial : Stage::kArrived;
  const bool is_add = held.kind == WorkKind::kFetchAdd;
  if (is_add && (m.total != kWord || m.address % kWord != 0)) return false;
  const bool may_be_late = options_.profile != Profile::kInorder && (m.may_pass || held.kind == WorkKind::kRead);
  if (may_be_late && choices.pick_below(ChoiceKind::kDelay, kHoldChance) == 0) {
    held.not_before = now + choices.pick_below(ChoiceKind::kDelay, kHoldMicroseconds) * kMicrosecond;
  }
  return true;
}

bool FlowReceive::take_write(Held& held, const Message& m, const char* payload) {
  if (m.offset != held.arrived) return m.offset < held.arrived;  // a duplicate chunk, or a hole
  if (m.bytes > 0) {
    Chunk chunk{m.offset, std::vector<char>(payload, payload + m.bytes), {{m.offset, m.offset + m.bytes}}};
    if (MUTANT(dropped_granule) && held.arrived == 0 && m.bytes > kWord) {
      chunk.rest[0].begin = static_cast<uint32_t>((held.address / kWord + 1) * kWord - held.address);
    }
    held.chunks.push_back(std::move(chunk));
  }
  held.arrived += m.bytes;
  if (m.last) held.stage = Stage::kArrived;
  return true;
}

void FlowReceive::accept_early(size_t index, ChoiceSource& choices) {
  Held& held = held_[index];
  if (!completes_before_visible(options_.profile, held.order) || held.accepted_early) return;
  if (choices.pick_below(ChoiceKind::kDelay, 2) == 0) return;
  held.accepted_early = true;
  Message message;
  message.kind = MessageKind::kAccepted;
  message.sequence = sequence_of(index).raw();
  link_.send(message, nullptr);
}

void FlowReceive::fail(FlowSeq sequence, WireStatus status) {
  if (failed_ && !before(sequence, failed_at_)) return;
  failed_ = true;
  failed_at_ = sequence;
  drop_from(sequence.distance_from(base_));
  Message message;
  message.kind = MessageKind::kNack;
  message.status = status;
  message.sequence = sequence.raw();
  link_.send(message, nullptr);
}

void FlowReceive::stop() {
  failed_ = true;
  failed_at_ = base_;
  drop_from(0);
}

// Forgets operations from `index` on; one with a transfer under way stays until the agent has let go of it.
void FlowReceive::drop_from(size_t index) {
  for (size_t i = index; i < held_.size(); ++i) held_[i].stage = Stage::kDropped;
  while (held_.size() > index && held_.back().ticket == kDone) held_.pop_back();
}

bool FlowReceive::can_progress(const Held& held) const {
  if (held.stage == Stage::kDropped) return held.ticket != kDone;
  if (held.stage == Stage::kMissing || held.stage == Stage::kDone) return false;
  if (held.staged && !link_.has_room()) return false;
  return held.kind != WorkKind::kWrite || !held.chunks.empty() || held.stage == Stage::kArrived;
}

void FlowReceive::collect(Time now, std::vector<size_t>& out) const {
  bool undone[kOrderClasses] = {};
  bool missing = false, payload_undone = false;
  for (size_t i = 0; i < held_.size(); ++i) {
    const Held& held = held_[i];
    bool free_to_go = can_progress(held) && held.not_before <= now;
    if (missing && !may_pass_all(options_.profile, held.order)) free_to_go = false;
    for (int c = 0; c < kOrderClasses && free_to_go; ++c) {
      if (undone[c] && !may_pass(options_.profile, static_cast<OrderClass>(c), held.order)) free_to_go = false;
    }
    if (held.stage != Stage::kMissing && held.grouped && payload_undone) free_to_go = false;
    if (MUTANT(signal_before_payload) && held.is_arrived_add() && held.grouped) free_to_go = true;
    if (MUTANT(strong_does_not_wait) && held.is_arrived_add() && !held.grouped) free_to_go = true;
    if (free_to_go) out.push_back(i);
    payload_undone = held.stage != Stage::kDone;
    if (held.stage == Stage::kMissing) missing = true;
    if (held.stage != Stage::kDone && held.stage != Stage::kMissing) undone[static_cast<int>(held.order)] = true;
  }
}

bool FlowReceive::runnable(Time now) const {
  if (held_.empty()) return false;
  std::vector<size_t> able;
  collect(now, able);
  return !able.empty();
}

Time FlowReceive::next_wake(Time now) const {
  Time earliest = kNever;
  for (const Held& held : held_) {
    if (can_progress(held) && held.not_before > now) earliest = std::min(earliest, held.not_before);
  }
  return earliest;
}

bool FlowReceive::waits_for_room() const {
  return std::any_of(held_.begin(), held_.end(), [](const Held& held) { return held.staged; });
}

void FlowReceive::run_one(ChoiceSource& choices, Time now) {
  std::vector<size_t> able;
  collect(now, able);
  ANYGIN_ASSERT(!able.empty());
  size_t chosen = 0;
  if (able.size() > 1) {
    std::vector<ChoiceOption> options;
    options.reserve(able.size());
    for (size_t index : able) options.push_back({sequence_of(index).raw(), {}, held_[index].total});
    chosen = choices.pick(ChoiceKind::kGranules, options);
  }
  const size_t index = able[chosen];
  if (held_[index].stage == Stage::kDropped) {
    if (held_[index].poll_at->poll(held_[index].ticket)) held_[index].ticket = kDone;
    retire();
    return;
  }
  switch (held_[index].kind) {
    case WorkKind::kWrite:
      run_write(index, choices);
      break;
    case WorkKind::kFetchAdd:
      run_add(index);
      break;
    case WorkKind::kRead:
      run_read(index);
      break;
  }
  retire();
}

// The region may have gone since the operation was accepted: never a wild write.
bool FlowReceive::resolve_again(size_t index, uint32_t offset, uint64_t bytes, Place* place) {
  const Held& held = held_[index];
  const WireStatus status = target_.resolve(held.rkey, held.address + offset, bytes, access_needed(held.kind), place);
  if (status != WireStatus::kOk) fail(sequence_of(index), status);
  return status == WireStatus::kOk;
}

void FlowReceive::run_write(size_t index, ChoiceSource& choices) {
  Held& held = held_[index];
  if (held.ticket != kDone) {
    if (!held.poll_at->poll(held.ticket)) return;
    held.ticket = kDone;
    finish_range(index);
    return;
  }
  if (held.chunks.empty()) {  // 0 bytes
    acknowledge(index);
    return;
  }
  const bool any_order = granules_in_any_order(options_.profile, held.order);
  size_t at = 0;
  if (any_order && held.chunks.size() > 1) at = choices.pick_below(ChoiceKind::kGranules, held.chunks.size());
  std::swap(held.chunks[0], held.chunks[at]);
  Chunk& chunk = held.chunks[0];
  if (any_order && chunk.rest.size() > 1) {
    std::swap(chunk.rest.back(), chunk.rest[choices.pick_below(ChoiceKind::kGranules, chunk.rest.size())]);
  }
  const Range range = chunk.rest.back();
  Range run = range;
  if (any_order) choose_run(choices, held.address, &run.begin, &run.end);
  Place place;
  if (!resolve_again(index, run.begin, run.end - run.begin, &place)) return;
  chunk.rest.pop_back();
  if (run.end < range.end) chunk.rest.push_back({run.end, range.end});
  if (range.begin < run.begin) chunk.rest.push_back({range.begin, run.begin});
  held.moving = place;
  held.moving_bytes = run.end - run.begin;
  held.ticket = place.agent->write(place.name, chunk.data.data() + (run.begin - chunk.offset), run.end - run.begin);
  held.poll_at = place.agent;
  if (held.ticket == kDone) finish_range(index);
}

// A run of the front chunk is visible.
void FlowReceive::finish_range(size_t index) {
  Held& held = held_[index];
  witness_.on_visible(sequence_of(index), held.moving, held.moving_bytes);
  if (!held.chunks.front().rest.empty()) return;
  // In program order chunks go in the order they came: erase, do not swap.
  held.chunks.erase(held.chunks.begin());
  if (held.chunks.empty() && held.stage == Stage::kArrived) {
    acknowledge(index);
    return;
  }
  Message message;
  message.kind = MessageKind::kCredit;
  message.sequence = sequence_of(index).raw();
  link_.send(message, nullptr);
}

void FlowReceive::run_add(size_t index) {
  Held& held = held_[index];
  if (!held.added) {
    Place cell;
    if (!resolve_again(index, 0, kWord, &cell)) return;
    held.added = true;
    held.moving = cell;
    held.poll_at = cell.agent;
    if (MUTANT(double_add)) cell.agent->fetch_add(cell.name, held.add, nullptr);
    held.ticket = cell.agent->fetch_add(cell.name, held.add, &held.old_value);
  }
  if (held.ticket != kDone && !held.poll_at->poll(held.ticket)) return;
  held.ticket = kDone;
  witness_.on_signal(sequence_of(index), held.moving, held.old_value + held.add);
  acknowledge(index);
}

void FlowReceive::run_read(size_t index) {
  Held& held = held_[index];
  if (held.ticket != kDone) {
    if (!held.poll_at->poll(held.ticket)) return;
    held.ticket = kDone;
    held.staged = true;
  }
  if (!held.staged) {
    const uint32_t bytes = chunk_length(held.address, held.arrived, held.total);
    held.staging.resize(bytes);
    Place place{};
    if (bytes > 0) {
      if (!resolve_again(index, held.arrived, bytes, &place)) return;
      held.poll_at = place.agent;
      held.ticket = place.agent->read(held.staging.data(), place.name, bytes);
      witness_.on_source_read(sequence_of(index), place, bytes);
      if (held.ticket != kDone) return;
    }
    held.staged = true;
  }
  finish_read_chunk(index);
}

void FlowReceive::finish_read_chunk(size_t index) {
  Held& held = held_[index];
  Message message;
  message.kind = MessageKind::kReadResponse;
  message.sequence = sequence_of(index).raw();
  message.offset = held.arrived;
  message.bytes = static_cast<uint32_t>(held.staging.size());
  message.total = held.total;
  message.last = message.offset + message.bytes == held.total;
  if (!link_.send(message, held.staging.data())) return;  // no room: it stays staged
  held.staged = false;
  held.arrived += message.bytes;
  if (message.last) held.stage = Stage::kDone;
}

void FlowReceive::acknowledge(size_t index) {
  Held& held = held_[index];
  held.stage = Stage::kDone;
  if (MUTANT(ack_lost)) return;
  Message message;
  message.kind = MessageKind::kVisible;
  message.sequence = sequence_of(index).raw();
  message.value = held.old_value;
  link_.send(message, nullptr);
}

void FlowReceive::retire() {
  while (!held_.empty() && held_.front().stage == Stage::kDone) {
    held_.pop_front();
    base_ = base_ + 1;
  }
  while (!held_.empty() && held_.back().stage == Stage::kDropped && held_.back().ticket == kDone) held_.pop_back();
}

void FlowReceive::describe_pending(std::vector<std::string>& out) const {
  for (size_t i = 0; i < held_.size(); ++i) {
    const Held& held = held_[i];
    if (held.stage == Stage::kDone || held.stage == Stage::kDropped) continue;
    if (held.stage == Stage::kMissing) {
      out.push_back(fmt::format("operation {}: not arrived", sequence_of(i).raw()));
      continue;
    }
    out.push_back(fmt::format("operation {}: {} of {} bytes at {:#x}, {} arrived, not yet visible",
                              sequence_of(i).raw(), name_of(held.order), held.total, held.address, held.arrived));
  }
}

}  // namespace anygin::emulated
