// SPDX-License-Identifier: Apache-2.0
// The way from a lane that cannot go on to the next one. Only for the lane_*.cc files: these are the last thing a
// blocking function does, and are inlined into it so that nothing returns before the switch.
#pragma once

#include "anygin/simt/lane_runner.h"

namespace anygin::simt {

// Turns of a suspicious loop before the lane lets others run: many for a lane that just started and may only compute,
// few (LaneRunner::later_ticks) for one that already had to wait.
inline constexpr int kFirstTicks = 512;

inline void LaneRunner::enter_lane(Block& block, uint32_t lane) {
  block.current = lane;
  anygin_linear_thread = lane;
  anygin_thread_idx.x = lane;
  if (block.has(kDetourShape)) [[unlikely]]
    enter_shaped_lane(block, lane);
}

// Makes the head of the ready ring the current lane.
inline uint32_t LaneRunner::enter_next_ready(Block& block) {
  const uint32_t next = block.pop_ready();
  // The lanes after the next one: registers first, then the top of the stack.
  __builtin_prefetch(&block.contexts[block.ready[(block.ready_head + 1) & block.ready_mask]]);
  __builtin_prefetch(block.contexts[block.ready[block.ready_head & block.ready_mask]].sp);
  block.current = next;
  anygin_linear_thread = next;
  anygin_thread_idx.x = next;
  anygin_tick_budget = later_ticks_;
  return next;
}

__attribute__((always_inline)) inline void LaneRunner::switch_home(Block& block) {
  switch_fiber(&block.contexts[block.current], &home_);
}

// A block that only meets itself over and over, as one that polls between barriers does, gives way to the others too.
__attribute__((always_inline)) inline void LaneRunner::pause_after_release(Block& block) {
  if (block.releases - releases_at_visit_ < kReleasesPerVisit) [[likely]]
    return;
  block.push_ready(block.current);
  switch_home(block);
}

// The common way is short and calls nothing: what is rare leaves by a tail call.
__attribute__((always_inline)) inline void LaneRunner::switch_away(Block& block) {
  FiberContext* save = &block.contexts[block.current];
  if (block.has(kDetourHome | kDetourStart | kDetourShape)) [[unlikely]]
    return switch_by_detour(save, block);
  if (block.ready_head == block.ready_tail) [[unlikely]]
    return switch_fiber(save, &home_);
  switch_fiber(save, &block.contexts[enter_next_ready(block)]);
}

}  // namespace anygin::simt
