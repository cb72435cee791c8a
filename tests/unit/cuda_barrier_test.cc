// SPDX-License-Identifier: Apache-2.0
// cuda::barrier: phases, arrivals that do not wait, members that drop out; and names of <cuda/std>.
#include <cuda/barrier>
#include <cuda/std/algorithm>
#include <cuda/std/cmath>
#include <cuda/std/functional>
#include <cuda/std/optional>

#include "unit/lane_builtins.h"

namespace {

using anygin::test::on_lanes;
using BlockBarrier = cuda::barrier<cuda::thread_scope_block>;

// Three warps pass a number on, one phase a step; the fourth only arrives.
TEST(CudaBarrier, PhasesHoldLanesTogether) {
  const std::vector<int> out = on_lanes<int>(
      128,
      [](int* result) {
        auto* barrier = reinterpret_cast<BlockBarrier*>(result + 200);
        if (threadIdx.x == 0) init(barrier, 128);
        __syncthreads();
        int sum = 0;
        for (int step = 0; step < 5; ++step) {
          if (threadIdx.x == static_cast<unsigned>(step)) result[150] = 10 * step;
          if (threadIdx.x >= 96) {
            const auto token = barrier->arrive();
            barrier->wait(token);
          } else {
            barrier->arrive_and_wait();
          }
          sum += result[150];
          barrier->arrive_and_wait();
        }
        result[threadIdx.x] = sum;
      },
      256);
  for (int i = 0; i < 128; ++i) ASSERT_EQ(out[static_cast<size_t>(i)], 100) << i;
}

TEST(CudaBarrier, ArrivalsCount) {
  BlockBarrier barrier(3);
  const auto first = barrier.arrive();
  EXPECT_FALSE(barrier.try_wait(first));
  const auto second = barrier.arrive(2);
  EXPECT_EQ(first, second);
  EXPECT_TRUE(barrier.try_wait(first));
  const auto next = barrier.arrive();
  EXPECT_NE(next, first);
  barrier.arrive_and_drop();
  EXPECT_FALSE(barrier.try_wait(next));
  const auto last = barrier.arrive();  // completes; two are expected from now on
  EXPECT_TRUE(barrier.try_wait(last));
  const auto smaller = barrier.arrive(2);
  EXPECT_TRUE(barrier.try_wait(smaller));
}

TEST(CudaStd, NamesAreTheHostLibrarys) {
  EXPECT_EQ(cuda::std::clamp(5, 1, 3), 3);
  EXPECT_EQ(cuda::std::plus<int>()(2, 3), 5);
  EXPECT_EQ(cuda::std::optional<int>(4).value(), 4);
  EXPECT_EQ(cuda::std::sqrt(9.0), 3.0);
}

}  // namespace
