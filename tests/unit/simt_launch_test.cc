// SPDX-License-Identifier: Apache-2.0
// Launches: indices, limits, barriers, lanes that exit early, many lanes.
#include <atomic>
#include <vector>

#include "unit/simt_kernels.h"

namespace anygin::simt {
namespace {

struct Shape {
  Index3 grid, block;
};

class SimtIndices : public testing::TestWithParam<Shape> {};

TEST_P(SimtIndices, EveryThreadRunsOnceAndKnowsItsPlace) {
  const auto [grid, block] = GetParam();
  const size_t threads = size_t{grid.x} * grid.y * grid.z * block.x * block.y * block.z;
  std::vector<int> seen(threads, 0);
  int* runs = seen.data();
  ASSERT_EQ(0, run({grid, block}, [runs] {
              ++runs[global_thread()];
              anygin_syncthreads();
              ++runs[global_thread()];
            }));
  EXPECT_EQ(seen, std::vector<int>(threads, 2));
}

INSTANTIATE_TEST_SUITE_P(Shapes, SimtIndices,
                         testing::Values(Shape{{1, 1, 1}, {1, 1, 1}}, Shape{{3, 1, 1}, {33, 1, 1}},
                                         Shape{{2, 3, 1}, {5, 7, 1}}, Shape{{2, 3, 4}, {3, 5, 7}},
                                         Shape{{1, 1, 5}, {1, 1, 64}}, Shape{{7, 1, 1}, {1024, 1, 1}}));

class SimtLaunch : public SimtTest {};
class SimtBarrier : public SimtTest {};

TEST_F(SimtLaunch, ShapesBeyondTheLimitsAreRefused) {
  const auto nothing = [] {};
  EXPECT_EQ(kCudaInvalidConfiguration, launch_callable({{0, 1, 1}, {32, 1, 1}}, nothing));
  EXPECT_EQ(kCudaInvalidConfiguration, launch_callable({{1, 65536, 1}, {32, 1, 1}}, nothing));
  EXPECT_EQ(kCudaInvalidConfiguration, launch_callable({{1, 1, 1}, {1025, 1, 1}}, nothing));
  EXPECT_EQ(kCudaInvalidConfiguration, launch_callable({{1, 1, 1}, {1, 1, 65}}, nothing));
  EXPECT_EQ(kCudaInvalidConfiguration, launch_callable({{1, 1, 1}, {32, 33, 1}}, nothing));
  EXPECT_EQ(kCudaInvalidValue, launch_callable({{1, 1, 1}, {32, 1, 1}, 227 * 1024 + 1}, nothing));
  EXPECT_EQ(kCudaInvalidValue, last_error(true));
  EXPECT_EQ(kCudaSuccess, last_error(false));
  LaunchShape cooperative = blocks_of(33, 1024);
  cooperative.cooperative = true;
  EXPECT_EQ(kCudaCooperativeLaunchTooLarge, launch_callable(cooperative, nothing));
  cooperative.grid.x = 32;
  EXPECT_EQ(0, run(cooperative, nothing));
  EXPECT_EQ(0, run({{1, 1, 1}, {32, 32, 1}, 227 * 1024}, nothing));
}

TEST_F(SimtLaunch, ArgumentsAreDestroyedOnceAlsoOfARefusedLaunch) {
  const auto counted = std::make_shared<int>(7);
  EXPECT_EQ(0, run(blocks_of(4, 64), [counted] { ASSERT_EQ(7, *counted); }));
  EXPECT_EQ(1, counted.use_count());
  EXPECT_EQ(kCudaInvalidConfiguration, launch_callable(blocks_of(0, 64), [counted] {}));
  EXPECT_EQ(1, counted.use_count());
}

void kernel_with_bounds() {}

TEST_F(SimtLaunch, KernelsAreFoundByAddressAndLaunchBoundsAreChecked) {
  static const KernelRecord record{
      reinterpret_cast<const void*>(&kernel_with_bounds), "kernel_with_bounds", 0, nullptr, nullptr, 128};
  EXPECT_EQ(nullptr, anygin_find_kernel(&record));
  anygin_register_kernel(&record);
  EXPECT_EQ(&record, anygin_find_kernel(record.function));
  EXPECT_EQ(kCudaLaunchOutOfResources, launch_callable(blocks_of(1, 129), kernel_with_bounds, record.function));
  EXPECT_EQ(0, launch_callable(blocks_of(1, 128), kernel_with_bounds, record.function));
  EXPECT_EQ(0, synchronize_device(0));
}

TEST_F(SimtBarrier, HoldsTheWholeBlockWith65536Lanes) {
  constexpr unsigned kBlocks = 128, kThreads = 512;
  std::vector<std::atomic<unsigned>> arrived(kBlocks);
  std::atomic<unsigned> early{0};
  auto* counts = arrived.data();
  auto* wrong = &early;
  ASSERT_EQ(0, run(blocks_of(kBlocks, kThreads), [=] {
              for (unsigned round = 1; round <= 3; ++round) {
                ++counts[anygin_block_idx.x];
                anygin_syncthreads();
                if (counts[anygin_block_idx.x] != round * kThreads) ++*wrong;
                anygin_syncthreads();
              }
            }));
  EXPECT_EQ(0u, early.load());
}

TEST_F(SimtBarrier, LanesThatExitAreNotWaitedFor) {
  constexpr unsigned kThreads = 100;
  std::vector<int> rounds(kThreads, 0);
  int* counts = rounds.data();
  ASSERT_EQ(0, run(blocks_of(1, kThreads), [counts] {
              for (unsigned round = 0; round < anygin_thread_idx.x; ++round) {
                anygin_syncthreads();
                ++counts[anygin_thread_idx.x];
                if (anygin_thread_idx.x % 7 == 3 && round == 50) anygin_lane_exit();
              }
            }));
  for (unsigned thread = 0; thread < kThreads; ++thread) {
    EXPECT_EQ(thread % 7 == 3 && thread > 50 ? 51 : static_cast<int>(thread), rounds[thread]) << thread;
  }
}

TEST_F(SimtBarrier, ReductionsCountAndAndOr) {
  constexpr unsigned kThreads = 200;
  std::vector<int> wrong(kThreads, 0);
  int* errors = wrong.data();
  ASSERT_EQ(0, run(blocks_of(1, kThreads), [errors] {
              const int me = static_cast<int>(anygin_thread_idx.x);
              for (int limit = 0; limit <= static_cast<int>(kThreads); limit += 50) {
                errors[me] += anygin_syncthreads_reduce(BlockReduce::kCount, me < limit) != limit;
                errors[me] += anygin_syncthreads_reduce(BlockReduce::kAnd, me < limit) != (limit == kThreads);
                errors[me] += anygin_syncthreads_reduce(BlockReduce::kOr, me < limit) != (limit > 0);
                anygin_syncthreads();
              }
            }));
  EXPECT_EQ(wrong, std::vector<int>(kThreads, 0));
}

TEST_F(SimtBarrier, NamedBarriersJoinSomeWarps) {
  constexpr unsigned kThreads = 128;
  std::atomic<int> first{0}, second{0}, wrong{0};
  auto* counts = &first;
  auto* others = &second;
  auto* errors = &wrong;
  // Warps 0 and 1 meet at barrier 1, warps 2 and 3 at barrier 2; a lane of warp 3 exits before, and counts as there.
  ASSERT_EQ(0, run(blocks_of(1, kThreads), [=] {
              const unsigned warp = anygin_thread_idx.x / 32;
              if (anygin_thread_idx.x == 127) return;
              auto* mine = warp < 2 ? counts : others;
              ++*mine;
              anygin_named_barrier(warp < 2 ? 1 : 2, 64);
              if (*mine != (warp < 2 ? 64 : 63)) ++*errors;
            }));
  EXPECT_EQ(0, wrong.load());
}

TEST_F(SimtBarrier, AMillionLanesInTurn) {
  std::atomic<uint64_t> sum{0};
  auto* total = &sum;
  ASSERT_EQ(0, run(blocks_of(4096, 256), [total] {
              if (anygin_thread_idx.x == 0) total->fetch_add(anygin_block_idx.x, std::memory_order_relaxed);
            }));
  EXPECT_EQ(4096u * 4095 / 2, sum.load());
}

}  // namespace
}  // namespace anygin::simt
