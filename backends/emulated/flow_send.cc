// SPDX-License-Identifier: Apache-2.0
// Sending by messages, and completing in post order. flow_shortcut.cc has the work that the initiator does by itself.
#include "anygin/emulated/flow_send.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "anygin/base/assert.h"

namespace anygin::emulated {
namespace {

constexpr uint64_t kHoldChance = 4;         // the source of one operation in four is read late,
constexpr uint64_t kHoldMicroseconds = 16;  // by less than this

MessageKind message_kind(WorkKind kind) {
  switch (kind) {
    case WorkKind::kWrite:
      return MessageKind::kWrite;
    case WorkKind::kFetchAdd:
      return MessageKind::kFetchAdd;
    case WorkKind::kRead:
      return MessageKind::kRead;
  }
  ANYGIN_ASSERT(false);
}

}  // namespace

void FlowSend::post(const Work& work, ChoiceSource& choices, Time now) {
  SendOp& op = ops_.emplace_back();
  op.work = work;
  op.order = order_class(work.kind, work.may_pass);
  const bool may_be_late = options_.profile != Profile::kInorder && work.may_pass && !work.is_inline;
  if (may_be_late && choices.pick_below(ChoiceKind::kDelay, kHoldChance) == 0) {
    op.not_before = now + choices.pick_below(ChoiceKind::kDelay, kHoldMicroseconds) * kMicrosecond;
  }
}

void FlowSend::post_failed(const Work& work, WorkStatus status) {
  SendOp& op = ops_.emplace_back();
  op.work = work;
  op.order = order_class(work.kind, work.may_pass);
  fail(ops_.size() - 1, status);
}

bool FlowSend::in_program_order(const Work& work) const {
  if (options_.profile == Profile::kInorder) return true;
  // A read carries no hint, but later puts may overtake it: it must be outstanding for a while.
  const bool may_be_passed =
      work.kind == WorkKind::kRead && may_pass(options_.profile, OrderClass::kGet, OrderClass::kPut);
  return !work.may_pass && !may_be_passed;
}

// Operations from here on are not sent: beyond the window, or after a failed one.
size_t FlowSend::live_end() const {
  if (stopped_) return 0;
  size_t end = std::min<size_t>(ops_.size(), kFlowOpsMax);
  if (failed_) end = std::min<size_t>(end, failed_at_.distance_from(base_));
  return end;
}

void FlowSend::collect_sendable(Time now, std::vector<size_t>& out) const {
  bool unsent[kOrderClasses] = {};
  bool all_visible = true, payload_sent = true;
  const size_t end = live_end();
  for (size_t i = 0; i < end; ++i) {
    const SendOp& op = ops_[i];
    if (op.direct && !op.visible) return;  // the shortcut is in program order: nothing passes it
    if (!op.all_sent) {
      bool free_to_go = op.not_before <= now;
      for (int c = 0; c < kOrderClasses && free_to_go; ++c) {
        if (unsent[c] && !may_pass(options_.profile, static_cast<OrderClass>(c), op.order)) free_to_go = false;
      }
      if (op.work.grouped && !payload_sent) free_to_go = false;
      if (waits_for_acknowledgements(options_.profile, op.order) && !all_visible) free_to_go = false;
      if (op.work.kind == WorkKind::kWrite && chunks_out_ >= kFlowChunksMax) free_to_go = false;
      if (free_to_go) out.push_back(i);
      unsent[static_cast<int>(op.order)] = true;
    }
    payload_sent = op.all_sent;
    all_visible = all_visible && op.visible;
  }
}

bool FlowSend::runnable(Time now) const {
  if (transfers_ > 0) return true;
  if (staged_.busy) return staged_.ticket != kDone || link_.has_room();
  if (direct_index()) return true;
  if (ops_.empty()) return false;
  std::vector<size_t> able;
  collect_sendable(now, able);
  return !able.empty();
}

Time FlowSend::next_wake(Time now) const {
  Time earliest = kNever;
  const size_t end = live_end();
  for (size_t i = 0; i < end; ++i) {
    if (!ops_[i].all_sent && ops_[i].not_before > now) earliest = std::min(earliest, ops_[i].not_before);
  }
  return earliest;
}

void FlowSend::run_one(ChoiceSource& choices, Time now) {
  if (transfers_ > 0 && poll_transfers()) return;
  if (staged_.busy) {
    push_staged();
    return;
  }
  if (const std::optional<size_t> index = direct_index()) {
    run_direct(*index);
    return;
  }
  std::vector<size_t> able;
  collect_sendable(now, able);
  if (able.empty()) return;  // only transfers were runnable
  size_t chosen = 0;
  if (able.size() > 1) {
    std::vector<ChoiceOption> options;
    options.reserve(able.size());
    for (size_t index : able) {
      options.push_back({sequence_of(index).raw(), ops_[index].work.local.name, ops_[index].work.bytes});
    }
    chosen = choices.pick(ChoiceKind::kSourceRead, options);
  }
  stage(able[chosen]);
  push_staged();
}

// Reads the source of the next chunk.
void FlowSend::stage(size_t index) {
  SendOp& op = ops_[index];
  const Work& work = op.work;
  staged_ = Staged{};
  staged_.busy = true;
  staged_.sequence = sequence_of(index);
  Message& m = staged_.message;
  m.kind = message_kind(work.kind);
  m.may_pass = work.may_pass;
  m.grouped = work.grouped;
  m.sequence = staged_.sequence.raw();
  m.total = work.bytes;
  m.rkey = work.rkey;
  m.address = work.remote_address;
  m.value = work.add;
  m.last = true;
  if (work.kind != WorkKind::kWrite) return;
  m.offset = op.moved;
  m.bytes = chunk_length(work.remote_address, op.moved, work.bytes);
  m.last = m.offset + m.bytes == work.bytes;
  op.moved += m.bytes;
  if (m.bytes == 0) return;
  staged_.payload.resize(m.bytes);
  if (work.is_inline) {
    std::memcpy(staged_.payload.data(), work.inline_data.data() + m.offset, m.bytes);
    return;
  }
  const Place source = work.local + m.offset;
  staged_.poll_at = source.agent;
  staged_.ticket = source.agent->read(staged_.payload.data(), source.name, m.bytes);
  witness_.on_source_read(staged_.sequence, source, m.bytes);
}

void FlowSend::push_staged() {
  if (staged_.ticket != kDone) {
    if (!staged_.poll_at->poll(staged_.ticket)) return;
    staged_.ticket = kDone;
  }
  const size_t index = staged_.sequence.distance_from(base_);
  if (before(staged_.sequence, base_) || index >= live_end()) {  // failed meanwhile
    staged_.busy = false;
    return;
  }
  size_t settled = 0;
  while (ops_[settled].visible) ++settled;
  staged_.message.unsettled = static_cast<uint8_t>(index - settled);
  if (!link_.send(staged_.message, staged_.payload.data())) return;
  staged_.busy = false;
  SendOp& op = ops_[index];
  if (op.work.kind == WorkKind::kWrite) {
    ++op.chunks_out;
    ++chunks_out_;
  }
  op.all_sent = staged_.message.last;
}

// Polls the agents of transfers under way. True if one has ended.
bool FlowSend::poll_transfers() {
  bool any = false;
  for (size_t i = 0; i < ops_.size(); ++i) {
    SendOp& op = ops_[i];
    if (op.ticket == kDone || !op.poll_at->poll(op.ticket)) continue;
    op.ticket = kDone;
    --transfers_;
    any = true;
    if (op.direct) {
      end_direct_piece(i);
    } else if (op.work.kind == WorkKind::kFetchAdd) {
      op.visible = true;
    } else {
      op.placed += static_cast<uint32_t>(op.landing.front().size());
      op.landing.pop_front();
      place_landed(op);
    }
  }
  if (any) retire();
  return any;
}

bool FlowSend::on_message(const Message& m, const char* payload) {
  const FlowSeq sequence(m.sequence);
  if (stopped_ || before(sequence, base_)) return true;  // about what nobody waits for any more
  const size_t index = sequence.distance_from(base_);
  if (index >= ops_.size()) return false;
  SendOp& op = ops_[index];
  const bool sent_something = op.all_sent || op.chunks_out > 0;
  if (op.direct || op.visible || !sent_something) return false;
  if (m.kind == MessageKind::kNack) {
    fail(index, to_work_status(m.status));
    return true;
  }
  if (m.kind == MessageKind::kCredit) {
    if (op.chunks_out == 0) return false;
    --op.chunks_out;
    --chunks_out_;
    return true;
  }
  if (!op.all_sent) return false;
  if (m.kind == MessageKind::kReadResponse) return take_read_chunk(op, m, payload);
  if (op.work.kind == WorkKind::kRead) return false;
  if (m.kind == MessageKind::kAccepted) {
    op.accepted = true;
  } else {
    take_visible(op, m);
  }
  retire();
  return true;
}

void FlowSend::take_visible(SendOp& op, const Message& m) {
  chunks_out_ -= op.chunks_out;
  op.chunks_out = 0;
  if (op.work.kind == WorkKind::kWrite) {
    op.visible = true;
    return;
  }
  op.old_value = m.value;
  op.poll_at = op.work.local.agent;
  op.ticket = op.poll_at->write(op.work.local.name, &op.old_value, sizeof(op.old_value));
  if (op.ticket != kDone) ++transfers_;
  op.visible = op.ticket == kDone;
}

bool FlowSend::take_read_chunk(SendOp& op, const Message& m, const char* payload) {
  if (op.work.kind != WorkKind::kRead || m.total != op.work.bytes || m.offset != op.moved) return false;
  op.moved += m.bytes;
  if (m.bytes == 0) {
    op.visible = true;
    retire();
    return true;
  }
  op.landing.emplace_back(payload, payload + m.bytes);
  if (op.ticket == kDone) place_landed(op);
  retire();
  return true;
}

// Stores what came of a read into local memory, front first.
void FlowSend::place_landed(SendOp& op) {
  while (!op.landing.empty()) {
    const std::vector<char>& front = op.landing.front();
    const Place to = op.work.local + op.placed;
    op.poll_at = to.agent;
    op.ticket = to.agent->write(to.name, front.data(), front.size());
    if (op.ticket != kDone) {
      ++transfers_;
      return;
    }
    op.placed += static_cast<uint32_t>(front.size());
    op.landing.pop_front();
  }
  op.visible = op.placed == op.work.bytes;
}

void FlowSend::fail(size_t index, WorkStatus status) {
  if (failed_ && index >= failed_at_.distance_from(base_)) return;
  failed_ = true;
  failed_at_ = sequence_of(index);
  ops_[index].status = status;
  for (size_t i = index; i < ops_.size(); ++i) {
    chunks_out_ -= ops_[i].chunks_out;
    ops_[i].chunks_out = 0;
  }
  if (index < completed_) stop(WorkStatus::kFlushed);  // it was reported; what follows must not be
}

void FlowSend::stop(WorkStatus status) {
  if (!stopped_ && completed_ < ops_.size()) ops_[completed_].status = status;
  stopped_ = true;
  chunks_out_ = 0;
  for (size_t i = 0; i < ops_.size(); ++i) {
    ops_[i].chunks_out = 0;
    if (i > completed_) ops_[i].status = WorkStatus::kOk;  // it comes back as flushed
  }
}

bool FlowSend::completed_well(const SendOp& op) const {
  return op.visible || (op.accepted && completes_before_visible(options_.profile, op.order));
}

void FlowSend::take_completions(std::vector<WorkDone>& out) {
  while (completed_ < ops_.size()) {
    SendOp& op = ops_[completed_];
    if (!stopped_ && op.status == WorkStatus::kOk && !completed_well(op)) break;
    if (!stopped_ && op.status != WorkStatus::kOk) {
      stop(op.status);
    } else if (stopped_ && op.status == WorkStatus::kOk) {
      op.status = WorkStatus::kFlushed;
    }
    out.push_back({op.work.cookie, op.work.kind, op.status, op.work.signaled, op.work.bytes});
    op.completed = true;
    ++completed_;
  }
  retire();
}

void FlowSend::retire() {
  while (!ops_.empty()) {
    const SendOp& op = ops_.front();
    if (!op.completed || !(op.visible || stopped_) || op.ticket != kDone) return;
    ops_.pop_front();
    base_ = base_ + 1;
    --completed_;
  }
}

void FlowSend::describe_pending(std::vector<std::string>& out) const {
  for (size_t i = 0; i < ops_.size(); ++i) {
    const SendOp& op = ops_[i];
    if (op.visible) continue;
    out.push_back(fmt::format("operation {}: {} of {} bytes to {:#x}, {}", sequence_of(i).raw(), name_of(op.order),
                              op.work.bytes, op.work.remote_address,
                              op.all_sent ? "sent, not yet visible" : "not yet sent"));
  }
}

}  // namespace anygin::emulated
