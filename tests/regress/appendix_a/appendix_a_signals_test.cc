// SPDX-License-Identifier: Apache-2.0
// Strengths of signals as they leave (contract A.17, A.18), and a quotient of 64 bits (contract A.21).
#include "unit/nccl_gin_rig.h"

namespace anygin::testing {
namespace {

using ::testing::SizeIs;

class AppendixA : public NcclGinRig {};

TEST_F(AppendixA, row_17_the_functions_without_templates_take_the_strength_of_legacy_signals) {
  for (const bool strong : {true, false}) {
    comm_.ginStrongLegacySignals = strong;
    ncclGin_C net(comm_, NCCL_GIN_BACKEND_MASK_ALL, 0);
    const ncclCoopAny thread{ncclCoopThread{}};
    const ncclTeam world = ncclTeamWorld(comm_);
    const auto given = cuda::thread_scope_thread, required = cuda::thread_scope_device;
    ncclGinSignal(&net, world, 1, true, 2, ncclGinSignalInc, 1, thread, false, nullptr, given, required);
    ncclGinPut(&net, world, 1, window_, 0, window_, 64, 8, true, 2, ncclGinSignalAdd, 5, false, 0, thread, false,
               nullptr, given, required);
    ncclGinPutValue(&net, world, 1, window_, 0, 7, 8, true, 2, ncclGinSignalInc, 1, thread, false, nullptr, given,
                    required);
    const std::vector<Op> ops = posted();
    ASSERT_THAT(ops, SizeIs(3));
    for (const Op& op : ops) EXPECT_EQ(op.signal.strength, strong ? Strength::kStrong : Strength::kWeak);
    EXPECT_EQ(ops[1].signal.add, 5u);
  }
}

TEST_F(AppendixA, row_18_barriers_with_the_put_fence_signal_strongly_whatever_was_required) {
  comm_.ginStrongLegacySignals = false;
  const uint32_t base = comm_.worldGinBarrier.signal0;
  for (uint32_t peer = 0; peer < 4; ++peer) add_signal(base + peer, 1);
  ncclGinBarrier(ncclCoopThread{}, ncclGin(comm_, 0), ncclTeamTagWorld{}, 0, cuda::memory_order_acq_rel,
                 ncclGinFenceLevel::Put);
  const std::vector<Op> ops = posted();
  ASSERT_THAT(ops, SizeIs(4));
  for (const Op& op : ops) EXPECT_EQ(op.signal.strength, Strength::kStrong);
}

TEST(AppendixAHelpers, row_21_a_quotient_has_64_bits) {
  const uint64_t x = 0xfedcba9876543210;
  for (const uint64_t y : {uint64_t{1}, uint64_t{3}, uint64_t{1} << 20, uint64_t{1} << 40}) {
    EXPECT_EQ(nccl::utility::idivFast64(x, y, nccl::utility::idivRcp64(y)), x / y);
  }
}

}  // namespace
}  // namespace anygin::testing
