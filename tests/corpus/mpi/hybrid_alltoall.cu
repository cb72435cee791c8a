// SPDX-License-Identifier: Apache-2.0
// All-to-all that stores to LSA peers and puts to the others. Its test runs it as two nodes as well.
#include "corpus_mpi.h"

constexpr size_t kPerPeer = 256;

__global__ void hybrid(ncclDevComm comm, ncclWindow_t sendwin, ncclWindow_t recvwin) {
  ncclCoopCta cta;
  ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm), lsa = ncclTeamLsa(comm);
  ncclBarrierSession<ncclCoopCta> bar(cta, ncclTeamTagWorld(), gin, blockIdx.x);
  bar.sync(cta, cuda::memory_order_acquire, ncclGinFenceLevel::Relaxed);
  const size_t bytes = kPerPeer * sizeof(int);
  const int remote = world.nRanks - lsa.nRanks;
  for (int i = static_cast<int>(threadIdx.x); i < remote; i += static_cast<int>(blockDim.x)) {
    const int peer = ncclTeamRankInDifference(world, lsa, i);
    gin.put(world, peer, recvwin, static_cast<size_t>(world.rank) * bytes, sendwin, static_cast<size_t>(peer) * bytes,
            bytes, ncclGin_StrongSignalInc{0});
  }
  for (int member = 0; member < lsa.nRanks; ++member) {
    const int peer = ncclTeamRankToWorld(comm, lsa, member);
    const int* source = static_cast<int*>(ncclGetLocalPointer(sendwin, static_cast<size_t>(peer) * bytes));
    int* target = static_cast<int*>(ncclGetLsaPointer(recvwin, static_cast<size_t>(world.rank) * bytes, member));
    for (size_t i = threadIdx.x; i < kPerPeer; i += blockDim.x) target[i] = source[i];
  }
  if (remote > 0) gin.waitSignal(cta, 0, static_cast<uint64_t>(remote));
  gin.flush(cta);
  bar.sync(cta, cuda::memory_order_release, ncclGinFenceLevel::Relaxed);
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    const size_t count = kPerPeer * static_cast<size_t>(ranks.size);
    Window send(ranks, count * sizeof(int)), receive(ranks, count * sizeof(int));
    std::vector<int> values(count);
    for (size_t i = 0; i < count; ++i) values[i] = ranks.rank * 100000 + static_cast<int>(i);
    send.write(values);
    DeviceComm device(ranks, 1, 1);
    hybrid<<<1, 128, 0, ranks.stream>>>(device.comm, send.handle, receive.handle);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    int wrong = 0;
    const std::vector<int> got = receive.read<int>(count);
    for (size_t i = 0; i < count; ++i) {
      const auto peer = static_cast<int>(i / kPerPeer);
      wrong += got[i] != peer * 100000 + ranks.rank * static_cast<int>(kPerPeer) + static_cast<int>(i % kPerPeer);
    }
    return wrong;
  });
}
