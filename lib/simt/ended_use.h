// SPDX-License-Identifier: Apache-2.0
// Communicators of a device that have ended while kernels may still poll memory for what will not come: which grids end
// with them (docs/decisions/0022-ended-communicators-end-their-kernels.md). Waits end by their abort word, at once;
// this is for loops that the program wrote itself.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "anygin/base/time.h"

namespace anygin::simt {

class Grid;

// A grid has so long to end by itself.
inline constexpr Time kEndedUseGrace = 300 * kMillisecond;
inline constexpr Time kEndedUseLook = 50 * kMillisecond;  // how often a block is looked at

struct EndedUse {
  std::vector<const void*> handles;  // one of them stands in the arguments of every kernel that uses the communicator
  std::string why;
  uint64_t last_grid = 0;  // the newest one at that time
  Time at = 0;             // of world().clock
};

// What a worker knows of a block.
struct PollingBlock {
  const Grid& grid;
  Time seen_since;   // the block was first looked at
  Time polls_since;  // it got no further than polling memory since then; kNever: it did, or waits for something else
};

struct EndedUseVerdict {
  std::string why;           // the block's grid has to end now; empty if it need not
  Time look_again = kNever;  // then it has, if the block gets no further
};

class EndedUses {
 public:
  // Any thread.
  void add(EndedUse use);
  bool any() const { return any_.load(std::memory_order_relaxed); }
  // Any thread.
  EndedUseVerdict judge(const PollingBlock& block, Time now) const;

 private:
  std::atomic<bool> any_{false};
  mutable std::mutex mutex_;
  std::vector<EndedUse> uses_;
};

}  // namespace anygin::simt
