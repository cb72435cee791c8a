// SPDX-License-Identifier: Apache-2.0
// Demand 11: headers included by their own names; the device communicator copied to device memory by sizeof, its fields
// read.
#include <cuda_runtime.h>
#include <nccl.h>
#include <nccl_device/barrier.h>
#include <nccl_device/coop.h>
#include <nccl_device/core.h>
#include <nccl_device/gin.h>
#include <nccl_device/impl/barrier__funcs.h>
#include <nccl_device/impl/comm__types.h>
#include <nccl_device/impl/core__funcs.h>
#include <nccl_device/impl/gin__funcs.h>
#include <nccl_device/lsa_barrier.h>
#include <nccl_device/ptr.h>
#include <nccl_device/utility.h>

#include "corpus_mpi.h"

struct Seen {
  int rank, ranks, lsa_rank, lsa_size, contexts;
  bool has_resources;
};

__global__ void read_fields(const ncclDevComm* comm, Seen* seen) {
  seen->rank = comm->rank;
  seen->ranks = comm->nRanks;
  seen->lsa_rank = comm->lsaRank;
  seen->lsa_size = comm->lsaSize;
  seen->contexts = static_cast<int>(comm->ginContextCount);
  seen->has_resources = comm->resourceWindow != nullptr;
}

__global__ void barrier_through_memory(const ncclDevComm* comm) {
  ncclCoopCta cta;
  ncclLsaBarrierSession<ncclCoopCta> lsa(cta, *comm, ncclTeamLsa(*comm), comm->lsaBarrier, blockIdx.x);
  lsa.arrive(cta, cuda::memory_order_release);
  lsa.wait(cta, cuda::memory_order_acquire);
  ncclGinBarrierSession<ncclCoopCta> rail(cta, ncclGin(*comm, 0), ncclTeamRail(*comm), comm->railGinBarrier,
                                          blockIdx.x);
  rail.sync(cta, cuda::memory_order_relaxed, ncclGinFenceLevel::Relaxed);
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    DeviceComm device(ranks, 1, 2);
    ncclDevComm* copy;
    Seen *seen, host;
    CUDACHECK(cudaMalloc(&copy, sizeof(ncclDevComm)));
    CUDACHECK(cudaMalloc(&seen, sizeof(Seen)));
    CUDACHECK(cudaMemcpy(copy, &device.comm, sizeof(ncclDevComm), cudaMemcpyHostToDevice));
    read_fields<<<1, 1, 0, ranks.stream>>>(copy, seen);
    barrier_through_memory<<<2, 32, 0, ranks.stream>>>(copy);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    CUDACHECK(cudaMemcpy(&host, seen, sizeof host, cudaMemcpyDeviceToHost));
    CUDACHECK(cudaFree(copy));
    CUDACHECK(cudaFree(seen));
    const bool right = host.rank == ranks.rank && host.ranks == ranks.size &&
                       host.lsa_rank == ranks.rank % host.lsa_size && host.contexts >= 16 && host.has_resources;
    return right ? 0 : 1;
  });
}
