// SPDX-License-Identifier: Apache-2.0
// Warp operations against what the lanes brought.
#include <array>
#include <cstring>
#include <vector>

#include "unit/simt_kernels.h"

namespace anygin::simt {
namespace {

constexpr uint32_t kAll = 0xffffffff;

class SimtWarp : public SimtTest {};

unsigned lane_of_caller() {
  return anygin_thread_idx.x % 32;
}

template <typename T>
T shuffle(T value, int source, uint32_t mask = kAll) {
  WarpOp op;
  op.kind = WarpOpKind::kShuffle;
  op.mask = mask;
  op.source_lane = source;
  op.bytes = sizeof(T);
  op.value = op.result = &value;
  anygin_warp_op(&op);
  return value;
}

uint64_t warp_result(WarpOpKind kind, uint64_t predicate, unsigned bytes = 4, bool is_signed = false,
                     uint32_t mask = kAll) {
  uint64_t result = 0;
  WarpOp op;
  op.kind = kind;
  op.mask = mask;
  op.bytes = bytes;
  op.result = &result;
  op.predicate = predicate;
  op.is_signed = is_signed;
  anygin_warp_op(&op);
  return result;
}

TEST_F(SimtWarp, ShufflesOfEverySizeReadTheSourceLane) {
  struct Wide {
    uint64_t part[5];
  };
  std::vector<int> wrong(128, 0);
  int* errors = wrong.data();
  ASSERT_EQ(0, run(blocks_of(1, 128), [errors] {
              const unsigned me = anygin_thread_idx.x, warp = me / 32 * 32;
              for (unsigned step = 1; step < 32; step *= 2) {
                const unsigned from = lane_of_caller() ^ step;
                errors[me] += shuffle<uint32_t>(me * 3, static_cast<int>(from)) != (warp + from) * 3;
                errors[me] += shuffle<uint8_t>(static_cast<uint8_t>(me), static_cast<int>(from)) != warp + from;
                errors[me] += shuffle<double>(me * 0.5, static_cast<int>(from)) != (warp + from) * 0.5;
                errors[me] += shuffle<Wide>({{me, 1, 2, 3, me}}, static_cast<int>(from)).part[4] != warp + from;
              }
            }));
  EXPECT_EQ(wrong, std::vector<int>(128, 0));
}

TEST_F(SimtWarp, AShuffleFromALaneOutsideTheMaskGivesTheOwnValue) {
  std::vector<int> got(32, -1);
  int* values = got.data();
  ASSERT_EQ(0, run(blocks_of(1, 32), [values] {
              if (lane_of_caller() < 8)
                values[lane_of_caller()] = shuffle<int>(static_cast<int>(lane_of_caller()), 9, 0xff);
            }));
  for (int lane = 0; lane < 8; ++lane) EXPECT_EQ(lane, got[static_cast<size_t>(lane)]);
}

TEST_F(SimtWarp, BallotAndMatch) {
  std::vector<int> wrong(64, 0);
  int* errors = wrong.data();
  ASSERT_EQ(0, run(blocks_of(1, 64), [errors] {
              const unsigned lane = lane_of_caller(), me = anygin_thread_idx.x;
              errors[me] += warp_result(WarpOpKind::kBallot, lane % 3 == 0) != 0x49249249u;
              errors[me] += warp_result(WarpOpKind::kMatchAny, lane / 8) != 0xffu << lane / 8 * 8;
              errors[me] += warp_result(WarpOpKind::kMatchAll, 5) != kAll;
              errors[me] += warp_result(WarpOpKind::kMatchAll, lane == 31) != 0;
            }));
  EXPECT_EQ(wrong, std::vector<int>(64, 0));
}

TEST_F(SimtWarp, Reductions) {
  std::vector<int> wrong(32, 0);
  int* errors = wrong.data();
  ASSERT_EQ(0, run(blocks_of(1, 32), [errors] {
              const uint64_t lane = lane_of_caller();
              const auto negative = static_cast<uint64_t>(-static_cast<int64_t>(lane));
              auto check = [&](uint64_t got, uint64_t want) { errors[lane] += got != want; };
              check(warp_result(WarpOpKind::kReduceAdd, lane), 496);
              check(warp_result(WarpOpKind::kReduceAdd, ~uint64_t{0}, 8), ~uint64_t{31});
              check(warp_result(WarpOpKind::kReduceMin, negative, 8, true), static_cast<uint64_t>(-31));
              check(warp_result(WarpOpKind::kReduceMin, negative, 8, false), 0);
              check(warp_result(WarpOpKind::kReduceMax, negative, 8, true), 0);
              check(warp_result(WarpOpKind::kReduceMax, lane), 31);
              check(warp_result(WarpOpKind::kReduceAnd, lane | 64), 64);
              check(warp_result(WarpOpKind::kReduceOr, uint64_t{1} << lane), kAll);
              check(warp_result(WarpOpKind::kReduceXor, lane == 4 || lane == 9 ? lane : 0), 13);
            }));
  EXPECT_EQ(wrong, std::vector<int>(32, 0));
}

TEST_F(SimtWarp, DisjointMasksMeetSeparatelyAndLanesMayMixTheirOrder) {
  std::vector<uint64_t> sums(32, 0);
  uint64_t* results = sums.data();
  ASSERT_EQ(0, run(blocks_of(1, 32), [results] {
              const unsigned lane = lane_of_caller();
              const uint32_t pair = 3u << lane / 2 * 2;
              uint64_t sum = warp_result(WarpOpKind::kReduceAdd, lane, 4, false, pair);
              // Lane 0 waits for lane 31, which first meets lane 30.
              if (lane >= 30) sum += warp_result(WarpOpKind::kReduceAdd, 1, 4, false, 0xc0000000);
              if (lane == 0 || lane == 31) sum += warp_result(WarpOpKind::kReduceAdd, 100, 4, false, 0x80000001);
              results[lane] = sum;
            }));
  for (uint64_t lane = 0; lane < 32; ++lane) {
    uint64_t want = lane / 2 * 4 + 1;
    if (lane >= 30) want += 2;
    if (lane == 0 || lane == 31) want += 200;
    EXPECT_EQ(want, sums[lane]) << lane;
  }
}

TEST_F(SimtWarp, AnExitReleasesTheOthersOfTheMask) {
  std::vector<uint64_t> ballots(32, 0);
  uint64_t* results = ballots.data();
  ASSERT_EQ(0, run(blocks_of(1, 32), [results] {
              if (lane_of_caller() == 31) return;
              results[lane_of_caller()] = warp_result(WarpOpKind::kBallot, 1);
            }));
  for (size_t lane = 0; lane < 31; ++lane) EXPECT_EQ(0x7fffffffu, ballots[lane]);
  ASSERT_EQ(0, run(blocks_of(1, 20), [results] { results[lane_of_caller()] = warp_result(WarpOpKind::kBallot, 1); }));
  for (size_t lane = 0; lane < 20; ++lane) EXPECT_EQ(0xfffffu, ballots[lane]);
}

TEST_F(SimtWarp, ActiveMaskJoinsTheLanesThatCameToTheSamePlace) {
  std::vector<uint32_t> masks(64, 0);
  uint32_t* results = masks.data();
  ASSERT_EQ(0, run(blocks_of(1, 64), [results] {
              const unsigned me = anygin_thread_idx.x;
              if (me % 2 == 0) {
                results[me] = anygin_activemask();
              } else if (me > 32) {
                results[me] = ~anygin_activemask();  // written differently, so that the compiler keeps two places
              }
            }));
  for (unsigned thread = 0; thread < 64; ++thread) {
    const uint32_t odd = thread > 32 ? ~0xaaaaaaaa : 0;
    EXPECT_EQ(thread % 2 == 0 ? 0x55555555u : odd, masks[thread]) << thread;
  }
}

TEST_F(SimtWarp, DivergentOperationsAreReportedWithBothPlaces) {
  testing::internal::CaptureStderr();
  const int error = run(blocks_of(1, 32), [] {
    uint32_t result = 0;
    WarpOp op;
    op.kind = lane_of_caller() == 17 ? WarpOpKind::kReduceAdd : WarpOpKind::kBallot;
    op.bytes = 4;
    op.result = &result;
    op.call_site = lane_of_caller() == 17 ? reinterpret_cast<const void*>(&anygin_trap)
                                          : reinterpret_cast<const void*>(&anygin_yield);
    anygin_warp_op(&op);
  });
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_EQ(kCudaLaunchFailure, error);
  EXPECT_NE(std::string::npos, report.find("lane 17 came with reduce_add(mask 0xffffffff) at lane_wait.cc:")) << report;
  EXPECT_NE(std::string::npos, report.find("waits for it in ballot(mask 0xffffffff) at lane_host.cc:")) << report;
}

TEST_F(SimtWarp, AMaskWithoutTheCallerIsReported) {
  testing::internal::CaptureStderr();
  const int error = run(blocks_of(1, 32), [] { warp_result(WarpOpKind::kBallot, 1, 4, false, 0xfffffffe); });
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_EQ(kCudaLaunchFailure, error);
  EXPECT_NE(std::string::npos, report.find("lane 0 of the warp called ballot with mask 0xfffffffe")) << report;
}

}  // namespace
}  // namespace anygin::simt
