// SPDX-License-Identifier: Apache-2.0
// Demand 4: one host thread, all devices: communicators by ncclCommInitAll, launches on every device before anybody
// waits.
#include "corpus_ranks.h"

__global__ void meet(ncclDevComm comm, ncclWindow_t window) {
  ncclCoopCta cta;
  ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  ncclBarrierSession<ncclCoopCta> bar(cta, ncclTeamTagWorld(), gin, 0);
  bar.sync(cta, cuda::memory_order_relaxed, ncclGinFenceLevel::Relaxed);  // needs the kernels of all devices at once
  if (threadIdx.x == 0)
    gin.putValue(world, (world.rank + 1) % world.nRanks, window, 0, world.rank + 1, ncclGin_StrongSignalInc{0});
  gin.waitSignal(cta, 0, 1);
  gin.flush(cta);
}

int main(int argc, char** argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 4;
  std::vector<ncclComm_t> comms(static_cast<size_t>(size));
  std::vector<cudaStream_t> streams(comms.size());
  std::vector<void*> buffers(comms.size());
  std::vector<ncclWindow_t> windows(comms.size());
  std::vector<ncclDevComm> devices(comms.size());
  NCCLCHECK(ncclCommInitAll(comms.data(), size, nullptr));
  for (size_t i = 0; i < comms.size(); ++i) {
    CUDACHECK(cudaSetDevice(static_cast<int>(i)));
    CUDACHECK(cudaStreamCreate(&streams[i]));
    NCCLCHECK(ncclMemAlloc(&buffers[i], 4096));
  }
  NCCLCHECK(ncclGroupStart());
  for (size_t i = 0; i < comms.size(); ++i)
    NCCLCHECK(ncclCommWindowRegister(comms[i], buffers[i], 4096, &windows[i], NCCL_WIN_COLL_SYMMETRIC));
  NCCLCHECK(ncclGroupEnd());
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  requirements.ginSignalCount = 1;
  requirements.barrierCount = 1;
  NCCLCHECK(ncclGroupStart());
  for (size_t i = 0; i < comms.size(); ++i) NCCLCHECK(ncclDevCommCreate(comms[i], &requirements, &devices[i]));
  NCCLCHECK(ncclGroupEnd());
  for (size_t i = 0; i < comms.size(); ++i) {
    CUDACHECK(cudaSetDevice(static_cast<int>(i)));
    meet<<<1, 64, 0, streams[i]>>>(devices[i], windows[i]);
  }
  int wrong = 0;
  for (size_t i = 0; i < comms.size(); ++i) {
    CUDACHECK(cudaSetDevice(static_cast<int>(i)));
    int value = 0, current = -1;
    CUDACHECK(cudaGetDevice(&current));
    CUDACHECK(cudaMemcpyAsync(&value, buffers[i], sizeof value, cudaMemcpyDeviceToHost, streams[i]));
    CUDACHECK(cudaStreamSynchronize(streams[i]));
    wrong += value != (static_cast<int>(i) + size - 1) % size + 1 || current != static_cast<int>(i);
  }
  for (size_t i = 0; i < comms.size(); ++i) NCCLCHECK(ncclDevCommDestroy(comms[i], &devices[i]));
  NCCLCHECK(ncclGroupStart());
  for (size_t i = 0; i < comms.size(); ++i) NCCLCHECK(ncclCommWindowDeregister(comms[i], windows[i]));
  NCCLCHECK(ncclGroupEnd());
  for (size_t i = 0; i < comms.size(); ++i) {
    CUDACHECK(cudaSetDevice(static_cast<int>(i)));
    NCCLCHECK(ncclMemFree(buffers[i]));
    CUDACHECK(cudaStreamDestroy(streams[i]));
    NCCLCHECK(ncclCommDestroy(comms[i]));
  }
  std::printf("%d ranks, %d wrong: %s\n", size, wrong, wrong == 0 ? "PASSED" : "FAILED");
  return wrong == 0 ? 0 : 1;
}
