// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/sim_trace.h"

#include "anygin/emulated/place.h"

namespace anygin::sim {

void SimTrace::record(const TraceEvent& event) {
  digest_.add(uint64_t{static_cast<uint8_t>(event.kind)} << 32 | static_cast<uint32_t>(event.rank));
  digest_.add(uint64_t{event.context} << 32 | static_cast<uint32_t>(event.peer));
  digest_.add(event.operation);
  // Offsets in host memory are addresses, which differ from run to run.
  if (event.at.heap != emulated::kHostHeap) digest_.add(uint64_t{event.at.heap.value} << 48 ^ event.at.offset);
  digest_.add(event.bytes);
  digest_.add(event.value);
  for (Checker* checker : checkers_) checker->on_event(event);
  if (file_) file_->record(event);
}

void SimTrace::at_end() {
  for (Checker* checker : checkers_) checker->at_end();
}

}  // namespace anygin::sim
