// SPDX-License-Identifier: Apache-2.0
// All-gather around a ring, several launches, with signal shadows instead of counts that the host keeps.
#include "corpus_mpi.h"

constexpr size_t kElements = 300;

__global__ void allgather(ncclDevComm comm, ncclSymPtr<int> data) {
  ncclCoopWarp warp;
  ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const int next = (world.rank + 1) % world.nRanks;
  for (int step = 0; step < world.nRanks - 1; ++step) {
    const auto slice = static_cast<size_t>((world.rank + world.nRanks - step) % world.nRanks);
    ncclSymPtr<int> piece = data + slice * kElements;
    gin.put(world, next, piece, piece, kElements, ncclGin_StrongSignalInc{0}, ncclGin_None{}, warp);
    if (warp.thread_rank() == 0) gin.increaseSignalShadow(0, 1);
    __syncwarp();
    gin.waitSignalMeetShadow(warp, 0);
  }
  gin.signal(world, next, ncclGin_StrongSignalAdd{1, 5}, warp);
  uint64_t before = 0, delta = 0;
  gin.waitSignalFollowShadow(warp, 1, uint64_t{5}, &before, &delta);
  if (delta != 5 || *gin.getSignalShadowPtr(1) != before + 5) __trap();
  gin.flush(warp);
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    const size_t count = kElements * static_cast<size_t>(ranks.size);
    Window window(ranks, count * sizeof(int));
    DeviceComm device(ranks, 2);
    int wrong = 0;
    for (int launch = 1; launch <= 3; ++launch) {
      std::vector<int> mine(count, -1);
      for (size_t i = 0; i < kElements; ++i)
        mine[static_cast<size_t>(ranks.rank) * kElements + i] =
            launch * 100000 + ranks.rank * 1000 + static_cast<int>(i);
      window.write(mine);
      MPI_Barrier(MPI_COMM_WORLD);
      allgather<<<1, 32, 0, ranks.stream>>>(device.comm, ncclSymPtr<int>(window.handle, 0));
      CUDACHECK(cudaStreamSynchronize(ranks.stream));
      const std::vector<int> got = window.read<int>(count);
      for (size_t i = 0; i < count; ++i)
        wrong += got[i] != launch * 100000 + static_cast<int>(i / kElements) * 1000 + static_cast<int>(i % kElements);
      MPI_Barrier(MPI_COMM_WORLD);
    }
    return wrong;
  });
}
