// SPDX-License-Identifier: Apache-2.0
// Lanes that poll between sleeps, barriers or warp operations looked like progress for ever, so the block they waited
// for was never admitted. On a device all of these blocks are resident, and the kernels end.
#include <gtest/gtest.h>

#include "support/sanitizer_sizes.h"
#include "unit/simt_kernels.h"

namespace anygin::simt {
namespace {

using anygin::testing::size_under_tsan;

constexpr unsigned kBlocks = size_under_tsan(40u, 6u), kThreads = size_under_tsan(64u, 32u);

// The last block raises the flag; all others poll it through `poll(flag, shared word)` until it says so.
template <typename Poll>
int raise_by_the_last_block(Poll poll) {
  uint32_t raised = 0;
  return run(blocks_of(kBlocks, kThreads), [flag = &raised, poll] {
    if (anygin_block_idx.x == kBlocks - 1) {
      if (anygin_thread_idx.x == 0) __atomic_store_n(flag, 1u, __ATOMIC_RELEASE);
      return;
    }
    while (!poll(flag)) tick();
  });
}

bool read(const uint32_t* flag) {
  return __atomic_load_n(flag, __ATOMIC_ACQUIRE) != 0;
}

using PollingBlocks = SimtTest;

TEST_F(PollingBlocks, that_sleep_between_looks) {
  EXPECT_EQ(raise_by_the_last_block([](const uint32_t* flag) {
              if (read(flag)) return true;
              anygin_nanosleep(100);
              return false;
            }),
            0);
}

TEST_F(PollingBlocks, whose_leader_looks_between_barriers) {
  EXPECT_EQ(raise_by_the_last_block([](const uint32_t* flag) {
              uint32_t& seen = shared_object<uint32_t>();
              if (anygin_thread_idx.x == 0) seen = read(flag);
              anygin_syncthreads();
              const bool done = seen != 0;
              anygin_syncthreads();
              return done;
            }),
            0);
}

TEST_F(PollingBlocks, that_vote_block_wide) {
  EXPECT_EQ(raise_by_the_last_block(
                [](const uint32_t* flag) { return anygin_syncthreads_reduce(BlockReduce::kOr, read(flag)) != 0; }),
            0);
}

TEST_F(PollingBlocks, that_vote_warp_wide) {
  EXPECT_EQ(raise_by_the_last_block([](const uint32_t* flag) {
              uint32_t votes = 0;
              WarpOp op;
              op.kind = WarpOpKind::kBallot;
              op.bytes = sizeof(votes);
              op.result = &votes;
              op.predicate = read(flag);
              anygin_warp_op(&op);
              return votes != 0;
            }),
            0);
}

}  // namespace
}  // namespace anygin::simt
