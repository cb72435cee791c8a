// SPDX-License-Identifier: Apache-2.0
// Demand 10: signals that are words of a window, read by plain loads as well; waits with 32 bits.
#include "corpus_mpi.h"

constexpr size_t kPayload = 256;

__global__ void send(ncclDevComm comm, ncclWindow_t data, ncclWindow_t words) {
  ncclCoopCta cta;
  ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const int peer = (world.rank + 1) % world.nRanks;
  auto* out = static_cast<int*>(ncclGetLocalPointer(data, kPayload * sizeof(int)));
  for (size_t i = threadIdx.x; i < kPayload; i += blockDim.x) out[i] = world.rank * 1000 + static_cast<int>(i);
  gin.put(world, peer, data, 0, data, kPayload * sizeof(int), kPayload * sizeof(int), ncclGin_VASignalAdd{words, 64, 3},
          ncclGin_None{}, cta);
  gin.signal(world, peer, ncclGin_WeakVASignalInc{words, 128}, cta);
  gin.signal(world, peer, ncclGin_SignalInc{0}, cta);

  if (threadIdx.x == 0) {
    volatile unsigned long long* word = static_cast<volatile unsigned long long*>(ncclGetLocalPointer(words, 64));
    while (*word < 3) {
    }
    __threadfence_system();
  }
  cta.sync();
  gin.waitSignal(cta, words, 128, 1);
  gin.waitSignal(cta, 0, 1, 32);
  gin.flush(cta);
  if (threadIdx.x == 0 && gin.readSignal(words, 64) != 3) __trap();
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    Window data(ranks, 2 * kPayload * sizeof(int));
    Window words(ranks, 4096, NCCL_WIN_COLL_SYMMETRIC | NCCL_WIN_STRICT_ORDERING);
    DeviceComm device(ranks, 1);
    send<<<1, 64, 0, ranks.stream>>>(device.comm, data.handle, words.handle);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    const int left = (ranks.rank + ranks.size - 1) % ranks.size;
    const std::vector<int> got = data.read<int>(kPayload);
    int wrong = 0;
    for (size_t i = 0; i < kPayload; ++i) wrong += got[i] != left * 1000 + static_cast<int>(i);
    return wrong;
  });
}
