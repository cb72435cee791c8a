// SPDX-License-Identifier: Apache-2.0
// All to all on several nodes: within a node a rank stores into its peer's memory, to the other nodes it puts. Signals
// say what came over the network; the barrier of loads, stores and rails says the rest.
//   ANYGIN_TOPOLOGY=2x4 ./alltoall_hybrid -r 8        anygin run -n 8 --nodes 2 -- ./alltoall_hybrid
#include "common.h"

namespace {

constexpr int kBlocks = 4;
constexpr int kThreads = 128;
constexpr int kRounds = 6;
constexpr size_t kWords = 1024;  // from each rank to each rank
constexpr size_t kShare = kWords / kBlocks;

__host__ __device__ uint64_t element(int from, int to, int round, size_t i) {
  return (static_cast<uint64_t>(from) << 48) + (static_cast<uint64_t>(to) << 32) +
         static_cast<uint64_t>(round) * kWords + i;
}

__device__ size_t place_of(int rank, size_t i) {
  return (static_cast<size_t>(rank) * kWords + i) * sizeof(uint64_t);
}

struct Court {
  ncclDevComm comm;
  ncclWindow_t inboxes[2];  // in turns: a rank may be a round ahead of one that still checks
  ncclWindow_t outbox;
  unsigned* wrong;
};

__device__ void send(const Court& court, const ncclGin& gin, int round, size_t first) {
  const ncclCoopCta block;
  const ncclTeam world = ncclTeamWorld(court.comm), node = ncclTeamLsa(court.comm);
  const ncclWindow_t inbox = court.inboxes[round % 2];
  for (int peer = 0; peer < world.nRanks; ++peer) {
    const bool near = ncclTeamRankIsMember(node, world, peer);
    auto* const into = static_cast<uint64_t*>(
        near ? ncclGetLsaPointer(inbox, place_of(world.rank, first), ncclTeamRankToTeam(node, world, peer))
             : ncclGetLocalPointer(court.outbox, place_of(peer, first)));
    for (size_t i = threadIdx.x; i < kShare; i += blockDim.x) into[i] = element(world.rank, peer, round, first + i);
    if (near) continue;
    gin.put(world, peer, inbox, place_of(world.rank, first), court.outbox, place_of(peer, first),
            kShare * sizeof(uint64_t), ncclGin_WeakSignalInc{blockIdx.x}, ncclGin_None{}, block);
  }
}

__device__ void check(const Court& court, int round, size_t first) {
  const ncclTeam world = ncclTeamWorld(court.comm);
  for (int from = 0; from < world.nRanks; ++from) {
    const auto* const came =
        static_cast<const uint64_t*>(ncclGetLocalPointer(court.inboxes[round % 2], place_of(from, first)));
    for (size_t i = threadIdx.x; i < kShare; i += blockDim.x) {
      if (came[i] != element(from, world.rank, round, first + i)) atomicAdd(court.wrong, 1u);
    }
  }
}

// Each block moves its share of what each pair exchanges.
__global__ void __launch_bounds__(kThreads) exchange(Court court) {
  const ncclCoopCta block;
  const ncclGin gin(court.comm, static_cast<int>(blockIdx.x % court.comm.ginContextCount));
  const size_t first = blockIdx.x * kShare;
  const auto far = static_cast<uint64_t>(court.comm.nRanks - court.comm.lsaSize);
  ncclBarrierSession<ncclCoopCta> barrier(block, ncclTeamTagWorld{}, gin, blockIdx.x);
  for (int round = 0; round < kRounds; ++round) {
    send(court, gin, round, first);
    gin.waitSignal(block, blockIdx.x, static_cast<uint64_t>(round + 1) * far);
    gin.flush(block);  // the outbox is free
    // No fence: each put was waited for, so that the barrier may take the short way, within nodes and then along rails.
    // It releases what this rank stored into its neighbours and acquires what they stored here.
    barrier.sync(block, cuda::memory_order_acq_rel, ncclGinFenceLevel::None);
    check(court, round, first);
  }
}

int all_to_all(RankEnv& env) {
  const size_t bytes = static_cast<size_t>(env.ranks) * kWords * sizeof(uint64_t);
  const SharedMemory even(env.comm, bytes), odd(env.comm, bytes), outbox(env.comm, bytes);
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  requirements.ginContextCount = kBlocks;
  requirements.ginSignalCount = kBlocks;
  requirements.barrierCount = kBlocks;
  const DeviceComm comm(env.comm, requirements);
  const DeviceArray<unsigned> wrong(env, 1);
  exchange<<<kBlocks, kThreads, 0, env.stream>>>(
      {comm.view(), {even.window(), odd.window()}, outbox.window(), wrong.data()});
  CHECK_CUDA(cudaGetLastError());
  char text[96];
  std::snprintf(text, sizeof(text), "%d of %d ranks on this node, %d rounds", comm.view().lsaSize, env.ranks, kRounds);
  return verdict(env, text, static_cast<int>(wrong.on_host()[0]));
}

}  // namespace

int main(int argc, char** argv) {
  return run_example(argc, argv, all_to_all);
}
