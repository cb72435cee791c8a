// SPDX-License-Identifier: Apache-2.0
// A put whose completion was reported once the target had accepted it, before it was visible, was dropped when the
// target deregistered the region, or destroyed the queue pair, before its turn. What is accepted becomes visible. Found
// by `anygin check` in P14.
#include "unit/emulated_ranks.h"

namespace anygin::testing {
namespace {

constexpr uint64_t kValue = 0x1122334455667788;

enum class End { kRegion, kQueuePair };

// True if the put was accepted and not yet visible when the end came.
bool put_and_end(uint64_t seed, End end) {
  TestWorld world(seed);
  EmulatedRanks ranks({.profile = Profile::kRelaxed});
  VerbsRank &a = ranks[0], &b = ranks[1];
  std::memcpy(a.memory, &kValue, sizeof(kValue));
  Request put = Request::write(a, 0, sizeof(kValue), b, 64, 1, IBV_SEND_SIGNALED | verbs::kSendMayPass);
  EXPECT_EQ(put.post(a.qps[1]), 0);
  EXPECT_EQ(wait_completions(world, a, 1)[0].status, IBV_WC_SUCCESS);
  const bool early = b.word(64) != kValue;
  if (end == End::kRegion) {
    EXPECT_EQ(emu().dereg_mr(b.mr), 0);
    b.mr = nullptr;
  } else {
    EXPECT_EQ(emu().destroy_qp(b.qps[0]), 0);
    b.qps.erase(b.qps.begin());
  }
  EXPECT_EQ(b.word(64), kValue) << "seed " << seed;
  world.test_executor().run_until_idle();
  EXPECT_FALSE(a.nic->busy()) << "seed " << seed;
  EXPECT_FALSE(b.nic->busy()) << "seed " << seed;
  return early;
}

TEST(AcceptedPut, lands_before_its_region_is_gone) {
  int early = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) early += put_and_end(seed, End::kRegion);
  EXPECT_GT(early, 3);
}

TEST(AcceptedPut, lands_before_its_queue_pair_is_gone) {
  int early = 0;
  for (uint64_t seed = 1; seed <= 60; ++seed) early += put_and_end(seed, End::kQueuePair);
  EXPECT_GT(early, 3);
}

}  // namespace
}  // namespace anygin::testing
