// SPDX-License-Identifier: Apache-2.0
// Barriers: P17-P19, P22, F8.
#include "conformance.h"

namespace {

using conformance::kBufferBytes;
using conformance::local;
using conformance::other_than;
using conformance::kTurns;
using conformance::kWords;
using conformance::Lookout;
using conformance::may_reorder;
using conformance::Outcome;
using conformance::Rank;
using conformance::Turns;
using conformance::until_seen;
using conformance::weak_signals_may_overtake;
using conformance::Window;

constexpr int kThreads = 64;

// P17: every rank writes its round into everybody's slot before it enters; whoever left must see all slots at that round.
// The slots are written through LSA, so one node holds all ranks here. Each rank in turn is late.
template <typename Enter>
__device__ void rounds(const ncclDevComm& comm, ncclWindow_t slots, uint64_t index, uint64_t turns, Enter enter, unsigned* early) {
  const size_t base = index * static_cast<size_t>(comm.nRanks);
  for (uint64_t turn = 1; turn <= turns; ++turn) {
    if (turn % static_cast<uint64_t>(comm.nRanks) == static_cast<uint64_t>(comm.rank)) __nanosleep(100000);
    if (threadIdx.x == 0) {
      for (int peer = 0; peer < comm.nRanks; ++peer) {
        auto* const slot = static_cast<uint64_t*>(ncclGetLsaPointer(slots, (base + static_cast<size_t>(comm.rank)) * 8, peer));
        cuda::atomic_ref<uint64_t>(*slot).store(turn, cuda::memory_order_relaxed);
      }
    }
    enter();
    if (threadIdx.x == 0) {
      for (int peer = 0; peer < comm.nRanks; ++peer) {
        auto* const slot = static_cast<uint64_t*>(ncclGetLocalPointer(slots, (base + static_cast<size_t>(peer)) * 8));
        const uint64_t seen = cuda::atomic_ref<uint64_t>(*slot).load(cuda::memory_order_relaxed);
        *early += seen != turn && seen != turn + 1;  // the next round may have begun, no later one
      }
    }
    __syncthreads();
  }
}

#if CONFORMANCE_SINCE_2_30
__global__ void gin_rounds(ncclDevComm comm, ncclWindow_t slots, uint64_t turns, unsigned* early) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  ncclGinBarrierSession<ncclCoopCta> barrier(block, gin, ncclTeamTagWorld{}, blockIdx.x);
  rounds(comm, slots, blockIdx.x, turns, [&] { barrier.sync(block, cuda::memory_order_acq_rel); }, &early[blockIdx.x]);
}
#endif

__global__ void lsa_rounds(ncclDevComm comm, ncclWindow_t slots, uint64_t turns, bool multimem, unsigned* early) {
  const ncclCoopCta block;
  ncclLsaBarrierSession<ncclCoopCta> barrier(block, comm, ncclTeamTagLsa{}, blockIdx.x, multimem);
  rounds(comm, slots, blockIdx.x, turns, [&] { barrier.sync(block, cuda::memory_order_acq_rel); }, &early[blockIdx.x]);
}

constexpr int kIndices = 4;
struct Early {
  unsigned at[kIndices];
};

template <typename Kernel>
void run_rounds(Rank& rank, Kernel kernel, bool multimem = false) {
  const Window slots = rank.window(4096);
  ncclDevCommRequirements_t reqs = Rank::requirements();
#if CONFORMANCE_SINCE_2_30
  reqs.worldGinBarrierCount = kIndices;
#endif
  reqs.lsaBarrierCount = kIndices;
  reqs.lsaMultimem = multimem;
  const ncclDevComm comm = rank.dev_comm(reqs);
  Outcome<Early> early(rank);
  kernel(comm, slots.handle, rank.ranks > 4 && conformance::in_simulation() ? 8 : kTurns, early.device()->at);
  rank.finish();
  for (int i = 0; i < kIndices; ++i) rank.expect_eq(early.get().at[i], 0u, "ranks seen outside the round, index " + std::to_string(i));
}

#if CONFORMANCE_SINCE_2_30
void run_gin_rounds(Rank& rank) {
  run_rounds(rank, [&](const ncclDevComm& comm, ncclWindow_t slots, uint64_t turns, unsigned* early) {
    gin_rounds<<<kIndices, kThreads, 0, rank.stream>>>(comm, slots, turns, early);
  });
}

CONFORMANCE_CASE(P17_nobody_leaves_a_barrier_before_all_have_entered, 4) { run_gin_rounds(rank); }
CONFORMANCE_CASE(Scenario_E21_the_barrier_of_two, 2) { run_gin_rounds(rank); }
CONFORMANCE_CASE(Scenario_E21_the_barrier_of_three, 3) { run_gin_rounds(rank); }
CONFORMANCE_CASE(Scenario_E21_the_barrier_of_eight, 8) { run_gin_rounds(rank); }
#endif

CONFORMANCE_CASE(P22_an_lsa_barrier_releases_and_acquires, 4) {
  run_rounds(rank, [&](const ncclDevComm& comm, ncclWindow_t slots, uint64_t turns, unsigned* early) {
    lsa_rounds<<<kIndices, kThreads, 0, rank.stream>>>(comm, slots, turns, false, early);
  });
}

#if CONFORMANCE_SINCE_2_30
// Where there is no multicast, the case says nothing.
CONFORMANCE_CASE(P22_an_lsa_barrier_by_multicast_releases_and_acquires, 4) {
  ncclCommProperties_t properties = NCCL_COMM_PROPERTIES_INITIALIZER;
  rank.must(ncclCommQueryProperties(rank.comm, &properties), "ncclCommQueryProperties");
  if (!properties.multimemSupport) return;
  run_rounds(
      rank, [&](const ncclDevComm& comm, ncclWindow_t slots, uint64_t turns, unsigned* early) { lsa_rounds<<<kIndices, kThreads, 0, rank.stream>>>(comm, slots, turns, true, early); }, true);
}

// P17: a later kernel reuses the index.
__global__ void one_round(ncclDevComm comm) {
  ncclGinBarrier(ncclCoopCta{}, ncclGin(comm, 0), ncclTeamTagWorld{}, 1);
  ncclLsaBarrierSession<ncclCoopCta> lsa(ncclCoopCta{}, comm, ncclTeamTagLsa{}, 1);
  lsa.sync(ncclCoopCta{}, cuda::memory_order_acq_rel);
}

CONFORMANCE_CASE(P17_a_later_kernel_reuses_an_index, 3) {
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> filled(rank);
  for (int i = 1; i <= 20; ++i) {  // all are queued while the first ones wait for the other ranks
    one_round<<<1, kThreads, 0, rank.stream>>>(comm);
    rank.must(cudaMemsetAsync(filled.device(), i, sizeof(unsigned), rank.stream), "cudaMemsetAsync");
  }
  rank.finish();
  rank.expect_eq(filled.get(), 0x14141414u, "the last fill behind the kernels");
}

// P18, F8: puts toward me before the barrier, with and without the Put fence. P19 likewise for gets.
__global__ void put_barrier(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, ncclGinFenceLevel fence, Turns turns, unsigned* stale) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  ncclGinBarrierSession<ncclCoopCta> barrier(block, gin, ncclTeamTagWorld{}, 0);
  ncclGinBarrierSession<ncclCoopCta> settle(block, gin, ncclTeamTagWorld{}, 1);
  Lookout lookout(comm, gin, turns);
  for (uint64_t turn = 1; lookout.takes_place(turn); ++turn) {
    for (size_t i = threadIdx.x; i < kWords; i += blockDim.x) local(source)[i] = turn;
    gin.put(world, (comm.rank + 1) % comm.nRanks, d, 0, source, 0, kBufferBytes, ncclGin_None{}, ncclGin_None{}, block);
    // covers: ncclGinBarrierSession.sync(untimed)
    barrier.sync(block, cuda::memory_order_acq_rel, fence);
    if (threadIdx.x == 0) *stale += other_than(local(d), turn) != 0;
    gin.flush(block);
    lookout.saw(threadIdx.x == 0 && *stale != 0);
    settle.sync(block, cuda::memory_order_acq_rel, ncclGinFenceLevel::Put);
  }
}

unsigned run_put_barrier(Rank& rank, ncclGinFenceLevel fence, bool strong, Turns turns = {}) {
  const Window d = rank.window(kBufferBytes), source = rank.window(kBufferBytes);
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.ginStrongSignalsRequired = strong;
  const ncclDevComm comm = rank.dev_comm(reqs);
  Outcome<unsigned> stale(rank);
  put_barrier<<<1, kThreads, 0, rank.stream>>>(comm, d.handle, source.handle, fence, turns, stale.device());
  rank.finish();
  return stale.get();
}

CONFORMANCE_CASE(P18_the_put_fence_settles_puts_of_all_members, 3) {
  rank.expect_eq(run_put_barrier(rank, ncclGinFenceLevel::Put, true), 0u, "turns with an old d after the fence");
}
CONFORMANCE_CASE(P18_also_where_strong_signals_are_not_required, 3) {
  rank.expect_eq(run_put_barrier(rank, ncclGinFenceLevel::Put, false), 0u, "turns with an old d after the fence");
}
CONFORMANCE_CASE(P18_also_of_a_put_to_oneself, 1) {
  rank.expect_eq(run_put_barrier(rank, ncclGinFenceLevel::Put, true), 0u, "turns with an old d after the fence");
}
CONFORMANCE_CASE(F8_without_a_fence_a_barrier_settles_no_puts, 3) {
  const unsigned stale = run_put_barrier(rank, ncclGinFenceLevel::None, true, until_seen(3, weak_signals_may_overtake()));
  if (weak_signals_may_overtake() && stale == 0) rank.fail("old d after a barrier without fence: never seen");
  if (!weak_signals_may_overtake()) rank.expect_eq(stale, 0u, "turns with an old d");
}

__global__ void get_barrier(ncclDevComm comm, ncclWindow_t remote, ncclWindow_t mine, ncclGinFenceLevel fence, Turns turns, unsigned* unfinished) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  ncclGinBarrierSession<ncclCoopCta> barrier(block, gin, ncclTeamTagWorld{}, 0);
  const int peer = (comm.rank + 1) % comm.nRanks;
  Lookout lookout(comm, gin, turns);
  for (uint64_t turn = 1; lookout.takes_place(turn); ++turn) {
    const uint64_t value = turn * 10;
    for (size_t i = threadIdx.x; i < kWords; i += blockDim.x) local(remote)[i] = value + static_cast<uint64_t>(comm.rank);
    barrier.sync(block, cuda::memory_order_acq_rel);
    gin.get(world, peer, remote, 0, mine, 0, kBufferBytes, block);
    barrier.sync(block, cuda::memory_order_acq_rel, fence);
    if (threadIdx.x == 0) *unfinished += other_than(local(mine), value + static_cast<uint64_t>(peer)) != 0;
    gin.flush(block);
    lookout.saw(threadIdx.x == 0 && *unfinished != 0);
    barrier.sync(block, cuda::memory_order_acq_rel);
  }
}

unsigned run_get_barrier(Rank& rank, ncclGinFenceLevel fence, Turns turns = {}) {
  const Window remote = rank.window(kBufferBytes), mine = rank.window(kBufferBytes);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> unfinished(rank);
  get_barrier<<<1, kThreads, 0, rank.stream>>>(comm, remote.handle, mine.handle, fence, turns, unfinished.device());
  rank.finish();
  return unfinished.get();
}

CONFORMANCE_CASE(P19_the_get_fence_lands_my_gets, 2) {
  rank.expect_eq(run_get_barrier(rank, ncclGinFenceLevel::Get), 0u, "turns with an unfinished get after the fence");
}
CONFORMANCE_CASE(F8_without_a_fence_a_barrier_lands_no_gets, 2) {
  const unsigned unfinished = run_get_barrier(rank, ncclGinFenceLevel::None, until_seen(2));
  if (may_reorder() && unfinished == 0) rank.fail("a get still under way after a barrier without fence: never seen");
}

// P21: the timed form says when a member is missing.
__global__ void timed(ncclDevComm comm, ncclResult_t* result) {
  const ncclCoopThread thread;
  ncclGinBarrierSession<ncclCoopThread> barrier(thread, ncclGin(comm, 0), ncclTeamTagWorld{}, 0);
  *result = barrier.sync(thread, cuda::memory_order_acq_rel, ncclGinFenceLevel::None, 20'000'000);
}

CONFORMANCE_CASE(P21_a_timed_barrier_returns_when_a_member_is_missing, 2) {
  const ncclDevComm comm = rank.dev_comm();
  Outcome<ncclResult_t> result(rank);
  if (rank.rank == 0) timed<<<1, 1, 0, rank.stream>>>(comm, result.device());
  rank.finish();
  rank.expect_eq(result.get(), rank.rank == 0 ? ncclTimeout : ncclSuccess, "result of the timed barrier");
}
#endif


}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
