// SPDX-License-Identifier: Apache-2.0
// Two communicators a process: all ranks, and the halves that MPI_Comm_split makes; kernels of both at once. Also
// MPI_Send and MPI_Recv, MPI_Gather and MPI_Reduce, as programs use them for results.
#include "corpus_mpi.h"

__global__ void neighbour(ncclDevComm comm, ncclWindow_t window, int bias) {
  ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  gin.putValue(world, (world.rank + 1) % world.nRanks, window, 0, world.rank + bias, ncclGin_StrongSignalInc{0});
  gin.waitSignal(ncclCoopThread(), 0, 1);
  gin.flush(ncclCoopThread());
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    MPI_Comm half;
    MPI_Comm_split(MPI_COMM_WORLD, ranks.rank % 2, ranks.rank, &half);
    Ranks part;
    part.local = ranks.local;
    MPI_Comm_rank(half, &part.rank);
    MPI_Comm_size(half, &part.size);
    ncclUniqueId id;
    if (part.rank == 0) NCCLCHECK(ncclGetUniqueId(&id));
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, half);
    open_ranks(&part, id);
    int wrong = 0;
    {
      Window all_window(ranks, 4096), half_window(part, 4096);
      DeviceComm all_device(ranks, 1), half_device(part, 1);
      neighbour<<<1, 1, 0, ranks.stream>>>(all_device.comm, all_window.handle, 100);
      neighbour<<<1, 1, 0, part.stream>>>(half_device.comm, half_window.handle, 200);
      CUDACHECK(cudaStreamSynchronize(ranks.stream));
      CUDACHECK(cudaStreamSynchronize(part.stream));
      wrong += all_window.read<int>(1)[0] != (ranks.rank + ranks.size - 1) % ranks.size + 100;
      wrong += half_window.read<int>(1)[0] != (part.rank + part.size - 1) % part.size + 200;
    }
    close_ranks(&part);
    MPI_Comm_free(&half);

    int sum = 0, one = 1;
    std::vector<int> seen(static_cast<size_t>(ranks.size));
    MPI_Reduce(&one, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Gather(&ranks.rank, 1, MPI_INT, seen.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
    if (ranks.rank == 0) {
      wrong += sum != ranks.size || seen.back() != ranks.size - 1;
      for (int peer = 1; peer < ranks.size; ++peer) {
        int value = 0;
        MPI_Recv(&value, 1, MPI_INT, peer, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wrong += value != peer * peer;
      }
    } else {
      const int square = ranks.rank * ranks.rank;
      MPI_Send(&square, 1, MPI_INT, 0, 9, MPI_COMM_WORLD);
    }
    return wrong;
  });
}
