// SPDX-License-Identifier: Apache-2.0
// A lane's part in warp operations.
#include "anygin/simt/lane_switch.h"

namespace anygin::simt {

namespace {

// Out of line, so that no string lives in the frame that waits.
__attribute__((noinline)) bool arrive(LaneRunner& runner, WarpOp& op, bool& misused) {
  Block& block = runner.block();
  std::string why;
  const WarpArrival arrival = arrive_at_warp_op(block, block.current, op, why);
  misused = arrival == WarpArrival::kMisuse;
  if (misused) runner.fail_lane(why);
  return arrival == WarpArrival::kComplete;
}

}  // namespace

void LaneRunner::warp_op(WarpOp& op) {
  bool misused = false;
  if (arrive(*this, op, misused)) return pause_after_release(*block_);
  if (misused) exit_lane(AbortCause::kMisuse);
  ++block_->gathering;
  switch_away(*block_);
}

uint32_t LaneRunner::active_mask(const void* site) {
  volatile uint32_t mask = 0;  // written by answer_converging() while the lane is away
  block_->converging.push_back({site, &mask, static_cast<uint16_t>(block_->current)});
  switch_away(*block_);
  return mask;
}

void answer_converging(Block& block) {
  for (const ConvergingLane& one : block.converging) {
    uint32_t mask = 0;
    for (const ConvergingLane& other : block.converging) {
      const bool together = other.site == one.site && other.lane / kWarpSize == one.lane / kWarpSize;
      if (together) mask |= uint32_t{1} << (other.lane % kWarpSize);
    }
    *one.mask = mask;
    block.push_ready(one.lane);
  }
  block.converging.clear();
}

extern "C" void anygin_warp_op(WarpOp* op) {
  runner_of_caller("a warp operation").warp_op(*op);
}
extern "C" uint32_t anygin_activemask() {
  return runner_of_caller("__activemask()").active_mask(__builtin_return_address(0));
}

}  // namespace anygin::simt
