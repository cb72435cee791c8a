// SPDX-License-Identifier: Apache-2.0
// Demand 1: kernels spin on plain volatile memory; no builtin, no call of the library is inside the loops.
#include "corpus_mpi.h"

constexpr int kRounds = 20;

__global__ void relay(ncclDevComm comm, ncclWindow_t window) {
  volatile int* flag = static_cast<volatile int*>(ncclGetLocalPointer(window, 0));
  ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const int next = (world.rank + 1) % world.nRanks;
  for (int round = 1; round <= kRounds; ++round) {
    if (world.rank != 0) {
      while (*flag != round) continue;
    }
    gin.putValue(world, next, window, 0, round);
    if (world.rank == 0) {
      while (*flag < round)
        ;
    }
  }
  gin.flush(ncclCoopThread());
}

// Lane i waits for lane i + 1: the last one must get its turn.
__global__ void chain(volatile int* turns) {
  const int next = threadIdx.x + 1;
  if (next < static_cast<int>(blockDim.x)) {
    while (turns[next] == 0) {
    }
  }
  turns[threadIdx.x] = 1;
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    Window window(ranks, 4096);
    DeviceComm device(ranks, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    relay<<<1, 1, 0, ranks.stream>>>(device.comm, window.handle);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    int wrong = window.read<int>(1)[0] == kRounds ? 0 : 1;

    int* turns;
    CUDACHECK(cudaMalloc(&turns, 64 * sizeof(int)));
    CUDACHECK(cudaMemset(turns, 0, 64 * sizeof(int)));
    chain<<<1, 64, 0, ranks.stream>>>(turns);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    int first = 0;
    CUDACHECK(cudaMemcpy(&first, turns, sizeof first, cudaMemcpyDeviceToHost));
    CUDACHECK(cudaFree(turns));
    return wrong + (first == 1 ? 0 : 1);
  });
}
