// SPDX-License-Identifier: Apache-2.0
// Cooperative groups: a grid barrier in a cooperative launch, blocks, tiles, coalesced lanes.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#include "corpus_threads.h"

namespace cg = cooperative_groups;

__global__ void two_phases(int* values, int* total) {
  cg::grid_group grid = cg::this_grid();
  cg::thread_block block = cg::this_thread_block();
  const auto id = static_cast<int>(grid.thread_rank());
  values[id] = id;
  grid.sync();
  const int mirrored = values[static_cast<int>(grid.size()) - 1 - id];
  cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  const int sum = cg::reduce(tile, mirrored, cg::plus<int>());
  if (tile.thread_rank() == 0) atomicAdd(total, sum);
  block.sync();
  if (id % 2 == 0) {
    cg::coalesced_group some = cg::coalesced_threads();
    if (some.thread_rank() == 0) atomicAdd(total + 1, static_cast<int>(some.size()));
  }
}

int main(int argc, char** argv) {
  return run_threads(argc, argv, [](Ranks& ranks) {
    constexpr int kBlocks = 8, kThreads = 64, kCount = kBlocks * kThreads;
    int *values, *total;
    CUDACHECK(cudaMallocManaged(&values, kCount * sizeof(int)));
    CUDACHECK(cudaMallocManaged(&total, 2 * sizeof(int)));
    total[0] = total[1] = 0;
    void* arguments[] = {&values, &total};
    CUDACHECK(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(two_phases), dim3(kBlocks), dim3(kThreads),
                                          arguments, 0, ranks.stream));
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    const int wrong = total[0] != kCount * (kCount - 1) / 2 || total[1] != kCount / 2;
    CUDACHECK(cudaFree(values));
    CUDACHECK(cudaFree(total));
    return wrong;
  });
}
