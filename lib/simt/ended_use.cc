// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/ended_use.h"

#include <algorithm>
#include <cstring>

#include "anygin/base/world.h"
#include "anygin/simt/device.h"
#include "anygin/simt/device_table.h"
#include "anygin/simt/grid.h"

namespace anygin::simt {
namespace {

// Handles are pointers at their natural place: inside an ncclDevComm by value, or parameters themselves.
bool holds(const BoundKernel& kernel, const std::vector<const void*>& handles) {
  const auto* const bytes = static_cast<const char*>(kernel.arguments);
  for (size_t at = 0; at + sizeof(void*) <= kernel.bytes; at += sizeof(void*)) {
    const void* word = nullptr;
    std::memcpy(&word, bytes + at, sizeof(word));
    if (std::find(handles.begin(), handles.end(), word) != handles.end()) return true;
  }
  return false;
}

}  // namespace

void EndedUses::add(EndedUse use) {
  const std::lock_guard lock(mutex_);
  uses_.push_back(std::move(use));
  any_.store(true, std::memory_order_relaxed);
}

EndedUseVerdict EndedUses::judge(const PollingBlock& block, Time now) const {
  const std::lock_guard lock(mutex_);
  EndedUseVerdict verdict;
  for (const EndedUse& use : uses_) {
    const bool knows = holds(block.grid.kernel, use.handles);
    const bool may_hope = block.grid.id <= use.last_grid && block.polls_since != kNever;
    if (!knows && !may_hope) continue;
    const Time ends = std::max(use.at, knows ? block.seen_since : block.polls_since) + kEndedUseGrace;
    if (now >= ends) {
      return {(knows ? "its communicator has ended: "
                     : "it only polls memory, and a communicator of its device has ended: ") +
              use.why};
    }
    verdict.look_again = std::min(verdict.look_again, ends);
  }
  return verdict;
}

bool kernels_hold(int device, const std::vector<const void*>& handles) {
  const auto streams = device_table().streams_of(device);
  return std::any_of(streams.begin(), streams.end(), [&](const std::shared_ptr<Stream>& stream) {
    return stream->any_launch([&](const Grid& grid) { return holds(grid.kernel, handles); });
  });
}

uint64_t newest_kernel() {
  return newest_grid();
}

bool kernels_left(int device, uint64_t newest) {
  const auto streams = device_table().streams_of(device);
  return std::any_of(streams.begin(), streams.end(), [&](const std::shared_ptr<Stream>& stream) {
    return stream->any_launch([&](const Grid& grid) { return grid.id <= newest; });
  });
}

void end_kernels(int device, std::vector<const void*> handles, const std::string& why) {
  device_table().load(device).ended.add({std::move(handles), why, newest_grid(), world().clock.now()});
  ring_everybody(world().executor);
}

}  // namespace anygin::simt
