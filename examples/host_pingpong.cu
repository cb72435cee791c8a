// SPDX-License-Identifier: Apache-2.0
// Ping-pong by the host: each even rank puts a message into its partner's window, which puts it back with every word raised
// by one. Puts, waits and kernels are queued on a stream: no host waits between the turns. The last words tell how often the
// message went to and fro.
#include "common.h"

namespace {

constexpr int kThreads = 128;
constexpr int kTurns = 20;
constexpr size_t kSizes[] = {1, 512, 64 * 1024};  // words

// A rank of each pair begins with the message; a rank without a partner has itself.
struct Pair {
  int partner;
  bool begins;
};
Pair pair_of(const RankEnv& env) {
  const int partner = env.rank ^ 1;
  if (partner >= env.ranks) return {env.rank, true};
  return {partner, env.rank < partner};
}

__global__ void fill(uint64_t* words, size_t count, uint64_t first) {
  for (size_t i = threadIdx.x; i < count; i += blockDim.x) words[i] = first + i;
}
__global__ void raise(uint64_t* outbox, const uint64_t* inbox, size_t count) {
  for (size_t i = threadIdx.x; i < count; i += blockDim.x) outbox[i] = inbox[i] + 1;
}
__global__ void check(const uint64_t* words, size_t count, uint64_t first, unsigned* wrong) {
  for (size_t i = threadIdx.x; i < count; i += blockDim.x) {
    if (words[i] != first + i) atomicAdd(wrong, 1u);
  }
}

struct Court {
  const RankEnv& env;
  const SharedMemory& inbox;
  const SharedMemory& outbox;
  Pair pair;

  uint64_t* received() const { return static_cast<uint64_t*>(inbox.data()); }
  uint64_t* sent() const { return static_cast<uint64_t*>(outbox.data()); }
  void put(size_t count) const {
    CHECK_NCCL(ncclPutSignal(sent(), count, ncclUint64, pair.partner, inbox.window(), 0, 0, 0, 0, env.comm, env.stream));
  }
  void wait() const {
    ncclWaitSignalDesc_t one{1, pair.partner, 0, 0};
    CHECK_NCCL(ncclWaitSignal(1, &one, env.comm, env.stream));
  }
};

// The rank that begins sends and gets the message back kTurns times; its partner answers as often. The last message is looked at
// before the next one may come: for the partner before its last answer.
void play(const Court& court, size_t count, unsigned* wrong) {
  const bool alone = court.pair.partner == court.env.rank;
  // The one that began raised what the other had raised: two a turn.
  const auto raised = static_cast<uint64_t>(alone ? kTurns - 1 : court.pair.begins ? 2 * kTurns - 1 : 2 * kTurns - 2);
  if (court.pair.begins) fill<<<1, kThreads, 0, court.env.stream>>>(court.sent(), count, count);
  for (int turn = 0; turn < kTurns; ++turn) {
    if (court.pair.begins) court.put(count);
    court.wait();
    if (turn == kTurns - 1) check<<<1, kThreads, 0, court.env.stream>>>(court.received(), count, count + raised, wrong);
    raise<<<1, kThreads, 0, court.env.stream>>>(court.sent(), court.received(), count);
    if (!court.pair.begins) court.put(count);
  }
}

int pingpong(RankEnv& env) {
  const size_t most = kSizes[sizeof(kSizes) / sizeof(kSizes[0]) - 1];
  const SharedMemory inbox(env.comm, most * sizeof(uint64_t)), outbox(env.comm, most * sizeof(uint64_t));
  const Court court{env, inbox, outbox, pair_of(env)};
  unsigned *wrong_on_device, wrong = 0;
  CHECK_CUDA(cudaMalloc(reinterpret_cast<void**>(&wrong_on_device), sizeof(unsigned)));
  CHECK_CUDA(cudaMemsetAsync(wrong_on_device, 0, sizeof(unsigned), env.stream));
  for (const size_t count : kSizes) play(court, count, wrong_on_device);
  CHECK_CUDA(cudaMemcpyAsync(&wrong, wrong_on_device, sizeof(unsigned), cudaMemcpyDeviceToHost, env.stream));
  CHECK_CUDA(cudaStreamSynchronize(env.stream));
  std::printf("rank %d of %d: %d turns with rank %d, %u wrong: %s\n", env.rank, env.ranks, kTurns, court.pair.partner, wrong,
              wrong == 0 ? "PASSED" : "FAILED");
  CHECK_CUDA(cudaFree(wrong_on_device));
  return static_cast<int>(wrong);
}

}  // namespace

int main(int argc, char** argv) { return run_example(argc, argv, pingpong); }
