// SPDX-License-Identifier: Apache-2.0
// A barrier of the host's signals: each rank signals all, then waits for one signal of each. In every round each rank puts a
// number into its right neighbour's window and enters the barrier. Signals of one rank add up: from the left neighbour come two,
// the put's own and the barrier's. A second barrier keeps the next round away from those that still look.
#include "common.h"

namespace {

constexpr int kRounds = 25;

// Queued on the stream: work behind it begins when all ranks' streams have come to it.
void enter_barrier(const RankEnv& env, std::vector<ncclWaitSignalDesc_t> waits = {}) {
  for (int peer = 0; peer < env.ranks; ++peer) waits.push_back({1, peer, 0, 0});
  CHECK_NCCL(ncclGroupStart());
  for (int peer = 0; peer < env.ranks; ++peer) CHECK_NCCL(ncclSignal(peer, 0, 0, 0, env.comm, env.stream));
  CHECK_NCCL(ncclWaitSignal(static_cast<int>(waits.size()), waits.data(), env.comm, env.stream));
  CHECK_NCCL(ncclGroupEnd());
}

__host__ __device__ uint64_t number_of(int rank, int round) { return 1000ull * static_cast<uint64_t>(round + 1) + static_cast<uint64_t>(rank); }

__global__ void write(uint64_t* word, int rank, int round) { *word = number_of(rank, round); }
__global__ void check(const uint64_t* word, int from, int round, unsigned* wrong) { *wrong += *word != number_of(from, round); }

int meet(RankEnv& env) {
  const SharedMemory memory(env.comm, 2 * sizeof(uint64_t));  // what the left neighbour puts, and what is put to the right one
  auto* const inbox = static_cast<uint64_t*>(memory.data());
  uint64_t* const outbox = inbox + 1;
  const int left = (env.rank + env.ranks - 1) % env.ranks, right = (env.rank + 1) % env.ranks;
  unsigned *wrong_on_device, wrong = 0;
  CHECK_CUDA(cudaMalloc(reinterpret_cast<void**>(&wrong_on_device), sizeof(unsigned)));
  CHECK_CUDA(cudaMemsetAsync(wrong_on_device, 0, sizeof(unsigned), env.stream));
  for (int round = 0; round < kRounds; ++round) {
    write<<<1, 1, 0, env.stream>>>(outbox, env.rank, round);
    CHECK_NCCL(ncclPutSignal(outbox, 1, ncclUint64, right, memory.window(), 0, 0, 0, 0, env.comm, env.stream));
    enter_barrier(env, {{1, left, 0, 0}});
    check<<<1, 1, 0, env.stream>>>(inbox, left, round, wrong_on_device);
    enter_barrier(env);
  }
  CHECK_CUDA(cudaMemcpyAsync(&wrong, wrong_on_device, sizeof(unsigned), cudaMemcpyDeviceToHost, env.stream));
  CHECK_CUDA(cudaStreamSynchronize(env.stream));
  std::printf("rank %d of %d: %d rounds, %u wrong: %s\n", env.rank, env.ranks, kRounds, wrong, wrong == 0 ? "PASSED" : "FAILED");
  CHECK_CUDA(cudaFree(wrong_on_device));
  return static_cast<int>(wrong);
}

}  // namespace

int main(int argc, char** argv) { return run_example(argc, argv, meet); }
