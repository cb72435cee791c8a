// SPDX-License-Identifier: Apache-2.0
// Warps with roles: one sends, one receives, the others compute; named barriers, warp votes, coops of all kinds.
#include "corpus_mpi.h"

constexpr size_t kWords = 128, kSource = 2048;

template <typename Coop>
__device__ void send_with(Coop coop, const ncclGin& gin, ncclTeam world, ncclWindow_t window, size_t place,
                          ncclGinSignal_t signal) {
  gin.put(world, (world.rank + 1) % world.nRanks, window, place, window, kSource, kWords * sizeof(int),
          ncclGin_StrongSignalInc{signal}, ncclGin_None{}, coop);
}

__global__ void roles(ncclDevComm comm, ncclWindow_t window, int* wrong) {
  __shared__ int computed;
  ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  if (threadIdx.x == 0) computed = 0;
  auto* words = static_cast<int*>(ncclGetLocalPointer(window, kSource));
  for (size_t i = threadIdx.x; i < kWords; i += blockDim.x) words[i] = world.rank + static_cast<int>(i);
  __syncthreads();
  if (warp == 0) {
    send_with(ncclCoopWarp(), gin, world, window, 0, 0);
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else if (warp == 1) {
    gin.waitSignal(ncclCoopWarp(), 0, 1);
    asm volatile("bar.sync 1, 64;" ::: "memory");
  } else {
    const unsigned even = __ballot_sync(0xffffffffu, lane % 2 == 0);
    if (lane == 0) atomicAdd(&computed, __popc(even));
  }
  __syncthreads();
  if (threadIdx.x == 0 && computed != 2 * 16) atomicAdd(wrong, 1);
  if (warp >= 2) send_with(ncclCoopWarpSpan(2, 2, 5), gin, world, window, 4096, 1);
  if (warp == 1 && lane < 8) send_with(ncclCoopLanes{0xffu}, gin, world, window, 8192, 2);
  if (warp == 0 && lane < 16) send_with(ncclCoopTile<16>(), gin, world, window, 12288, 3);
  __syncthreads();
  for (ncclGinSignal_t signal = 1; signal < 4; ++signal) gin.waitSignal(ncclCoopAny(ncclCoopCta()), signal, 1);
  const int left = (world.rank + world.nRanks - 1) % world.nRanks;
  const auto* got = static_cast<const int*>(ncclGetLocalPointer(window, 0));
  for (size_t i = threadIdx.x; i < kWords; i += blockDim.x) {
    if (got[i] != left + static_cast<int>(i)) atomicAdd(wrong, 1);
  }
  gin.flush(ncclCoopCta());
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    Window window(ranks, 16384);
    DeviceComm device(ranks, 4);
    int* wrong;
    CUDACHECK(cudaMallocHost(&wrong, sizeof *wrong));
    *wrong = 0;
    roles<<<1, 128, 0, ranks.stream>>>(device.comm, window.handle, wrong);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    const int result = *wrong;
    CUDACHECK(cudaFreeHost(wrong));
    MPI_Barrier(MPI_COMM_WORLD);
    return result;
  });
}
