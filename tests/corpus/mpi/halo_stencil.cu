// SPDX-License-Identifier: Apache-2.0
// A stencil with halos: inner points on one stream, halos on another, events between them, elapsed times.
#include "corpus_mpi.h"

constexpr int kPoints = 512, kSteps = 6;

__global__ void exchange(ncclDevComm comm, ncclWindow_t window, size_t base, uint64_t step) {
  ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  if (threadIdx.x == 0) {
    const int left = (world.rank + world.nRanks - 1) % world.nRanks, right = (world.rank + 1) % world.nRanks;
    // place 0 and kPoints + 1 are halos
    gin.put(world, left, window, base + (kPoints + 1) * sizeof(double), window, base + sizeof(double), sizeof(double),
            ncclGin_StrongSignalInc{0});
    gin.put(world, right, window, base, window, base + kPoints * sizeof(double), sizeof(double),
            ncclGin_StrongSignalInc{1});
    gin.waitSignal(ncclCoopThread(), 0, step);
    gin.waitSignal(ncclCoopThread(), 1, step);
    gin.flush(ncclCoopThread());
  }
}

__global__ void relax(const double* from, double* to, int first, int last) {
  const int i = first + static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i <= last) to[i] = (from[i - 1] + from[i] + from[i + 1]) / 3;
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    constexpr size_t kBytes = (kPoints + 2) * sizeof(double);
    Window window(ranks, 2 * kBytes);
    const int total = kPoints * ranks.size;
    std::vector<double> all(static_cast<size_t>(total)), mine(kPoints + 2, 0);
    for (int i = 0; i < total; ++i) all[static_cast<size_t>(i)] = (i * 37) % 101;
    for (int i = 0; i < kPoints; ++i)
      mine[static_cast<size_t>(i) + 1] = all[static_cast<size_t>(ranks.rank * kPoints + i)];
    window.write(mine);
    DeviceComm device(ranks, 2);
    cudaStream_t halo;
    cudaEvent_t computed, exchanged, begin, end;
    CUDACHECK(cudaStreamCreateWithFlags(&halo, cudaStreamNonBlocking));
    for (cudaEvent_t* event : {&begin, &end}) CUDACHECK(cudaEventCreate(event));
    for (cudaEvent_t* event : {&computed, &exchanged})
      CUDACHECK(cudaEventCreateWithFlags(event, cudaEventDisableTiming));
    MPI_Barrier(MPI_COMM_WORLD);
    CUDACHECK(cudaEventRecord(begin, ranks.stream));
    CUDACHECK(cudaEventRecord(computed, ranks.stream));
    for (int step = 0; step < kSteps; ++step) {
      auto* from = static_cast<double*>(window.data) + (step % 2) * (kPoints + 2);
      auto* to = static_cast<double*>(window.data) + (1 - step % 2) * (kPoints + 2);
      CUDACHECK(cudaStreamWaitEvent(halo, computed, 0));
      exchange<<<1, 32, 0, halo>>>(device.comm, window.handle, static_cast<size_t>(step % 2) * kBytes,
                                   static_cast<uint64_t>(step) + 1);
      CUDACHECK(cudaEventRecord(exchanged, halo));
      relax<<<(kPoints - 2 + 127) / 128, 128, 0, ranks.stream>>>(from, to, 2, kPoints - 1);
      CUDACHECK(cudaStreamWaitEvent(ranks.stream, exchanged, 0));
      relax<<<1, 1, 0, ranks.stream>>>(from, to, 1, 1);
      relax<<<1, 1, 0, ranks.stream>>>(from, to, kPoints, kPoints);
      CUDACHECK(cudaEventRecord(computed, ranks.stream));
      std::vector<double> next(all.size());
      for (int i = 0; i < total; ++i) {
        const auto at = [&](int k) { return all[static_cast<size_t>((k + total) % total)]; };
        next[static_cast<size_t>(i)] = (at(i - 1) + at(i) + at(i + 1)) / 3;
      }
      all = next;
    }
    CUDACHECK(cudaEventRecord(end, ranks.stream));
    CUDACHECK(cudaEventSynchronize(end));
    float milliseconds = -1;
    CUDACHECK(cudaEventElapsedTime(&milliseconds, begin, end));
    int wrong = milliseconds < 0;
    const std::vector<double> got = window.read<double>(kPoints, (kSteps % 2) * (kPoints + 2) + 1);
    for (int i = 0; i < kPoints; ++i)
      wrong += got[static_cast<size_t>(i)] != all[static_cast<size_t>(ranks.rank * kPoints + i)];
    for (cudaEvent_t event : {computed, exchanged, begin, end}) CUDACHECK(cudaEventDestroy(event));
    CUDACHECK(cudaStreamDestroy(halo));
    MPI_Barrier(MPI_COMM_WORLD);
    return wrong;
  });
}
