// SPDX-License-Identifier: Apache-2.0
// Demand 9: a context a block, ncclGin(comm, blockIdx.x), with more blocks than contexts that were asked for.
#include "corpus_mpi.h"

constexpr int kBlocks = 24;

__global__ void spread(ncclDevComm comm, ncclWindow_t window) {
  ncclGin gin(comm, static_cast<int>(blockIdx.x));
  const ncclTeam world = ncclTeamWorld(comm);
  const int peer = (world.rank + 1) % world.nRanks;
  if (threadIdx.x == 0) {
    gin.putValue(world, peer, window, blockIdx.x * sizeof(int), static_cast<int>(blockIdx.x) + 1,
                 ncclGin_SignalInc{blockIdx.x});
  }
  gin.waitSignal(ncclCoopCta(), blockIdx.x, 1);
  gin.flush(ncclCoopCta());
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    Window window(ranks, 4096);
    ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
    requirements.ginSignalCount = kBlocks;
    requirements.ginContextCount = 4;  // a hint
    DeviceComm device(ranks, requirements);
    int wrong = device.comm.ginContextCount < 16;
    spread<<<kBlocks, 32, 0, ranks.stream>>>(device.comm, window.handle);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    const std::vector<int> got = window.read<int>(kBlocks);
    for (int i = 0; i < kBlocks; ++i) wrong += got[static_cast<size_t>(i)] != i + 1;
    return wrong;
  });
}
