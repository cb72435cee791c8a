// SPDX-License-Identifier: Apache-2.0
// Demand 14: each rank puts to the next with a segment tag, and waits with a limit. Names of 2.32.
#pragma once

#include "corpus_mpi.h"

constexpr size_t kBytes = 2048;

__global__ void send(ncclDevComm comm, ncclWindow_t window, int* late) {
  const ncclCoopCta cta;
  ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  auto* out = static_cast<char*>(ncclGetLocalPointer(window, kBytes));
  for (size_t i = threadIdx.x; i < kBytes; i += blockDim.x) out[i] = static_cast<char>(world.rank + 1);
  gin.put(world, (world.rank + 1) % world.nRanks, window, 0, window, kBytes, kBytes, ncclGin_StrongSignalInc{0},
          ncclGin_None{}, cta, ncclGin_None{}, cuda::thread_scope_thread, cuda::thread_scope_device,
          ncclGinOptFlagsDefault, ncclGin_SegmentDevice{});
  const ncclResult_t result = gin.waitSignal(cta, 0, 1, 64, cuda::memory_order_acquire, 10000000000ull);
  gin.flush(cta);
  if (threadIdx.x == 0 && result != ncclSuccess) *late = 1;
}

// The program; `flags` are those of its window.
inline int put_round_the_ring(int argc, char** argv, int flags) {
  return run_mpi(argc, argv, [flags](Ranks& ranks) {
    Window window(ranks, 2 * kBytes, flags);
    DeviceComm device(ranks, 1);
    int* late;
    CUDACHECK(cudaMallocHost(&late, sizeof *late));
    *late = 0;
    send<<<1, 64, 0, ranks.stream>>>(device.comm, window.handle, late);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    int wrong = *late;
    CUDACHECK(cudaFreeHost(late));
    const int left = (ranks.rank + ranks.size - 1) % ranks.size;
    for (char byte : window.read<char>(kBytes)) wrong += byte != static_cast<char>(left + 1);
    return wrong;
  });
}
