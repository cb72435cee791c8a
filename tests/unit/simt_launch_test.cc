// SPDX-License-Identifier: Apache-2.0
// Launches: indices, barriers, early exits, many lanes.
#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <vector>

#include "anygin/simt/device.h"
#include "anygin/simt/device_runtime.h"

namespace anygin::simt {
namespace {

int run(const LaunchShape& shape, auto body) {
  const int error = launch_callable(shape, body);
  return error ? error : synchronize_stream(resolve_stream(shape.stream));
}

uint64_t global_thread() {
  const uint64_t block =
      anygin_block_idx.x + anygin_grid_dim.x * (anygin_block_idx.y + uint64_t{anygin_grid_dim.y} * anygin_block_idx.z);
  const uint64_t thread =
      anygin_thread_idx.x + anygin_block_dim.x * (anygin_thread_idx.y + anygin_block_dim.y * anygin_thread_idx.z);
  return block * anygin_block_dim.x * anygin_block_dim.y * anygin_block_dim.z + thread;
}

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

TEST(SimtBarrier, HoldsTheWholeBlock) {
  constexpr unsigned kBlocks = 128, kThreads = 512;
  std::vector<std::atomic<unsigned>> arrived(kBlocks);
  std::atomic<unsigned> early{0};
  auto* counts = arrived.data();
  auto* wrong = &early;
  ASSERT_EQ(0, run({{kBlocks, 1, 1}, {kThreads, 1, 1}}, [=] {
              for (unsigned round = 1; round <= 3; ++round) {
                ++counts[anygin_block_idx.x];
                anygin_syncthreads();
                if (counts[anygin_block_idx.x] < round * kThreads) ++*wrong;
                anygin_syncthreads();
              }
            }));
  EXPECT_EQ(0u, early.load());
}

}  // namespace
}  // namespace anygin::simt
