// SPDX-License-Identifier: Apache-2.0
// Cooperative groups: ranks, sizes, exchanges and barriers of every kind of group.
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

#include "unit/lane_builtins.h"

namespace {

namespace cg = cooperative_groups;
using anygin::test::on_lanes;

TEST(CooperativeGroups, TilesAreNumberedAndExchange) {
  const std::vector<int> out = on_lanes<int>(64, [](int* result) {
    const auto block = cg::this_thread_block();
    const auto tile = cg::tiled_partition<8>(block);
    const int rank = static_cast<int>(tile.thread_rank());
    int value = static_cast<int>(tile.meta_group_rank()) * 1000000 + static_cast<int>(tile.meta_group_size()) * 10000;
    value += tile.shfl(rank, 3) * 1000;
    value += tile.shfl_xor(rank, 1) * 100;
    value += tile.shfl_down(rank, 2) * 10;
    value += tile.shfl_up(rank, 1);
    result[block.thread_rank()] = value;
  });
  EXPECT_EQ(out[0], 83120);
  EXPECT_EQ(out[7], 83676);
  EXPECT_EQ(out[63], 7083676);
}

TEST(CooperativeGroups, TilesOfTiles) {
  const std::vector<unsigned> out = on_lanes<unsigned>(32, [](unsigned* result) {
    const cg::thread_block_tile<16> half = cg::tiled_partition<16>(cg::this_thread_block());
    const auto quarter = cg::tiled_partition<4>(half);
    result[threadIdx.x] =
        quarter.meta_group_rank() * 1000 + quarter.meta_group_size() * 100 + quarter.ballot(threadIdx.x % 3 == 0);
  });
  EXPECT_EQ(out[0], 409u);         // lanes 0 and 3 of 0..3
  EXPECT_EQ(out[31], 3400u + 4u);  // lane 30 of 28..31
}

TEST(CooperativeGroups, VotesAndMatchesCountRanks) {
  const std::vector<unsigned> out = on_lanes<unsigned>(32, [](unsigned* result) {
    if (threadIdx.x % 2 == 0) return;
    const auto odd = cg::labeled_partition(cg::coalesced_group(0xaaaaaaaau), 1);
    int all_equal = 7;
    unsigned value = odd.size() * 10000000 + odd.thread_rank() * 100000;
    value += static_cast<unsigned>(odd.any(threadIdx.x == 3)) * 10000;
    value += static_cast<unsigned>(odd.all(threadIdx.x == 3)) * 1000;
    value += odd.match_all(5, all_equal) == 0xffffu ? 100 : 0;
    value += static_cast<unsigned>(all_equal);
    value += odd.ballot(threadIdx.x == 3) * 10;
    result[threadIdx.x] = value;
  });
  EXPECT_EQ(out[0], 0u);
  EXPECT_EQ(out[1], 160010121u);
  EXPECT_EQ(out[31], 161510121u);
}

TEST(CooperativeGroups, LanesThatComeTogether) {
  const std::vector<int> out = on_lanes<int>(32, [](int* result) {
    if (threadIdx.x < 20) return;
    const cg::coalesced_group together = cg::coalesced_threads();
    result[threadIdx.x] = static_cast<int>(together.size() * 100 + together.thread_rank());
  });
  EXPECT_EQ(out[19], 0);
  EXPECT_EQ(out[20], 1200);
  EXPECT_EQ(out[31], 1211);
}

TEST(CooperativeGroups, PartitionsByPredicateAndSize) {
  const std::vector<unsigned> out = on_lanes<unsigned>(32, [](unsigned* result) {
    const auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    const auto part = cg::binary_partition(warp, threadIdx.x < 10);
    const auto piece = cg::tiled_partition(part, 4);
    result[threadIdx.x] = part.size() * 1000 + piece.meta_group_rank() * 100 + piece.size() * 10 + piece.thread_rank();
  });
  EXPECT_EQ(out[0], 10040u);
  EXPECT_EQ(out[9], 10221u);
  EXPECT_EQ(out[10], 22040u);
  EXPECT_EQ(out[31], 22521u);
}

struct Wide {
  double values[3];
};
TEST(CooperativeGroups, ReductionsAndScans) {
  const std::vector<int> out = on_lanes<int>(32, [](int* result) {
    const auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    const int value = static_cast<int>(tile.thread_rank()) + 1;
    const Wide wide = tile.shfl(Wide{{1, 2, double(value)}}, 4);
    int sum = cg::reduce(tile, value, cg::plus<int>()) * 1000000;
    sum += cg::reduce(tile, value, cg::greater<int>()) * 10000;
    sum += cg::inclusive_scan(tile, value) * 10;
    sum += wide.values[2] == 5 ? cg::exclusive_scan(tile, value, cg::bit_or<int>()) % 10 : 0;
    result[threadIdx.x] = sum;
  });
  EXPECT_EQ(out[0], 136160010);
  EXPECT_EQ(out[2], 136160063);
  EXPECT_EQ(out[31], 136161365);
}

int in_any_group(const cg::thread_group& group) {
  group.sync();
  return static_cast<int>(group.size() * 100 + group.thread_rank());
}
TEST(CooperativeGroups, AnyGroupByValue) {
  const std::vector<int> out = on_lanes<int>(40, [](int* result) {
    const auto block = cg::this_thread_block();
    result[threadIdx.x] = in_any_group(block) * 10000 + in_any_group(cg::tiled_partition(block, 16));
  });
  EXPECT_EQ(out[39], 40390807);  // the last tile has the 8 threads that there are
  EXPECT_EQ(out[17], 40171601);
}

TEST(CooperativeGroups, CopiesTogether) {
  const std::vector<int> out = on_lanes<int>(
      64,
      [](int* result) {
        const auto block = cg::this_thread_block();
        for (int i = static_cast<int>(threadIdx.x); i < 1000; i += 64) result[i] = i;
        block.sync();
        cg::memcpy_async(block, result + 1000, result, 1000 * sizeof(int));
        cg::wait(block);
        if (threadIdx.x == 0) result[2000] = result[1999];
      },
      2001);
  EXPECT_EQ(out[1000], 0);
  EXPECT_EQ(out[1999], 999);
  EXPECT_EQ(out[2000], 999);
}

// Every block adds to a word between two barriers, ten times; each sees all of the round and nothing of the next one.
TEST(CooperativeGroups, AGridMeets) {
  constexpr unsigned kBlocks = 24, kRounds = 10;
  unsigned* words = nullptr;
  ASSERT_EQ(cudaMallocHost(&words, (kBlocks + 1) * sizeof(unsigned)), cudaSuccess);
  for (unsigned i = 0; i <= kBlocks; ++i) words[i] = 0;
  anygin::simt::LaunchShape shape;
  shape.grid = {kBlocks / 2, 2, 1};
  shape.block = {64, 1, 1};
  shape.cooperative = true;
  ASSERT_EQ(anygin::simt::launch_callable(shape,
                                          [=] {
                                            const auto grid = cg::this_grid();
                                            unsigned right = 0;
                                            for (unsigned round = 1; round <= kRounds; ++round) {
                                              if (threadIdx.x == 5) atomicAdd(words, 1u);
                                              grid.sync();
                                              right += *static_cast<volatile unsigned*>(words) == round * kBlocks;
                                              grid.sync();
                                            }
                                            if (threadIdx.x == 63) words[1 + grid.block_rank()] = right;
                                          }),
            cudaSuccess);
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);  // waits for the grid; ctest bounds it
  for (unsigned i = 1; i <= kBlocks; ++i) EXPECT_EQ(words[i], kRounds) << "block " << i - 1;
  EXPECT_EQ(cudaFreeHost(words), cudaSuccess);
}

TEST(CooperativeGroups, AGridThatIsNotCooperativeSaysSo) {
  const std::vector<int> out = on_lanes<int>(2, [](int* result) { result[threadIdx.x] = cg::this_grid().is_valid(); });
  EXPECT_EQ(out[1], 0);
  ASSERT_EQ(cudaSetDevice(4), cudaSuccess);
  ASSERT_EQ(anygin::simt::launch_callable({}, [] { cg::this_grid().sync(); }), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  cudaGetLastError();
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

TEST(CooperativeGroups, AClusterIsABlock) {
  const std::vector<unsigned> out = on_lanes<unsigned>(32, [](unsigned* result) {
    const auto cluster = cg::this_cluster();
    cluster.sync();
    result[threadIdx.x] = cluster.num_blocks() * 10 + cluster.block_rank();
  });
  EXPECT_EQ(out[31], 10u);
}

}  // namespace
