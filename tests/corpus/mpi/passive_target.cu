// SPDX-License-Identifier: Apache-2.0
// Demand 2: odd ranks sit in MPI_Barrier while rank 0 puts into them, reads from them and signals them.
#include "corpus_mpi.h"

constexpr size_t kWords = 512;

__global__ void visit(ncclDevComm comm, ncclWindow_t window, ncclWindow_t copies) {
  const ncclCoopCta cta;
  ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  auto* out = static_cast<int*>(ncclGetLocalPointer(window, 0));
  for (size_t i = threadIdx.x; i < kWords; i += blockDim.x) out[i] = static_cast<int>(i) + 1;
  for (int peer = 1; peer < world.nRanks; peer += 2) {
    gin.put(world, peer, window, 0, window, 0, kWords * sizeof(int), ncclGin_SignalInc{0}, ncclGin_None{}, cta);
    gin.get(world, peer, window, kWords * sizeof(int), copies, static_cast<size_t>(peer) * sizeof(int), sizeof(int),
            cta);
  }
  gin.flush(cta);
}

__global__ void look(ncclDevComm comm, uint64_t* seen) {
  *seen = ncclGin(comm, 0).readSignal(0);
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    Window window(ranks, 2 * kWords * sizeof(int));
    Window copies(ranks, 4096);
    DeviceComm device(ranks, 1);
    std::vector<int> start(2 * kWords, 0);
    start[kWords] = 100 + ranks.rank;
    window.write(start);
    MPI_Barrier(MPI_COMM_WORLD);
    if (ranks.rank == 0) visit<<<1, 64, 0, ranks.stream>>>(device.comm, window.handle, copies.handle);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    MPI_Barrier(MPI_COMM_WORLD);  // the passive ranks are here all the time
    int wrong = 0;
    if (ranks.rank == 0) {
      const std::vector<int> values = copies.read<int>(static_cast<size_t>(ranks.size));
      for (int peer = 1; peer < ranks.size; peer += 2) wrong += values[static_cast<size_t>(peer)] != 100 + peer;
    }
    if (ranks.rank % 2 == 1) {
      uint64_t* seen;
      CUDACHECK(cudaMallocHost(&seen, sizeof *seen));
      do {  // local completion at rank 0 is not yet arrival here
        look<<<1, 1, 0, ranks.stream>>>(device.comm, seen);
        CUDACHECK(cudaStreamSynchronize(ranks.stream));
      } while (*seen == 0);
      wrong += *seen != 1;
      CUDACHECK(cudaFreeHost(seen));
      const std::vector<int> got = window.read<int>(kWords);
      for (size_t i = 0; i < kWords; ++i) wrong += got[i] != static_cast<int>(i) + 1;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    return wrong;
  });
}
