// SPDX-License-Identifier: Apache-2.0
// The commonest program: all-to-all by put, one signal for all peers, 16 blocks of 512 threads.
#include "corpus_mpi.h"

constexpr int kPerPeer = 1024;

__global__ void __launch_bounds__(512) alltoall(ncclDevComm comm, ncclWindow_t sendwin, ncclWindow_t recvwin) {
  ncclCoopCta cta;
  ncclGin gin(comm, static_cast<int>(blockIdx.x));
  const ncclTeam world = ncclTeamWorld(comm);
  const uint64_t before = gin.readSignal(0);  // nobody puts before the barrier
  ncclBarrierSession<ncclCoopCta> bar(cta, ncclTeamTagWorld(), gin, blockIdx.x);
  bar.sync(cta, cuda::memory_order_relaxed, ncclGinFenceLevel::Relaxed);
  const size_t bytes = kPerPeer * sizeof(float);
  for (int peer = static_cast<int>(threadIdx.x + blockIdx.x * blockDim.x); peer < world.nRanks;
       peer += static_cast<int>(blockDim.x * gridDim.x)) {
    gin.put(world, peer, recvwin, static_cast<size_t>(world.rank) * bytes, sendwin, static_cast<size_t>(peer) * bytes,
            bytes, ncclGin_SignalInc{0});
  }
  if (blockIdx.x == 0) {
    gin.waitSignal(cta, 0, before + static_cast<uint64_t>(world.nRanks));
    gin.flush(cta);
  }
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    const size_t count = static_cast<size_t>(kPerPeer) * static_cast<size_t>(ranks.size);
    Window send(ranks, count * sizeof(float)), receive(ranks, count * sizeof(float));
    std::vector<float> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(ranks.rank * 10000) + static_cast<float>(i);
    send.write(values);
    DeviceComm device(ranks, 1, 16);
    MPI_Barrier(MPI_COMM_WORLD);
    alltoall<<<16, 512, 0, ranks.stream>>>(device.comm, send.handle, receive.handle);
    CUDACHECK(cudaGetLastError());
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    int wrong = 0;
    const std::vector<float> got = receive.read<float>(count);
    for (size_t i = 0; i < count; ++i) {
      const auto peer = static_cast<int>(i / kPerPeer);
      wrong += got[i] != static_cast<float>(peer * 10000 + ranks.rank * kPerPeer) + static_cast<float>(i % kPerPeer);
    }
    return wrong;
  });
}
