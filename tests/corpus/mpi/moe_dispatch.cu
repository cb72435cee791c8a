// SPDX-License-Identifier: Apache-2.0
// Dispatch and combine of tokens, as expert parallelism does: counts by putValue, tokens by put from one warp each,
// results back, weights applied.
#include "corpus_mpi.h"

constexpr int kTokens = 48, kHidden = 64;

__host__ __device__ inline int expert_of(int rank, int token, int ranks) {
  return (rank * 7 + token * 5) % ranks;
}

struct Buffers {
  ncclWindow_t tokens, inbox, counts, outbox;
};

__global__ void dispatch(ncclDevComm comm, Buffers buffers) {
  ncclCoopWarp warp;
  ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const int warp_number = static_cast<int>(threadIdx.x / 32), warps = static_cast<int>(blockDim.x / 32);
  const size_t bytes = kHidden * sizeof(float);
  for (int peer = warp_number; peer < world.nRanks; peer += warps) {
    int sent = 0;
    for (int token = 0; token < kTokens; ++token) {
      if (expert_of(world.rank, token, world.nRanks) != peer) continue;
      const auto place = static_cast<size_t>(world.rank * kTokens + token);
      gin.put(world, peer, buffers.inbox, place * bytes, buffers.tokens, static_cast<size_t>(token) * bytes, bytes,
              ncclGin_None{}, ncclGin_None{}, warp);
      ++sent;
    }
    gin.putValue(world, peer, buffers.counts, static_cast<size_t>(world.rank) * sizeof(int), sent + 1,
                 ncclGin_StrongSignalInc{0}, warp);
  }
  __syncthreads();
  gin.waitSignal(ncclCoopCta(), 0, static_cast<uint64_t>(world.nRanks));
  gin.flush(ncclCoopCta());
}

__global__ void combine(ncclDevComm comm, Buffers buffers, int* wrong) {
  ncclCoopWarp warp;
  ncclGin gin(comm, 1);
  const ncclTeam world = ncclTeamWorld(comm);
  auto* inbox = static_cast<float*>(ncclGetLocalPointer(buffers.inbox, 0));
  const auto* counts = static_cast<const int*>(ncclGetLocalPointer(buffers.counts, 0));
  const int warp_number = static_cast<int>(threadIdx.x / 32), warps = static_cast<int>(blockDim.x / 32);
  for (int peer = warp_number; peer < world.nRanks; peer += warps) {
    int expected = __ldg(counts + peer) - 1;
    for (int token = 0; token < kTokens; ++token) {
      if (expert_of(peer, token, world.nRanks) != world.rank) continue;
      --expected;
      const auto place = static_cast<size_t>(peer * kTokens + token) * kHidden;
      for (int i = warp.thread_rank(); i < kHidden; i += 32) inbox[place + static_cast<size_t>(i)] *= 2.0f;
      gin.put(world, peer, buffers.outbox, static_cast<size_t>(token) * kHidden * sizeof(float), buffers.inbox,
              place * sizeof(float), kHidden * sizeof(float), ncclGin_None{}, ncclGin_None{}, warp);
    }
    if (expected != 0 && warp.thread_rank() == 0) atomicAdd(wrong, 1);
    gin.signal(world, peer, ncclGin_StrongSignalInc{1}, warp);
  }
  __syncthreads();
  gin.waitSignal(ncclCoopCta(), 1, static_cast<uint64_t>(world.nRanks));
  gin.flush(ncclCoopCta());
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    const size_t token_bytes = kHidden * sizeof(float),
                 many = static_cast<size_t>(kTokens) * static_cast<size_t>(ranks.size);
    Window tokens(ranks, kTokens * token_bytes), inbox(ranks, many * token_bytes), counts(ranks, 4096),
        outbox(ranks, kTokens * token_bytes);
    std::vector<float> values(kTokens * kHidden);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(ranks.rank) + static_cast<float>(i) * 0.5f;
    tokens.write(values);
    DeviceComm device(ranks, 2);
    int* wrong;
    CUDACHECK(cudaMallocHost(&wrong, sizeof *wrong));
    *wrong = 0;
    const Buffers buffers{tokens.handle, inbox.handle, counts.handle, outbox.handle};
    MPI_Barrier(MPI_COMM_WORLD);
    dispatch<<<1, 128, 0, ranks.stream>>>(device.comm, buffers);
    combine<<<1, 128, 0, ranks.stream>>>(device.comm, buffers, wrong);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    int result = *wrong;
    CUDACHECK(cudaFreeHost(wrong));
    const std::vector<float> got = outbox.read<float>(values.size());
    for (size_t i = 0; i < values.size(); ++i) result += got[i] != 2 * values[i];
    return result;
  });
}
