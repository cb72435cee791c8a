// SPDX-License-Identifier: Apache-2.0
// Demand 13: one signal and one barrier a token; large counts are cheap.
#include "corpus_mpi.h"

constexpr unsigned kTokens = 4096;

__global__ void deliver(ncclDevComm comm, ncclWindow_t window) {
  ncclGin gin(comm, 0, NCCL_GIN_RESOURCE_SHARING_CTA);
  const ncclTeam world = ncclTeamWorld(comm);
  const int peer = (world.rank + 1) % world.nRanks;
  for (unsigned token = threadIdx.x; token < kTokens; token += blockDim.x) {
    gin.putValue(world, peer, window, token * sizeof(unsigned), token * 7 + 1, ncclGin_WeakSignalInc{token});
  }
  for (unsigned token = threadIdx.x; token < kTokens; token += blockDim.x) gin.waitSignal(ncclCoopThread(), token, 1);
  __syncthreads();
  gin.flush(ncclCoopCta());
  ncclLsaBarrierSession<ncclCoopCta> last(ncclCoopCta(), comm, ncclTeamTagLsa(), kTokens - 1);
  last.sync(ncclCoopCta(), cuda::memory_order_acq_rel);
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    Window window(ranks, kTokens * sizeof(unsigned));
    ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
    requirements.ginSignalCount = kTokens;
    requirements.lsaBarrierCount = kTokens;
    const double begin = MPI_Wtime();
    DeviceComm device(ranks, requirements);
    const double seconds = MPI_Wtime() - begin;
    deliver<<<1, 128, 0, ranks.stream>>>(device.comm, window.handle);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    int wrong = seconds < 5 ? 0 : 1;
    const std::vector<unsigned> got = window.read<unsigned>(kTokens);
    for (unsigned token = 0; token < kTokens; ++token) wrong += got[token] != token * 7 + 1;
    return wrong;
  });
}
