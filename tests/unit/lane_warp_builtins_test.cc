// SPDX-License-Identifier: Apache-2.0
// Builtins of a warp and a block, on lanes.
#include <gtest/gtest.h>

#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "lane_builtins.h"

namespace {

using anygin::test::on_lanes;
constexpr unsigned kAll = 0xffffffffu;

int expected_of(int lane, int width, const char* kind, int amount) {
  const int first = lane & ~(width - 1);
  if (kind[0] == 'i') return first + (amount & (width - 1));
  const int source = kind[0] == 'u' ? lane - amount : kind[0] == 'd' ? lane + amount : lane ^ amount;
  if (kind[0] == 'u') return source < first ? lane : source;
  return source >= first + width ? lane : source;
}

TEST(WarpBuiltins, ShufflesOfEveryWidthAndDistance) {
  for (int width : {1, 2, 4, 8, 16, 32}) {
    for (int amount : {0, 1, 3, 7, 16, 31}) {
      const auto seen = on_lanes<int4>(64, [=](int4* out) {
        const int value = static_cast<int>(threadIdx.x);
        int4 got;
        got.x = __shfl_sync(kAll, value, amount, width);
        got.y = __shfl_up_sync(kAll, value, static_cast<unsigned>(amount), width);
        got.z = __shfl_down_sync(kAll, value, static_cast<unsigned>(amount), width);
        got.w = __shfl_xor_sync(kAll, value, amount, width);
        out[threadIdx.x] = got;
      });
      for (int thread = 0; thread < 64; ++thread) {
        const int lane = thread % 32, warp = thread - lane;
        const int4 got = seen[static_cast<size_t>(thread)];
        ASSERT_EQ(got.x, warp + expected_of(lane, width, "index", amount)) << thread << " " << width << " " << amount;
        ASSERT_EQ(got.y, warp + expected_of(lane, width, "up", amount)) << thread << " " << width << " " << amount;
        ASSERT_EQ(got.z, warp + expected_of(lane, width, "down", amount)) << thread << " " << width << " " << amount;
        ASSERT_EQ(got.w, warp + expected_of(lane, width, "xor", amount)) << thread << " " << width << " " << amount;
      }
    }
  }
}

TEST(WarpBuiltins, ShufflesMoveEveryType) {
  struct Result {
    double d;
    unsigned long long u;
    float f, half, pair_high, brain;
  };
  const auto seen = on_lanes<Result>(32, [](Result* out) {
    const auto me = threadIdx.x;
    Result got;
    got.d = __shfl_sync(kAll, me * 0.5, 3);
    got.u = __shfl_sync(kAll, (1ull << 40) + me, 4);
    got.f = __shfl_xor_sync(kAll, me * 2.0f, 1);
    got.half = __half2float(__shfl_sync(kAll, __float2half(me * 1.0f), 5));
    got.pair_high = __high2float(__shfl_sync(kAll, __floats2half2_rn(0.0f, me * 1.0f), 6));
    got.brain = __bfloat162float(__shfl_down_sync(kAll, __float2bfloat16(me * 1.0f), 1));
    out[me] = got;
  });
  EXPECT_EQ(seen[9].d, 1.5);
  EXPECT_EQ(seen[9].u, (1ull << 40) + 4);
  EXPECT_EQ(seen[9].f, 16.0f);
  EXPECT_EQ(seen[9].half, 5.0f);
  EXPECT_EQ(seen[9].pair_high, 6.0f);
  EXPECT_EQ(seen[9].brain, 10.0f);
  EXPECT_EQ(seen[31].brain, 31.0f);
}

TEST(WarpBuiltins, VotesAndMatches) {
  const auto seen = on_lanes<uint4>(32, [](uint4* out) {
    const unsigned me = threadIdx.x;
    int all_equal = -1;
    uint4 got;
    got.x = __ballot_sync(kAll, me % 3 == 0);
    got.y = static_cast<unsigned>(__any_sync(kAll, me == 31) + 2 * __all_sync(kAll, me < 31) + 4 * __all_sync(kAll, 1) +
                                  8 * __any_sync(kAll, 0));
    got.z = __match_any_sync(kAll, me / 8);
    got.w = __match_all_sync(kAll, 7ull, &all_equal) & (all_equal == 1 ? kAll : 0u);
    out[me] = got;
  });
  EXPECT_EQ(seen[0].x, 0x49249249u);
  EXPECT_EQ(seen[5].y, 5u);
  EXPECT_EQ(seen[0].z, 0x000000ffu);
  EXPECT_EQ(seen[31].z, 0xff000000u);
  EXPECT_EQ(seen[17].w, kAll);
}
TEST(WarpBuiltins, MatchAllSeesADifference) {
  const auto seen = on_lanes<int2>(32, [](int2* out) {
    int all_equal = -1;
    const unsigned mask = __match_all_sync(kAll, static_cast<int>(threadIdx.x == 4), &all_equal);
    out[threadIdx.x] = make_int2(static_cast<int>(mask), all_equal);
  });
  EXPECT_EQ(seen[4].x, 0);
  EXPECT_EQ(seen[4].y, 0);
}

TEST(WarpBuiltins, PartOfAWarpMayTakePart) {
  const auto seen = on_lanes<unsigned>(32, [](unsigned* out) {
    if (threadIdx.x < 8) {
      out[threadIdx.x] = __ballot_sync(0xffu, threadIdx.x & 1);
    } else if (threadIdx.x < 16) {
      out[threadIdx.x] = __reduce_add_sync(0xff00u, threadIdx.x);
    }
  });
  EXPECT_EQ(seen[3], 0xaau);
  EXPECT_EQ(seen[8], 92u);
  EXPECT_EQ(seen[16], 0u);
}

TEST(WarpBuiltins, Reductions) {
  const auto seen = on_lanes<int4>(32, [](int4* out) {
    const int me = static_cast<int>(threadIdx.x);
    int4 got;
    got.x = __reduce_add_sync(kAll, me - 16);
    got.y = __reduce_min_sync(kAll, me - 16) * 100 + __reduce_max_sync(kAll, me - 16);
    got.z = static_cast<int>(__reduce_max_sync(kAll, static_cast<unsigned>(me - 16)));
    got.w = static_cast<int>(__reduce_or_sync(kAll, 1u << me) ^ __reduce_and_sync(kAll, ~(1u << me)) ^
                             __reduce_xor_sync(kAll, threadIdx.x == 3 ? 8u : 0u));
    out[me] = got;
  });
  EXPECT_EQ(seen[7].x, -16);
  EXPECT_EQ(seen[7].y, -1600 + 15);
  EXPECT_EQ(seen[7].z, -1);
  EXPECT_EQ(static_cast<unsigned>(seen[7].w), 0xfffffff7u);
}

TEST(BlockBuiltins, BarriersCount) {
  const auto seen = on_lanes<int>(96, [](int* out) {
    const int me = static_cast<int>(threadIdx.x);
    const int count = __syncthreads_count(me < 40);
    const int all = __syncthreads_and(me >= 0), some = __syncthreads_or(me == 95), none = __syncthreads_or(0);
    out[me] = count * 1000 + all * 100 + some * 10 + none;
  });
  for (int one : seen) ASSERT_EQ(one, 40110);
}
TEST(BlockBuiltins, LanesSeeTheirWords) {
  const auto seen = on_lanes<int>(40, [](int* out) {
    const dim3 block = blockDim;
    const uint3 where = blockIdx;
    out[threadIdx.x] = static_cast<int>(threadIdx.x + block.x * 100 + gridDim.x * 10000 + where.x) + warpSize;
  });
  EXPECT_EQ(seen[39], 39 + 4000 + 10000 + 32);
}
TEST(BlockBuiltins, ClockRunsAndSleepTakesTime) {
  const auto seen = on_lanes<long long>(1, [](long long* out) {
    const long long before = clock64();
    __nanosleep(1'000'000);
    out[0] = clock64() - before;
  });
  EXPECT_GE(seen[0], 1'000'000);
  EXPECT_LT(seen[0], 10'000'000'000ll);
}

}  // namespace
