// SPDX-License-Identifier: Apache-2.0
// Operations of a warp: each lane brings a descriptor, the last of the mask to arrive computes all results.
#pragma once

#include <cstdint>
#include <string>

#include "anygin/simt/device_runtime.h"

namespace anygin::simt {

struct Block;

// Lanes that wait for each other under one mask.
struct WarpGroup {
  uint32_t mask;
  uint32_t arrived;
};

struct alignas(64) WarpState {
  uint32_t group_count = 0;
  WarpGroup groups[32];  // disjoint in `arrived`
  WarpOp* ops[32];       // of arrived lanes
};

enum class WarpArrival { kWait, kComplete, kMisuse };

// The lane `lane` of `block` arrives with `op`. kComplete: all results are computed and all others of the group are
// ready. kMisuse: `why` says what, and nothing changed.
WarpArrival arrive_at_warp_op(Block& block, uint32_t lane, WarpOp& op, std::string& why);
// A lane of `warp` has exited: completes groups that waited for it alone.
void release_complete_groups(Block& block, uint32_t warp);

}  // namespace anygin::simt
