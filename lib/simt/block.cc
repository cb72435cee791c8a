// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/block.h"

#include <bit>
#include <cstring>
#include <utility>

#include "anygin/simt/grid.h"

namespace anygin::simt {

Block::Block(uint32_t lane_capacity)
    : capacity(lane_capacity),
      lane_lists_(2 * size_t{lane_capacity}),
      context_storage_(lane_capacity),
      warp_storage_(lane_capacity / kWarpSize) {
  contexts = context_storage_.data();
  ready = lane_lists_.data();
  at_barrier = ready + lane_capacity;
  ready_mask = lane_capacity - 1;
  warps = warp_storage_.data();
}

void Block::begin(Grid& of_grid, GridCursor& of_cursor, uint64_t linear_block) {
  grid = &of_grid;
  cursor = &of_cursor;
  linear = linear_block;
  index = of_grid.index_of(linear_block);
  lanes = live = of_grid.lanes_per_block;
  started = current = arrived = gathering = polls = idle_polls = 0;
  ready_head = ready_tail = 0;
  const bool flat = of_grid.shape.block.y == 1 && of_grid.shape.block.z == 1;
  detours = kDetourStart | (flat ? 0 : kDetourShape);
  const uint32_t warp_count = (lanes + kWarpSize - 1) / kWarpSize;
  for (uint32_t warp = 0; warp < warp_count; ++warp) exited[warp] = 0;
  // Lanes that fill up the last warp count as exited.
  if (lanes % kWarpSize != 0) exited[warp_count - 1] = ~uint32_t{0} << (lanes % kWarpSize);
  barriers = releases = 0;
  reductions[0] = reductions[1] = BarrierReduction{};
  start_order = nullptr;
  advances = advances_seen = 0;
  polled_clock = false;
  clock_steps.begin_again();
  look_at = seen_since = polls_since = 0;
  ends_at = kNever;
  shared.begin(of_grid.shape.dynamic_shared_bytes);
}

void Block::push_ready(const uint16_t* first, uint32_t count) {
  const uint32_t at = ready_tail & ready_mask;
  const uint32_t before_wrap = std::min(count, capacity - at);
  std::memcpy(ready + at, first, before_wrap * sizeof(uint16_t));
  std::memcpy(ready, first + before_wrap, (count - before_wrap) * sizeof(uint16_t));
  ready_tail += count;
}

void Block::release_barrier() {
  if (ready_head == ready_tail) {  // mostly: all came to the barrier
    std::swap(ready, at_barrier);
    ready_head = 0;
    ready_tail = arrived;
  } else {
    push_ready(at_barrier, arrived);
  }
  arrived = 0;
}

Block* BlockPool::take(uint32_t lanes) {
  const uint32_t capacity = std::max(kWarpSize, std::bit_ceil(lanes));
  std::vector<Block*>& free = free_[std::countr_zero(capacity / kWarpSize)];
  if (free.empty()) {
    owned_.push_back(std::make_unique<Block>(capacity));
    return owned_.back().get();
  }
  Block* block = free.back();
  free.pop_back();
  return block;
}

void BlockPool::give_back(Block* block) {
  block->parked.clear();
  block->converging.clear();
  block->lines.clear();
  if (block->gathering != 0) {  // abandoned in the middle of something
    block->named.clear();
    for (uint32_t warp = 0; warp < block->capacity / kWarpSize; ++warp) block->warps[warp].group_count = 0;
  }
  free_[std::countr_zero(block->capacity / kWarpSize)].push_back(block);
}

}  // namespace anygin::simt
