// SPDX-License-Identifier: Apache-2.0
// All to all on several nodes: within a node a rank stores into its peer's memory, to the other nodes it puts. Signals
// say what came over the network; the barrier of loads, stores and rails says the rest.
//   ANYGIN_TOPOLOGY=2x4 ./alltoall_hybrid -r 8        anygin run -n 8 --nodes 2 -- ./alltoall_hybrid
#include "common.h"

namespace {

constexpr int kBlocks = 4;
constexpr int kThreads = 128;
constexpr int kRounds = 3;
constexpr size_t kWords = 1024;  // from each rank to each rank
constexpr size_t kShare = kWords / kBlocks;

__host__ __device__ uint64_t element(int from, int to, int round, size_t i) {
  return (static_cast<uint64_t>(from) << 48) + (static_cast<uint64_t>(to) << 32) +
         static_cast<uint64_t>(round) * kWords + i;
}

__device__ size_t place_of(int rank, size_t i) {
  return (static_cast<size_t>(rank) * kWords + i) * sizeof(uint64_t);
}

// Each block moves its share of what each pair exchanges.
__global__ void __launch_bounds__(kThreads)
    exchange(ncclDevComm comm, ncclWindow_t inbox, ncclWindow_t outbox, int round) {
  const ncclCoopCta block;
  const ncclGin gin(comm, static_cast<int>(blockIdx.x % comm.ginContextCount));
  const ncclTeam world = ncclTeamWorld(comm), node = ncclTeamLsa(comm);
  const ncclGinSignal_t arrived = blockIdx.x;
  const size_t first = blockIdx.x * kShare;
  ncclBarrierSession<ncclCoopCta> barrier(block, ncclTeamTagWorld{}, gin, blockIdx.x);

  for (int peer = 0; peer < world.nRanks; ++peer) {
    const bool near = ncclTeamRankIsMember(node, world, peer);
    auto* const into = static_cast<uint64_t*>(
        near ? ncclGetLsaPointer(inbox, place_of(world.rank, first), ncclTeamRankToTeam(node, world, peer))
             : ncclGetLocalPointer(outbox, place_of(peer, first)));
    for (size_t i = threadIdx.x; i < kShare; i += blockDim.x) into[i] = element(world.rank, peer, round, first + i);
    if (near) continue;
    gin.put(world, peer, inbox, place_of(world.rank, first), outbox, place_of(peer, first), kShare * sizeof(uint64_t),
            ncclGin_WeakSignalInc{arrived}, ncclGin_None{}, block);
  }
  const auto far = static_cast<uint64_t>(world.nRanks - node.nRanks);
  gin.waitSignal(block, arrived, static_cast<uint64_t>(round + 1) * far);
  gin.flush(block);
  // No fence: each put was waited for, so that the barrier may take the short way, within nodes and then along rails.
  // It releases what this rank stored into its neighbours and acquires what they stored here.
  barrier.sync(block, cuda::memory_order_acq_rel, ncclGinFenceLevel::None);
}

__global__ void check(const uint64_t* inbox, int rank, int ranks, int round, unsigned* wrong) {
  for (int from = 0; from < ranks; ++from) {
    for (size_t i = threadIdx.x; i < kWords; i += blockDim.x) {
      if (inbox[static_cast<size_t>(from) * kWords + i] != element(from, rank, round, i)) atomicAdd(wrong, 1u);
    }
  }
}

int all_to_all(RankEnv& env) {
  const size_t bytes = static_cast<size_t>(env.ranks) * kWords * sizeof(uint64_t);
  // Two inboxes: a rank may be a round ahead of one that still checks.
  const SharedMemory even(env.comm, bytes), odd(env.comm, bytes), outbox(env.comm, bytes);
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  requirements.ginContextCount = kBlocks;
  requirements.ginSignalCount = kBlocks;
  requirements.barrierCount = kBlocks;
  const DeviceComm comm(env.comm, requirements);
  const DeviceArray<unsigned> wrong(env, 1);
  for (int round = 0; round < kRounds; ++round) {
    const SharedMemory& inbox = round % 2 == 0 ? even : odd;
    exchange<<<kBlocks, kThreads, 0, env.stream>>>(comm.view(), inbox.window(), outbox.window(), round);
    check<<<1, kThreads, 0, env.stream>>>(static_cast<uint64_t*>(inbox.data()), env.rank, env.ranks, round,
                                          wrong.data());
    CHECK_CUDA(cudaGetLastError());
  }
  char text[96];
  std::snprintf(text, sizeof(text), "%d of %d ranks on this node, %d rounds", comm.view().lsaSize, env.ranks, kRounds);
  return verdict(env, text, static_cast<int>(wrong.on_host()[0]));
}

}  // namespace

int main(int argc, char** argv) {
  return run_example(argc, argv, all_to_all);
}
