// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/flow_checker.h"

#include <fmt/format.h>

#include <utility>

#include "anygin/emulated/place.h"

namespace anygin::sim {

using emulated::Message;
using emulated::MessageKind;

void FlowChecker::complain(const FlowName& name, uint32_t sequence, const std::string& what) {
  report_(fmt::format("promise broken: operation {} from rank {} to rank {} (queue pair {}): {}", sequence, name.source,
                      name.target, name.queue_pair, what));
}

// --- Ports -----------------------------------------------------------------------------------------------------------

void FlowChecker::on_port_opened(Rank rank) {
  if (++open_[rank] > 1) shared_.insert(rank);
  std::erase_if(flows_, [&](const auto& one) { return one.first.target == rank || one.first.source == rank; });
  if (shared_.empty()) return;
  cells_.clear();
}

void FlowChecker::on_port_closed(Rank rank) {
  for (const auto& [name, flow] : flows_) {
    if (name.target != rank || !watched(rank)) continue;
    for (const auto& [sequence, operation] : flow.operations) {
      if (!operation.done()) complain(name, sequence, "in flight when the communicator ended");
    }
  }
  std::erase_if(flows_, [&](const auto& one) { return one.first.target == rank; });
  if (--open_[rank] == 0) {
    open_.erase(rank);
    shared_.erase(rank);
  }
  cells_.clear();  // their memory may be given out again
}

// --- What was sent ---------------------------------------------------------------------------------------------------

void FlowChecker::on_sent(Rank from, Rank to, const Message& message) {
  switch (message.kind) {
    case MessageKind::kWrite:
    case MessageKind::kFetchAdd:
    case MessageKind::kRead:
      return take_request({to, from, message.queue_pair}, message);
    case MessageKind::kVisible:
      return take_acknowledgement({from, to, message.source_pair}, message);
    default:
      return;
  }
}

void FlowChecker::take_request(const FlowName& name, const Message& message) {
  Flow& flow = flows_[name];
  // What the initiator knows to be visible need not be kept.
  const uint32_t floor = message.sequence - message.unsettled;
  if (flow.operations.empty() || !flow.below_floor(floor)) flow.floor = floor;
  for (auto it = flow.operations.begin(); it != flow.operations.end() && flow.below_floor(it->first);) {
    it = it->second.done() ? flow.operations.erase(it) : std::next(it);
  }
  Operation& operation = flow.operations[message.sequence];
  operation.is_add = message.kind == MessageKind::kFetchAdd;
  operation.is_read = message.kind == MessageKind::kRead;
  operation.may_pass = message.may_pass;
  operation.grouped = message.grouped;
  operation.total = message.total;
  operation.unsettled = std::max<uint32_t>(operation.unsettled, message.unsettled);
  operation.add = message.value;
}

void FlowChecker::take_acknowledgement(const FlowName& name, const Message& message) {
  const auto flow = flows_.find(name);
  if (flow == flows_.end() || !watched(name.target)) return;
  const auto found = flow->second.operations.find(message.sequence);
  if (found == flow->second.operations.end()) return;
  Operation& operation = found->second;
  if (!operation.done()) {
    complain(name, message.sequence,
             fmt::format("acknowledged with {} of {} bytes visible", operation.visible, operation.total));
  }
  if (operation.acknowledged) complain(name, message.sequence, "acknowledged twice");
  operation.acknowledged = true;
}

// --- What happened ---------------------------------------------------------------------------------------------------

void FlowChecker::on_event(const TraceEvent& event) {
  if (event.kind == TraceKind::kVisible) return take_visible(event);
  if (event.kind == TraceKind::kSignal) return take_signal(event);
}

FlowChecker::Operation* FlowChecker::find(const TraceEvent& event, FlowName* name) {
  *name = {event.rank, event.peer, event.context};
  if (!watched(event.rank)) return nullptr;
  const auto sequence = static_cast<uint32_t>(event.operation);
  const auto flow = flows_.find(*name);
  if (flow != flows_.end()) {
    const auto found = flow->second.operations.find(sequence);
    if (found != flow->second.operations.end()) return &found->second;
  }
  complain(*name, sequence, "came about without having been sent, or again");
  return nullptr;
}

// All operations before this one that may not have been visible when it was sent.
void FlowChecker::check_before(const FlowName& name, uint32_t sequence, const Operation& operation, const char* what) {
  const Flow& flow = flows_.at(name);
  for (uint32_t back = 1; back <= operation.unsettled; ++back) {
    if (flow.below_floor(sequence - back)) continue;
    const auto before = flow.operations.find(sequence - back);
    if (before != flow.operations.end() && before->second.done()) continue;
    complain(name, sequence, fmt::format("{} before operation {} was visible", what, sequence - back));
    return;
  }
}

void FlowChecker::take_visible(const TraceEvent& event) {
  FlowName name{};
  Operation* const operation = find(event, &name);
  if (operation == nullptr) return;
  const auto sequence = static_cast<uint32_t>(event.operation);
  operation->visible += event.bytes;
  if (operation->visible > operation->total) complain(name, sequence, "more bytes became visible than it has");
  if (!operation->may_pass || options().profile == Profile::kInorder) {
    check_before(name, sequence, *operation, "visible");
  }
  check_bounds(event);
}

void FlowChecker::take_signal(const TraceEvent& event) {
  FlowName name{};
  Operation* const operation = find(event, &name);
  if (operation == nullptr) return;
  const auto sequence = static_cast<uint32_t>(event.operation);
  if (operation->visible != 0) complain(name, sequence, "the signal was applied twice");
  operation->visible = 8;
  if (!operation->may_pass || options().profile == Profile::kInorder) {
    check_before(name, sequence, *operation, "its signal was applied");
  }
  if (operation->grouped) {
    const Flow& flow = flows_.at(name);
    const auto payload = flow.operations.find(sequence - 1);
    // Gone: it was visible when something later was sent.
    if (payload != flow.operations.end() && !payload->second.done()) {
      complain(name, sequence, "its signal was applied before its own payload was visible");
    }
  }
  check_bounds(event);
  check_cell(name, event, operation->add);
}

void FlowChecker::check_cell(const FlowName& name, const TraceEvent& event, uint64_t add) {
  const std::optional<Allocation> memory = allocation_at(event.at);
  const Cell now{memory ? memory->serial : 0, event.value};
  const auto [cell, fresh] = cells_.try_emplace({event.at.heap.value, event.at.offset}, now);
  const Cell last = std::exchange(cell->second, now);
  if (fresh || last.allocation != now.allocation || last.value + add == now.value) return;
  if (now.value == add) return;  // found at zero: a signal in a window is reset by a store of the program
  complain(name, static_cast<uint32_t>(event.operation),
           fmt::format("a signal of {} found its cell at {}, and left it at {}", add, last.value, now.value));
}

// None: the memory is no allocation of this world's heap.
std::optional<Allocation> FlowChecker::allocation_at(const MemName& name) const {
  if (world_ == nullptr || name.heap != world_->heap.id()) return std::nullopt;
  return world_->heap.find(world_->memory.address(name));
}

void FlowChecker::check_bounds(const TraceEvent& event) {
  if (world_ == nullptr || event.at.heap != world_->heap.id()) return;
  const char* const begin = world_->memory.address(event.at);
  const std::optional<Allocation> allocation = allocation_at(event.at);
  if (allocation && begin + event.bytes <= allocation->base + allocation->bytes) return;
  complain({event.rank, event.peer, event.context}, static_cast<uint32_t>(event.operation),
           fmt::format("{} bytes written outside of any allocation", event.bytes));
}

}  // namespace anygin::sim
