// SPDX-License-Identifier: Apache-2.0
// A stream of chunks through one slot: the source is reused when its counter says so, the slot when the reader signals.
#include "corpus_mpi.h"

constexpr int kChunks = 24;
constexpr size_t kWords = 200;

__global__ void stream_chunks(ncclDevComm comm, ncclWindow_t source, ncclWindow_t slot, int* wrong) {
  ncclCoopCta cta;
  ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const int next = (world.rank + 1) % world.nRanks, left = (world.rank + world.nRanks - 1) % world.nRanks;
  auto* out = static_cast<int*>(ncclGetLocalPointer(source, 0));
  auto* in = static_cast<int*>(ncclGetLocalPointer(slot, 0));
  gin.resetCounter(0);
  cta.sync();
  for (int chunk = 0; chunk < kChunks; ++chunk) {
    const auto count = static_cast<uint64_t>(chunk);
    gin.waitCounter(cta, 0, count);  // the source is free
    gin.waitSignal(cta, 1, count);   // and so is the slot at the next rank
    for (size_t i = threadIdx.x; i < kWords; i += blockDim.x)
      out[i] = world.rank * 1000000 + chunk * 1000 + static_cast<int>(i);
    gin.put(world, next, slot, 0, source, 0, kWords * sizeof(int), ncclGin_WeakSignalInc{0}, ncclGin_WeakCounterInc{0},
            cta);
    gin.waitSignal(cta, 0, count + 1);
    for (size_t i = threadIdx.x; i < kWords; i += blockDim.x) {
      if (in[i] != left * 1000000 + chunk * 1000 + static_cast<int>(i)) atomicAdd(wrong, 1);
    }
    gin.signal(world, left, ncclGin_StrongSignalInc{1}, cta);
  }
  gin.flush(cta);
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    Window source(ranks, kWords * sizeof(int)), slot(ranks, kWords * sizeof(int));
    DeviceComm device(ranks, 2, 0, 1);
    int* wrong;
    CUDACHECK(cudaMallocHost(&wrong, sizeof *wrong));
    *wrong = 0;
    MPI_Barrier(MPI_COMM_WORLD);
    stream_chunks<<<1, 96, 0, ranks.stream>>>(device.comm, source.handle, slot.handle, wrong);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    const int result = *wrong;
    CUDACHECK(cudaFreeHost(wrong));
    return result;
  });
}
