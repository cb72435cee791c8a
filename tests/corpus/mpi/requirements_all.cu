// SPDX-License-Identifier: Apache-2.0
// Demand 12: every requirement that programs set, and a list of resource requirements of the program's own.
#include "corpus_mpi.h"

__global__ void use(ncclDevComm comm, ncclLsaBarrierHandle_t own_barrier, ncclDevResourceHandle buffer, int* wrong) {
  ncclCoopCta cta;
  ncclLsaBarrierSession<ncclCoopCta> mine(cta, comm, ncclTeamLsa(comm), own_barrier, 0);
  auto* local = static_cast<int*>(ncclGetResourceBufferLocalPointer(comm, buffer));
  const int next = (comm.lsaRank + 1) % comm.lsaSize;
  auto* theirs = static_cast<int*>(ncclGetResourceBufferLsaPointer(comm, buffer, next));
  mine.sync(cta, cuda::memory_order_acq_rel);
  if (threadIdx.x < 16) theirs[threadIdx.x] = comm.lsaRank * 100 + static_cast<int>(threadIdx.x);
  mine.sync(cta, cuda::memory_order_acq_rel);
  const int left = (comm.lsaRank + comm.lsaSize - 1) % comm.lsaSize;
  if (threadIdx.x < 16 && local[threadIdx.x] != left * 100 + static_cast<int>(threadIdx.x)) atomicAdd(wrong, 1);
  ncclGinBarrierSession<ncclCoopCta> world(cta, ncclGin(comm, 0), ncclTeamTagWorld(), 1);
  world.sync(cta, cuda::memory_order_relaxed, ncclGinFenceLevel::Relaxed);
  ncclBarrierSession<ncclCoopCta> hybrid(cta, ncclTeamTagWorld(), ncclGin(comm, 1), 2);
  hybrid.sync(cta, cuda::memory_order_relaxed, ncclGinFenceLevel::Relaxed);
  ncclGinBarrierSession<ncclCoopCta> rail(cta, ncclGin(comm, 0), ncclTeamTagRail(), 0);
  rail.sync(cta, cuda::memory_order_relaxed, ncclGinFenceLevel::Relaxed);
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    ncclCommProperties_t properties = NCCL_COMM_PROPERTIES_INITIALIZER;
    NCCLCHECK(ncclCommQueryProperties(ranks.comm, &properties));
    ncclLsaBarrierHandle_t own_barrier;
    ncclDevResourceRequirements_t barrier_node{}, buffer_node{};
    NCCLCHECK(ncclLsaBarrierCreateRequirement(ncclTeamLsa(ranks.comm), 1, &own_barrier, &barrier_node));
    ncclDevResourceHandle buffer = 0;
    buffer_node.bufferSize = 4096;
    buffer_node.bufferAlign = 128;
    buffer_node.outBufferHandle = &buffer;
    buffer_node.next = nullptr;
    barrier_node.next = &buffer_node;

    ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    requirements.resourceRequirementsList = &barrier_node;
    requirements.lsaBarrierCount = 2;
    requirements.railGinBarrierCount = 2;
    requirements.worldGinBarrierCount = 2;
    requirements.barrierCount = 3;
    requirements.ginForceEnable = true;
    requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
    requirements.ginContextCount = 2;
    requirements.ginSignalCount = 8;
    requirements.ginCounterCount = 4;
    requirements.ginQueueDepth = 128;
    requirements.ginExclusiveContexts = false;
    requirements.lsaMultimem = properties.multimemSupport;  // as programs do: only where it is there
    DeviceComm device(ranks, requirements);
    int* wrong;
    CUDACHECK(cudaMallocHost(&wrong, sizeof *wrong));
    *wrong = properties.deviceApiSupport ? 0 : 1;
    use<<<1, 64, 0, ranks.stream>>>(device.comm, own_barrier, buffer, wrong);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    const int result = *wrong;
    CUDACHECK(cudaFreeHost(wrong));
    return result;
  });
}
