// SPDX-License-Identifier: Apache-2.0
// Barriers of all contexts, of nodes and network together, of many blocks: P20, P23, P24, F9, E20.
#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::fill;
using conformance::kBufferBytes;
using conformance::kTurns;
using conformance::kWords;
using conformance::local;
using conformance::Lookout;
using conformance::may_reorder;
using conformance::other_than;
using conformance::Outcome;
using conformance::Rank;
using conformance::Turns;
using conformance::until_seen;
using conformance::Window;

constexpr int kThreads = 64;
constexpr int kContexts = 4;

// --- P20, F9 -----------------------------------------------------------------------------------------------------------------
// Each rank puts to the next on every context, a buffer each, and looks behind the barrier; one of all contexts settles.
__global__ void put_on_all(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, bool all, Turns turns, unsigned* stale) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  ncclGinBarrierSession<ncclCoopCta> one(block, gin, ncclTeamTagWorld{}, 0);
  ncclGinBarrierSession<ncclCoopCta> every(block, ncclGinAllContexts(comm), ncclTeamTagWorld{}, 1);
  Lookout lookout(comm, gin, turns);
  for (uint64_t turn = 1; lookout.takes_place(turn); ++turn) {
    fill(local(source), turn);
    for (int context = 0; context < kContexts; ++context) {
      const ncclGin on(comm, context);
      on.put(world, (comm.rank + 1) % comm.nRanks, d, static_cast<size_t>(context) * kBufferBytes, source, 0, kBufferBytes, ncclGin_None{}, ncclGin_None{}, block);
    }
    all ? every.sync(block, cuda::memory_order_acq_rel, ncclGinFenceLevel::Put) : one.sync(block, cuda::memory_order_acq_rel, ncclGinFenceLevel::Put);
    if (threadIdx.x == 0) {
      for (size_t context = 0; context < kContexts; ++context) stale[context] += other_than(local(d) + context * kWords, turn) != 0;
    }
    for (int context = 0; context < kContexts; ++context) ncclGin(comm, context).flush(block);
    lookout.saw(threadIdx.x == 0 && stale[1] + stale[2] + stale[3] != 0);
    every.sync(block, cuda::memory_order_acq_rel, ncclGinFenceLevel::Put);
  }
}

struct Stale {
  unsigned on[kContexts];
};
Stale run_put_on_all(Rank& rank, bool all, Turns turns = {}) {
  const Window d = rank.window(kContexts * kBufferBytes), source = rank.window(kBufferBytes);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Stale> stale(rank);
  put_on_all<<<1, kThreads, 0, rank.stream>>>(comm, d.handle, source.handle, all, turns, stale.device()->on);
  rank.finish();
  return stale.get();
}

CONFORMANCE_CASE(P20_a_barrier_of_all_contexts_covers_every_context, 2) {
  const Stale stale = run_put_on_all(rank, true);
  for (int context = 0; context < kContexts; ++context) rank.expect_eq(stale.on[context], 0u, "turns with an old d, context " + std::to_string(context));
}

CONFORMANCE_CASE(F9_a_barrier_of_one_context_covers_one, 2) {
  const Stale stale = run_put_on_all(rank, false, until_seen(2));
  rank.expect_eq(stale.on[0], 0u, "turns with an old d on the barrier's own context");
  if (conformance::kSeesFreedoms && may_reorder() && stale.on[1] + stale.on[2] + stale.on[3] == 0) rank.fail("an old d on another context: never seen");
}

// --- P23: two nodes of two ---------------------------------------------------------------------------------------------------
// Each rank writes its turn to all: by a store where it reaches, else by a put.
__global__ void write_to_all(ncclDevComm comm, ncclWindow_t slots, ncclWindow_t source, bool fence, unsigned* old) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm), node = ncclTeamLsa(comm);
  ncclBarrierSession<ncclCoopCta> barrier(block, ncclTeamTagWorld{}, gin, 0);
  ncclBarrierSession<ncclCoopCta> settle(block, ncclTeamTagWorld{}, gin, 1);
  const size_t mine = static_cast<size_t>(comm.rank) * sizeof(uint64_t);
  for (uint64_t turn = 1; turn <= kTurns; ++turn) {
    if (turn % static_cast<uint64_t>(comm.nRanks) == static_cast<uint64_t>(comm.rank)) __nanosleep(100000);
    if (threadIdx.x == 0) *local(source) = turn;
    __syncthreads();
    for (int peer = 0; peer < world.nRanks; ++peer) {
      if (ncclTeamRankIsMember(node, world, peer)) {
        if (threadIdx.x == 0) *static_cast<uint64_t*>(ncclGetPeerPointer(slots, mine, peer)) = turn;
      } else {
        gin.put(world, peer, slots, mine, source, 0, sizeof(uint64_t), ncclGin_None{}, ncclGin_None{}, block);
      }
    }
    barrier.sync(block, cuda::memory_order_acq_rel, fence ? ncclGinFenceLevel::Put : ncclGinFenceLevel::None);
    for (int from = static_cast<int>(threadIdx.x); from < world.nRanks; from += static_cast<int>(blockDim.x)) {
      const bool covered = fence || ncclTeamRankIsMember(node, world, from);
      if (covered && local(slots)[from] != turn) atomicAdd(old, 1u);
    }
    gin.flush(block);
    settle.sync(block, cuda::memory_order_acq_rel, ncclGinFenceLevel::Put);
  }
}

void run_hybrid(Rank& rank, bool fence) {
  const Window slots = rank.window(4096), source = rank.window(4096);
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.barrierCount = 2;
  const ncclDevComm comm = rank.dev_comm(reqs);
  Outcome<unsigned> old(rank);
  write_to_all<<<1, 32, 0, rank.stream>>>(comm, slots.handle, source.handle, fence, old.device());
  rank.finish();
  rank.expect_eq(old.get(), 0u, "slots of before");
}

CONFORMANCE_CASE_WITH(P23_the_hybrid_barrier_with_a_fence_covers_stores_and_puts, 4, {"ANYGIN_TOPOLOGY=2x2"}) { run_hybrid(rank, true); }
CONFORMANCE_CASE_WITH(P23_the_hybrid_barrier_without_a_fence_covers_stores, 4, {"ANYGIN_TOPOLOGY=2x2"}) { run_hybrid(rank, false); }
CONFORMANCE_CASE_WITH(P23_the_hybrid_barrier_of_nodes_of_different_size, 5, {"ANYGIN_TOPOLOGY=2,3"}) { run_hybrid(rank, true); }

// --- P24: relaxed barriers meet; what they order is nothing -------------------------------------------------------------------
// Rank 1 comes to the second barrier only.
template <typename Session>
__device__ void meet_relaxed(Session& missed, Session& met, bool comes, unsigned* results) {
  const ncclCoopThread thread;
  if (comes) results[0] = static_cast<unsigned>(missed.sync(thread, cuda::memory_order_relaxed, 20'000'000));
  results[1] = static_cast<unsigned>(met.sync(thread, cuda::memory_order_relaxed, 10'000'000'000));
}
__global__ void relaxed(ncclDevComm comm, unsigned* results) {
  ncclLsaBarrierSession<ncclCoopThread> missed(ncclCoopThread{}, comm, ncclTeamTagLsa{}, 0), met(ncclCoopThread{}, comm, ncclTeamTagLsa{}, 1);
  meet_relaxed(missed, met, comm.rank == 0, results);
}

CONFORMANCE_CASE(P24_a_relaxed_barrier_still_waits_for_all, 2) {
  const ncclDevComm comm = rank.dev_comm();
  struct Results {
    unsigned missed, met;
  };
  Outcome<Results> results(rank);
  relaxed<<<1, 1, 0, rank.stream>>>(comm, &results.device()->missed);
  rank.finish();
  rank.expect_eq(results.get().missed, rank.rank == 0 ? static_cast<unsigned>(ncclTimeout) : 0u, "the barrier that rank 1 does not come to");
  rank.expect_eq(results.get().met, static_cast<unsigned>(ncclSuccess), "the barrier that both come to");
}

// --- E20: a barrier a block ---------------------------------------------------------------------------------------------------
constexpr int kMany = 1024;
__global__ void barrier_each(ncclDevComm comm, unsigned* met) {
  ncclGinBarrier(ncclCoopCta{}, ncclGin(comm, 0), ncclTeamTagWorld{}, blockIdx.x);
  if (threadIdx.x == 0) atomicAdd(met, 1u);
}

CONFORMANCE_CASE(Scenario_E20_a_barrier_for_each_of_many_blocks, 2) {
  const unsigned blocks = conformance::in_simulation() ? 128 : kMany;
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.worldGinBarrierCount = static_cast<int>(blocks);
  const ncclDevComm comm = rank.dev_comm(reqs);
  Outcome<unsigned> met(rank);
  barrier_each<<<blocks, 1, 0, rank.stream>>>(comm, met.device());
  rank.finish();
  rank.expect_eq(met.get(), blocks, "blocks that met their like");
}

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
