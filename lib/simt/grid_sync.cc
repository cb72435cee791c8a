// SPDX-License-Identifier: Apache-2.0
// Blocks meet first; their first lane then waits for the other blocks.
#include "anygin/simt/grid_sync.h"

#include "anygin/base/mutant.h"
#include "anygin/base/order.h"
#include "anygin/base/world.h"
#include "anygin/simt/lane_runner.h"

namespace anygin::simt {
namespace {

// The last block to come opens the next round for all.
void meet_other_blocks(Grid& grid, const void* call_site) {
  const uint32_t round = grid.sync_round.load(std::memory_order_acquire);
  if (grid.sync_arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == grid.blocks) {
    grid.sync_arrived.store(0, std::memory_order_relaxed);
    grid.sync_round.store(round + 1, std::memory_order_release);
    ring_everybody(world().executor);
    return;
  }
  if (MUTANT(grid_sync_does_not_wait)) return;
  WaitReason reason;
  reason.kind = WaitKind::kSpin;
  reason.call_site = call_site;
  const std::atomic<uint32_t>* word = &grid.sync_round;
  (void)wait_until([word, round] { return word->load(std::memory_order_acquire) != round; }, nullptr, reason);
}

}  // namespace

extern "C" int anygin_grid_is_cooperative() {
  return runner_of_caller("this_grid()").block().grid->shape.cooperative;
}

extern "C" void anygin_grid_sync() {
  Grid& grid = *runner_of_caller("this_grid().sync()").block().grid;
  if (!grid.shape.cooperative) {
    anygin_trap(
        "this_grid().sync() in a grid that was not launched by cudaLaunchCooperativeKernel or with the cooperative "
        "attribute");
  }
  anygin_syncthreads();
  if (anygin_linear_thread == 0) meet_other_blocks(grid, __builtin_return_address(0));
  anygin_syncthreads();
}

}  // namespace anygin::simt
