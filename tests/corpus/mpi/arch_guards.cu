// SPDX-License-Identifier: Apache-2.0
// Demand 6: kernel bodies behind __CUDA_ARCH__; host code tells compilers apart by __CUDACC__ and __NVCC__.
#include "corpus_mpi.h"

#if !defined(__CUDACC__) || !defined(__NVCC__)
#error "compile this with nvcc"
#endif

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
#define LATENCY_HIDING 1
#endif

__device__ inline int arch_level() {
#if defined(__CUDA_ARCH__)
#if __CUDA_ARCH__ >= 900
  return 9;
#elif __CUDA_ARCH__ >= 800
  return 8;
#else
  return 7;
#endif
#else
  return -1;
#endif
}

__global__ void who(ncclDevComm comm, ncclWindow_t window) {
#if __CUDA_ARCH__ >= 700
#ifdef LATENCY_HIDING
  ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  gin.putValue(world, (world.rank + 1) % world.nRanks, window, 0, arch_level(), ncclGin_StrongSignalInc{0});
  gin.waitSignal(ncclCoopThread(), 0, 1);
  gin.flush(ncclCoopThread());
#endif
#endif
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    Window window(ranks, 4096);
    DeviceComm device(ranks, 1);
    who<<<1, 1, 0, ranks.stream>>>(device.comm, window.handle);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    return window.read<int>(1)[0] == 9 ? 0 : 1;
  });
}
