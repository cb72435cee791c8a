// SPDX-License-Identifier: Apache-2.0
// A ring: each rank adds its number to what its left neighbour sent and passes the sum on, `kRounds` times around. The
// data and the signal that announces it travel together; the source is reused as soon as a counter says so.
#include "common.h"

namespace {

constexpr int kThreads = 128;
constexpr size_t kWords = 1024;
constexpr int kRounds = 3;
constexpr ncclGinSignal_t kArrived = 0;
constexpr ncclGinCounter_t kSent = 0;

__global__ void ring(ncclDevComm comm, ncclWindow_t inbox, ncclWindow_t outbox) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const int right = (world.rank + 1) % world.nRanks;
  auto* const in = static_cast<uint64_t*>(ncclGetLocalPointer(inbox, 0));
  auto* const out = static_cast<uint64_t*>(ncclGetLocalPointer(outbox, 0));

  for (uint64_t round = 0; round < kRounds; ++round) {
    const bool starts = world.rank == 0;
    if (!starts || round > 0) gin.waitSignal(block, kArrived, starts ? round : round + 1);
    if (round > 0) gin.waitCounter(block, kSent, round);
    for (size_t i = threadIdx.x; i < kWords; i += blockDim.x) {
      const uint64_t carried = starts && round == 0 ? i : in[i];
      out[i] = carried + static_cast<uint64_t>(world.rank) + 1;
    }
    gin.put(world, right, inbox, 0, outbox, 0, kWords * sizeof(uint64_t), ncclGin_StrongSignalInc{kArrived},
            ncclGin_WeakCounterInc{kSent}, block);
  }
  if (world.rank == 0) gin.waitSignal(block, kArrived, kRounds);
  gin.flush(block);
}

int pass_around(RankEnv& env) {
  constexpr size_t bytes = kWords * sizeof(uint64_t);
  void *in, *out;
  ncclWindow_t inbox, outbox;
  CHECK_NCCL(ncclMemAlloc(&in, bytes));
  CHECK_NCCL(ncclMemAlloc(&out, bytes));
  CHECK_NCCL(ncclCommWindowRegister(env.comm, in, bytes, &inbox, NCCL_WIN_COLL_SYMMETRIC));
  CHECK_NCCL(ncclCommWindowRegister(env.comm, out, bytes, &outbox, NCCL_WIN_COLL_SYMMETRIC));
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  requirements.ginSignalCount = 1;
  requirements.ginCounterCount = 1;
  ncclDevComm device_comm;
  CHECK_NCCL(ncclDevCommCreate(env.comm, &requirements, &device_comm));

  ring<<<1, kThreads, 0, env.stream>>>(device_comm, inbox, outbox);
  // Rank 0 ends with all rounds' sums; rank r with those up to itself in the last round.
  std::vector<uint64_t> host(kWords);
  CHECK_CUDA(cudaMemcpyAsync(host.data(), env.rank == 0 ? in : out, bytes, cudaMemcpyDeviceToHost, env.stream));
  CHECK_CUDA(cudaStreamSynchronize(env.stream));
  const auto ranks = static_cast<uint64_t>(env.ranks);
  const auto rank = static_cast<uint64_t>(env.rank);
  const uint64_t around = ranks * (ranks + 1) / 2;
  const uint64_t sum = env.rank == 0 ? kRounds * around : (kRounds - 1) * around + (rank + 1) * (rank + 2) / 2;
  int wrong = 0;
  for (size_t i = 0; i < kWords; ++i) wrong += host[i] != i + sum;
  std::printf("rank %d of %d: sum %llu: %s\n", env.rank, env.ranks, static_cast<unsigned long long>(sum), wrong == 0 ? "PASSED" : "FAILED");
  print_digest(env, host.data(), bytes);

  CHECK_NCCL(ncclDevCommDestroy(env.comm, &device_comm));
  CHECK_NCCL(ncclCommWindowDeregister(env.comm, inbox));
  CHECK_NCCL(ncclCommWindowDeregister(env.comm, outbox));
  CHECK_NCCL(ncclMemFree(in));
  CHECK_NCCL(ncclMemFree(out));
  return wrong;
}

}  // namespace

int main(int argc, char** argv) { return run_example(argc, argv, pass_around); }
