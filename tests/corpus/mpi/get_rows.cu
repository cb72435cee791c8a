// SPDX-License-Identifier: Apache-2.0
// Gathers rows of a distributed table by get, a thread a row, then flush; a second time with flushAsync and wait.
#include "corpus_mpi.h"

constexpr size_t kRows = 64, kColumns = 32;

__global__ void gather(ncclDevComm comm, ncclWindow_t table, ncclWindow_t result, bool in_two_steps) {
  ncclGin gin(comm, 0, NCCL_GIN_RESOURCE_SHARING_CTA);
  const ncclTeam world = ncclTeamWorld(comm);
  const size_t bytes = kColumns * sizeof(int);
  const size_t row = threadIdx.x;
  const int owner = static_cast<int>(row) % world.nRanks;
  gin.get(world, owner, table, (kRows - 1 - row) * bytes, result, row * bytes, bytes);
  if (in_two_steps) {
    ncclGinRequest_t request;
    gin.flushAsync(world, static_cast<uint32_t>(owner), &request);
    gin.wait(request);
  } else {
    __syncthreads();
    gin.flush(ncclCoopCta());
  }
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    Window table(ranks, kRows * kColumns * sizeof(int)), result(ranks, kRows * kColumns * sizeof(int));
    std::vector<int> values(kRows * kColumns);
    for (size_t i = 0; i < values.size(); ++i) values[i] = ranks.rank * 10000 + static_cast<int>(i);
    table.write(values);
    DeviceComm device(ranks, 1);
    int wrong = 0;
    for (bool in_two_steps : {false, true}) {
      CUDACHECK(cudaMemset(result.data, 0, kRows * kColumns * sizeof(int)));
      CUDACHECK(cudaDeviceSynchronize());
      MPI_Barrier(MPI_COMM_WORLD);
      gather<<<1, kRows, 0, ranks.stream>>>(device.comm, table.handle, result.handle, in_two_steps);
      CUDACHECK(cudaStreamSynchronize(ranks.stream));
      const std::vector<int> got = result.read<int>(values.size());
      for (size_t i = 0; i < got.size(); ++i) {
        const size_t row = i / kColumns;
        const auto place = (kRows - 1 - row) * kColumns + i % kColumns;
        wrong += got[i] != static_cast<int>(row) % ranks.size * 10000 + static_cast<int>(place);
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
    return wrong;
  });
}
