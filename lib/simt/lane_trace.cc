// SPDX-License-Identifier: Apache-2.0
// Events of lanes. A sink may need more stack than a lane has left: it runs on the worker's.
#include "anygin/base/order.h"
#include "anygin/base/world.h"
#include "anygin/simt/lane_runner.h"

namespace anygin::simt {

namespace {

TraceEvent event_of_lane(TraceKind kind, const Block& block, uint32_t lane) {
  TraceEvent event;
  event.kind = kind;
  event.context = static_cast<uint32_t>(block.grid->device.device);
  event.grid = block.grid->id;
  event.lane = block.linear * block.lanes + lane;
  return event;
}

struct Recording {
  TraceSink* sink;
  TraceEvent* event;
};

}  // namespace

// Also for the scheduler, which is on that stack.
void LaneRunner::record_on_worker_stack(TraceEvent& event) {
  if (current_runner != this) return trace_->record(event);
  Recording recording{trace_, &event};
  on_worker_stack(
      [](void* argument) {
        const auto& one = *static_cast<Recording*>(argument);
        one.sink->record(*one.event);
      },
      &recording);
}

void LaneRunner::trace_lane(TraceKind kind, const Block& block, uint32_t lane, uint64_t value) {
  TraceEvent event = event_of_lane(kind, block, lane);
  event.value = value;
  record_on_worker_stack(event);
}

void LaneRunner::trace_wait(TraceKind kind, const Waiter& waiter) {
  const WaitReason& reason = waiter.reason;
  TraceEvent event = event_of_lane(kind, *block_, block_->current);
  event.rank = reason.rank;
  event.peer = reason.peer;
  event.context = reason.context;
  event.operation = static_cast<uint64_t>(reason.kind);
  event.bytes = reason.index;
  event.call_site = reason.call_site;
  if (reason.cell) event.at = world().memory.name_of(reason.cell).value_or(MemName{});
  if (kind == TraceKind::kWaitBegin) {
    event.value = reason.want;
  } else if (reason.cell) {
    event.value = load_relaxed(reason.cell) - reason.offset;
  }
  record_on_worker_stack(event);
}

}  // namespace anygin::simt
