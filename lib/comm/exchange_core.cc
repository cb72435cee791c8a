// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/exchange_core.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "anygin/base/mutant.h"

namespace anygin::comm {
namespace {

uint64_t bytes_of(const Call& call, const Transfer& transfer) {
  return transfer.count * size_of(call.request.element);
}

// Every byte is in a slot, and there was one.
bool is_moved(const Call& call, const Transfer& transfer) {
  return transfer.begun && transfer.moved == bytes_of(call, transfer);
}

// The transfers of a stage that are done open the next one.
void finish(Call& call, Transfer& transfer) {
  transfer.done = true;
  const auto holds_up = [&](const Transfer& other) { return other.stage == call.stage && !other.done; };
  const auto later = [&](const Transfer& other) { return !other.done; };
  while (std::none_of(call.transfers.begin(), call.transfers.end(), holds_up) &&
         std::any_of(call.transfers.begin(), call.transfers.end(), later)) {
    ++call.stage;
  }
}

// What the sender said it calls.
std::string describe(const SlotHeader& header) {
  const auto kind = static_cast<CallKind>(header.call);
  const auto element = static_cast<Element>(header.element);
  if (kind >= CallKind::kCount || element >= Element::kCount) return "an unknown call";
  return fmt::format("{} of {} {}", name_of(kind), header.call_count, name_of(element));
}

}  // namespace

ExchangeCore::ExchangeCore(const ExchangeShape& shape, Rank rank, char* memory)
    : shape_(shape), rank_(rank), memory_(memory), pairs_(shape.pairs()) {}

bool ExchangeCore::can_step(const Call& call, const Transfer& transfer, const ExchangePort& port) const {
  if (transfer.done || (transfer.stage != call.stage && !MUTANT(exchange_stages_overlap))) return false;
  if (!transfer.sends) return can_take(call, transfer, port);
  if (is_moved(call, transfer)) return port.returned(call.lane(), transfer.peer) >= transfer.last_slot;
  return can_fill(call, transfer, port);
}

bool ExchangeCore::can_fill(const Call& call, const Transfer& transfer, const ExchangePort& port) const {
  const uint64_t held = pair_of(call, transfer).filled - port.returned(call.lane(), transfer.peer);
  const bool free = held < kSlots || MUTANT(exchange_slot_reused);
  return free && port.may_put(call.lane(), transfer.peer);
}

// A contribution comes behind the one before it, so that the order of a sum is always the same.
bool ExchangeCore::can_take(const Call& call, const Transfer& transfer, const ExchangePort& port) const {
  if (port.arrived(call.lane(), transfer.peer) <= pair_of(call, transfer).taken) return false;
  if (!port.may_give_back(call.lane(), transfer.peer)) return false;
  if (transfer.behind < 0 || MUTANT(exchange_sums_in_any_order)) return true;
  const Transfer& before = call.transfers[static_cast<size_t>(transfer.behind)];
  return before.done || before.moved > transfer.moved;
}

Status ExchangeCore::step(Call& call, Transfer& transfer, ExchangePort& port) {
  if (!transfer.sends) {
    ANYGIN_TRY(take(call, transfer, port));
    if (is_moved(call, transfer)) finish(call, transfer);
  } else if (is_moved(call, transfer)) {
    finish(call, transfer);
  } else {
    fill(call, transfer, port);
  }
  return Status();
}

void ExchangeCore::fill(const Call& call, Transfer& transfer, ExchangePort& port) {
  const CallRequest& request = call.request;
  Pair& pair = pair_of(call, transfer);
  const uint64_t bytes = std::min<uint64_t>(bytes_of(call, transfer) - transfer.moved, shape_.payload);
  char* slot = memory_ + shape_.outbox(call.lane(), transfer.peer, pair.filled);
  SlotHeader header;
  header.transfer = pair.sent;
  header.count = transfer.count;
  header.offset = transfer.moved;
  header.bytes = static_cast<uint32_t>(bytes);
  header.call = static_cast<uint16_t>(request.kind);
  header.element = static_cast<uint8_t>(request.element);
  header.reduce_op = static_cast<uint8_t>(request.op);
  header.call_count = request.count;
  std::memcpy(slot, &header, sizeof(header));
  char* payload = slot + sizeof(header);
  if (bytes > 0) std::memcpy(payload, transfer.memory + transfer.moved, bytes);
  if (request.scalar != nullptr && transfer.stage == 0) {
    multiply(request.element, payload, bytes / size_of(request.element), request.scalar);
  }
  port.put(call.lane(), transfer.peer, pair.filled, sizeof(header) + bytes);
  ++pair.filled;
  transfer.moved += bytes;
  transfer.begun = true;
  transfer.last_slot = pair.filled;
  if (is_moved(call, transfer)) ++pair.sent;
}

// Both sides are at the same transfer of the pair, which follows from how slots are filled; do they mean the same?
Status ExchangeCore::check(const Call& call, const Transfer& transfer, const SlotHeader& header) const {
  const CallRequest& mine = call.request;
  const bool paired = call.lane() == Lane::kPairs;
  const auto kind = paired ? CallKind::kSend : mine.kind;
  const bool same_op = header.reduce_op == static_cast<uint8_t>(mine.op);
  const bool same_counts = header.count == transfer.count && header.call_count == mine.count;
  const bool same = header.call == static_cast<uint16_t>(kind) &&
                    header.element == static_cast<uint8_t>(mine.element) && same_counts && same_op;
  if (same || MUTANT(exchange_mismatch_taken)) {
    ANYGIN_ASSERT(header.transfer == pair_of(call, transfer).received && header.offset == transfer.moved);
    return Status();
  }
  const char* rule = paired ? "count and type must be equal"
                            : "all ranks must make the same calls in the same order, with equal counts and types";
  return Status(Cause::kTransferMismatch, mine.where,
                fmt::format("rank {}: {} meets {} of rank {}{}; {}", rank_, comm::describe(mine), describe(header),
                            transfer.peer, same_op ? "" : " with another operator", rule));
}

Status ExchangeCore::take(const Call& call, Transfer& transfer, ExchangePort& port) {
  const CallRequest& request = call.request;
  Pair& pair = pair_of(call, transfer);
  const char* slot = memory_ + shape_.inbox(call.lane(), transfer.peer, pair.taken);
  SlotHeader header;
  std::memcpy(&header, slot, sizeof(header));
  ANYGIN_TRY(check(call, transfer, header));
  ANYGIN_ASSERT(header.bytes == std::min<uint64_t>(bytes_of(call, transfer) - transfer.moved, shape_.payload));
  const uint64_t bytes = header.bytes;
  const uint64_t count = bytes / size_of(request.element);
  char* into = transfer.memory + transfer.moved;
  if (transfer.combines) {
    combine(request.element, request.op, into, slot + sizeof(header), count);
  } else if (bytes > 0) {
    std::memcpy(into, slot + sizeof(header), bytes);
  }
  if (transfer.ends_average) divide(request.element, into, count, static_cast<int>(shape_.ranks));
  port.give_back(call.lane(), transfer.peer);
  ++pair.taken;
  transfer.moved += bytes;
  transfer.begun = true;
  if (is_moved(call, transfer)) ++pair.received;
  return Status();
}

}  // namespace anygin::comm
