// SPDX-License-Identifier: Apache-2.0
// The shortcut of flow_send: work in program order on mapped memory is a copy or an atomic add by the initiator. It
// begins only once everything before it in the flow is visible, and nothing passes it.
#include <cstring>

#include "anygin/base/assert.h"
#include "anygin/base/order.h"
#include "anygin/emulated/flow_send.h"

namespace anygin::emulated {
namespace {

constexpr uint32_t kWord = sizeof(uint64_t);

struct Started {
  Ticket ticket;
  MemoryAgent* poll_at;
};

// Starts one piece of `bytes` at `offset` of the work. Later pieces are ordered behind earlier ones.
Started start_piece(const Work& work, Place remote, uint32_t offset, uint32_t bytes, uint64_t* old_value) {
  release_writes();
  Started started{kDone, nullptr};
  if (work.kind == WorkKind::kFetchAdd) {
    started.poll_at = remote.agent;
    started.ticket = remote.agent->fetch_add(remote.name, work.add, old_value);
  } else if (work.kind == WorkKind::kRead) {
    started.ticket = copy_between(work.local + offset, remote + offset, bytes, &started.poll_at);
  } else if (work.is_inline) {
    started.poll_at = remote.agent;
    started.ticket = remote.agent->write((remote + offset).name, work.inline_data.data() + offset, bytes);
  } else {
    started.ticket = copy_between(remote + offset, work.local + offset, bytes, &started.poll_at);
  }
  return started;
}

uint32_t piece_length(const Work& work, uint32_t offset) {
  if (work.kind == WorkKind::kFetchAdd) return kWord;
  const uint64_t visible_at = work.kind == WorkKind::kRead ? work.local.name.offset : work.remote_address;
  return chunk_length(visible_at, offset, work.bytes);
}

}  // namespace

// The oldest work that is not visible, if the shortcut may do it.
std::optional<size_t> FlowSend::direct_index() const {
  if (!options_.shortcut || staged_.busy) return std::nullopt;
  const size_t end = live_end();
  size_t index = 0;
  while (index < end && ops_[index].visible) ++index;
  if (index == end) return std::nullopt;
  const SendOp& op = ops_[index];
  if (op.direct) return op.ticket == kDone ? std::optional(index) : std::nullopt;
  if (op.all_sent || op.chunks_out > 0 || op.moved > 0 || !in_program_order(op.work)) return std::nullopt;
  Place remote;
  WorkStatus why = WorkStatus::kOk;
  if (reach_.reach(op.work, &remote, &why) == FlowReach::Answer::kByMessage) return std::nullopt;
  return index;
}

void FlowSend::note_read(FlowSeq sequence, const Work& work, Place remote, uint32_t offset, uint32_t bytes) {
  if (work.kind == WorkKind::kFetchAdd || work.is_inline) return;
  const Place source = work.kind == WorkKind::kRead ? remote : work.local;
  witness_.on_source_read(sequence, source + offset, bytes);
}

void FlowSend::run_direct(size_t index) {
  SendOp& op = ops_[index];
  Place remote;
  WorkStatus why = WorkStatus::kOk;
  const FlowReach::Answer answer = reach_.reach(op.work, &remote, &why);
  if (answer == FlowReach::Answer::kRefused) {
    op.direct = true;
    fail(index, why);
    return;
  }
  ANYGIN_ASSERT(answer == FlowReach::Answer::kMapped);
  op.direct = true;
  if (op.work.bytes == 0) {
    op.visible = true;
    retire();
    return;
  }
  op.moving = piece_length(op.work, op.moved);
  const Started started = start_piece(op.work, remote, op.moved, op.moving, &op.old_value);
  note_read(sequence_of(index), op.work, remote, op.moved, op.moving);
  op.remote = remote;
  op.ticket = started.ticket;
  op.poll_at = started.poll_at;
  if (op.ticket != kDone) {
    ++transfers_;
  } else {
    end_direct_piece(index);
    retire();
  }
}

// The piece under way is done.
void FlowSend::end_direct_piece(size_t index) {
  SendOp& op = ops_[index];
  if (op.work.kind == WorkKind::kFetchAdd && !op.added) {
    op.added = true;
    if (op.began_now) op.old_value = old_value_;
    witness_.on_signal(sequence_of(index), op.remote, op.old_value + op.work.add);
    op.poll_at = op.work.local.agent;
    op.ticket = op.poll_at->write(op.work.local.name, &op.old_value, kWord);
    if (op.ticket != kDone) {
      ++transfers_;
      return;
    }
  } else if (op.work.kind == WorkKind::kWrite) {
    witness_.on_visible(sequence_of(index), op.remote + op.moved, op.moving);
  }
  op.moved += op.moving;
  op.visible = op.moved == op.work.bytes;
}

FlowSend::Now FlowSend::do_now(const Work& work) {
  const bool fits = work.bytes > 0 && work.bytes <= kChunkBytes && piece_length(work, 0) == work.bytes;
  if (!options_.shortcut || !ops_.empty() || stopped_ || staged_.busy || !fits || !in_program_order(work)) {
    return Now::kDeclined;
  }
  Place remote;
  WorkStatus why = WorkStatus::kOk;
  if (reach_.reach(work, &remote, &why) != FlowReach::Answer::kMapped) return Now::kDeclined;
  const FlowSeq sequence = base_;
  note_read(sequence, work, remote, 0, work.bytes);
  Started started = start_piece(work, remote, 0, work.bytes, &old_value_);
  bool added = false;
  if (work.kind == WorkKind::kFetchAdd && started.ticket == kDone) {
    added = true;
    witness_.on_signal(sequence, remote, old_value_ + work.add);
    started = {work.local.agent->write(work.local.name, &old_value_, kWord), work.local.agent};
  }
  if (started.ticket == kDone) {
    if (work.kind == WorkKind::kWrite) witness_.on_visible(sequence, remote, work.bytes);
    base_ = base_ + 1;
    return Now::kDone;
  }
  SendOp& op = ops_.emplace_back();
  op.work = work;
  op.order = order_class(work.kind, work.may_pass);
  op.direct = true;
  op.added = added;
  op.began_now = true;
  op.remote = remote;
  op.moving = work.bytes;
  op.old_value = old_value_;
  op.ticket = started.ticket;
  op.poll_at = started.poll_at;
  ++transfers_;
  return Now::kTaken;
}

}  // namespace anygin::emulated
