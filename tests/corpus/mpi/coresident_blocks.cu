// SPDX-License-Identifier: Apache-2.0
// Demand 3: as many blocks as the device has multiprocessors, each with its own barrier across the ranks.
#include "corpus_mpi.h"

__global__ void meet(ncclDevComm comm, ncclWindow_t window, int rounds) {
  const ncclCoopCta cta;
  ncclBarrierSession<ncclCoopCta> barrier(cta, ncclTeamTagWorld(), ncclGin(comm, static_cast<int>(blockIdx.x)),
                                          blockIdx.x);
  for (int round = 0; round < rounds; ++round) {
    if (threadIdx.x == 0) atomicAdd(static_cast<int*>(ncclGetLocalPointer(window, blockIdx.x * sizeof(int))), 1);
    barrier.sync(cta, cuda::memory_order_acq_rel, ncclGinFenceLevel::Relaxed);
  }
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    int device_number = 0, blocks = 0;
    CUDACHECK(cudaGetDevice(&device_number));
    CUDACHECK(cudaDeviceGetAttribute(&blocks, cudaDevAttrMultiProcessorCount, device_number));
    Window window(ranks, 4096);
    ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
    requirements.barrierCount = blocks;
    DeviceComm device(ranks, requirements);
    meet<<<blocks, 256, 0, ranks.stream>>>(device.comm, window.handle, 5);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    int wrong = 0;
    for (int count : window.read<int>(static_cast<size_t>(blocks))) wrong += count != 5;
    return wrong;
  });
}
