// SPDX-License-Identifier: Apache-2.0
// All to all without a kernel that communicates: the host queues puts on the stream, one a peer, in a group; kernels before and
// behind them fill and check. What arrives is announced by the puts' own signals.
#include "common.h"

namespace {

constexpr int kThreads = 128;
constexpr size_t kWords = 4096;  // from each rank to each rank
constexpr int kRounds = 4;

__host__ __device__ uint64_t element(int from, int to, int round, size_t i) {
  return (static_cast<uint64_t>(from) << 48) + (static_cast<uint64_t>(to) << 32) + static_cast<uint64_t>(round) * kWords + i;
}

__global__ void fill(uint64_t* outbox, int rank, int ranks, int round) {
  for (int to = 0; to < ranks; ++to) {
    for (size_t i = threadIdx.x; i < kWords; i += blockDim.x) outbox[static_cast<size_t>(to) * kWords + i] = element(rank, to, round, i);
  }
}

__global__ void check(const uint64_t* inbox, int rank, int ranks, int round, unsigned* wrong) {
  for (int from = 0; from < ranks; ++from) {
    for (size_t i = threadIdx.x; i < kWords; i += blockDim.x) {
      if (inbox[static_cast<size_t>(from) * kWords + i] != element(from, rank, round, i)) atomicAdd(wrong, 1u);
    }
  }
}

// A signal to and from everybody: nobody passes before all have checked.
void barrier(const RankEnv& env, const std::vector<ncclWaitSignalDesc_t>& one_of_each) {
  CHECK_NCCL(ncclGroupStart());
  for (int peer = 0; peer < env.ranks; ++peer) CHECK_NCCL(ncclSignal(peer, 0, 0, 0, env.comm, env.stream));
  auto waits = one_of_each;
  CHECK_NCCL(ncclWaitSignal(env.ranks, waits.data(), env.comm, env.stream));
  CHECK_NCCL(ncclGroupEnd());
}

int exchange(RankEnv& env) {
  const size_t bytes = static_cast<size_t>(env.ranks) * kWords * sizeof(uint64_t);
  void *in, *out;
  ncclWindow_t inbox, outbox;
  CHECK_NCCL(ncclMemAlloc(&in, bytes));
  CHECK_NCCL(ncclMemAlloc(&out, bytes));
  CHECK_NCCL(ncclCommWindowRegister(env.comm, in, bytes, &inbox, NCCL_WIN_COLL_SYMMETRIC));
  CHECK_NCCL(ncclCommWindowRegister(env.comm, out, bytes, &outbox, NCCL_WIN_COLL_SYMMETRIC));
  unsigned *wrong_on_device, wrong = 0;
  CHECK_CUDA(cudaMalloc(reinterpret_cast<void**>(&wrong_on_device), sizeof(unsigned)));
  CHECK_CUDA(cudaMemsetAsync(wrong_on_device, 0, sizeof(unsigned), env.stream));

  std::vector<ncclWaitSignalDesc_t> one_of_each;
  for (int peer = 0; peer < env.ranks; ++peer) one_of_each.push_back({1, peer, 0, 0});
  auto* const source = static_cast<uint64_t*>(out);
  for (int round = 0; round < kRounds; ++round) {
    fill<<<1, kThreads, 0, env.stream>>>(source, env.rank, env.ranks, round);
    CHECK_NCCL(ncclGroupStart());
    for (int peer = 0; peer < env.ranks; ++peer) {
      CHECK_NCCL(ncclPutSignal(source + static_cast<size_t>(peer) * kWords, kWords, ncclUint64, peer, inbox,
                               static_cast<size_t>(env.rank) * kWords * sizeof(uint64_t), 0, 0, 0, env.comm, env.stream));
    }
    CHECK_NCCL(ncclWaitSignal(env.ranks, one_of_each.data(), env.comm, env.stream));
    CHECK_NCCL(ncclGroupEnd());
    check<<<1, kThreads, 0, env.stream>>>(static_cast<uint64_t*>(in), env.rank, env.ranks, round, wrong_on_device);
    barrier(env, one_of_each);
  }
  CHECK_CUDA(cudaMemcpyAsync(&wrong, wrong_on_device, sizeof(unsigned), cudaMemcpyDeviceToHost, env.stream));
  CHECK_CUDA(cudaStreamSynchronize(env.stream));
  std::printf("rank %d of %d: %d rounds, %u wrong: %s\n", env.rank, env.ranks, kRounds, wrong, wrong == 0 ? "PASSED" : "FAILED");

  CHECK_CUDA(cudaFree(wrong_on_device));
  CHECK_NCCL(ncclCommWindowDeregister(env.comm, inbox));
  CHECK_NCCL(ncclCommWindowDeregister(env.comm, outbox));
  CHECK_NCCL(ncclMemFree(in));
  CHECK_NCCL(ncclMemFree(out));
  return static_cast<int>(wrong);
}

}  // namespace

int main(int argc, char** argv) { return run_example(argc, argv, exchange); }
