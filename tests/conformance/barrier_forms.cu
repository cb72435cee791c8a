// SPDX-License-Identifier: Apache-2.0
// Every form of every barrier on two nodes of two ranks: with the Put fence it settles what members put toward me, and a
// timed form says when a member is missing (contract 8.1 to 8.3).
#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::local;
using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

constexpr auto kOrder = cuda::memory_order_acq_rel;
constexpr uint64_t kLong = 10'000'000'000, kShort = 20'000'000;  // nanoseconds
constexpr int kContexts = 4;

struct Handles {
  ncclDevComm comm;
  ncclGinBarrierHandle own;      // of all ranks, two barriers
  ncclLsaBarrierHandle own_lsa;  // of the node
};

Handles make_handles(Rank& rank) {
  Handles made;
  ncclDevResourceRequirements_t gin_node, lsa_node;
  rank.must(ncclGinBarrierCreateRequirement(rank.comm, ncclTeamWorld(rank.comm), 2, &made.own, &gin_node), "ncclGinBarrierCreateRequirement");
  rank.must(ncclLsaBarrierCreateRequirement(ncclTeamLsa(rank.comm), 2, &made.own_lsa, &lsa_node), "ncclLsaBarrierCreateRequirement");
  gin_node.next = &lsa_node;
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.resourceRequirementsList = &gin_node;
  reqs.railGinBarrierCount = 2;
  reqs.barrierCount = 2;
  made.comm = rank.dev_comm(reqs);
  return made;
}

struct Seen {
  unsigned wrong[16];
  unsigned results;
};

// One turn of one form: each member puts a word to the next one on every context that the barrier covers.
struct Turns {
  const ncclDevComm& comm;
  ncclWindow_t d, source;
  uint64_t turn = 0;
  Seen* seen;

  template <typename Enter>
  __device__ void with(ncclTeam team, int contexts, Enter enter) {
    const ncclCoopCta block;
    ++turn;
    if (threadIdx.x == 0) local(source)[0] = 100 * turn + static_cast<uint64_t>(comm.rank);
    const int next = (team.rank + 1) % team.nRanks, last = (team.rank + team.nRanks - 1) % team.nRanks;
    for (int c = 0; c < contexts; ++c) {
      ncclGin(comm, c).put(team, next, d, 8 * static_cast<size_t>(c), source, 0, 8, ncclGin_None{}, ncclGin_None{}, block);
    }
    enter();
    const uint64_t want = 100 * turn + static_cast<uint64_t>(ncclTeamRankToWorld(comm, team, last));
    if (threadIdx.x == 0) {
      for (int c = 0; c < contexts; ++c) seen->wrong[turn - 1] += local(d)[c] != want;
    }
    // The words are read, and every put's source is free.
    ncclGinBarrier(block, ncclGinAllContexts(comm), ncclTeamTagWorld{}, 1);
  }
};

__global__ void gin_forms(Handles handles, ncclWindow_t d, ncclWindow_t source, Seen* seen) {
  const ncclDevComm& comm = handles.comm;
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclGinAllContexts all(comm);
  const ncclTeam world = ncclTeamWorld(comm), rail = ncclTeamRail(comm);
  Turns turns{comm, d, source, 0, seen};
  turns.with(world, 1, [&] {
    // covers: ncclGinBarrierSession.ncclGinBarrierSession(handle); ncclGinBarrierSession.sync(untimed)
    ncclGinBarrierSession<ncclCoopCta> session(block, gin, world, handles.own, 1);
    session.sync(block, kOrder);
  });
  turns.with(rail, 1, [&] {
    // covers: ncclGinBarrierSession.ncclGinBarrierSession(ncclTeamTagRail)
    ncclGinBarrierSession<ncclCoopCta> session(block, gin, ncclTeamTagRail{}, 0);
    session.sync(block, kOrder, ncclGinFenceLevel::Put);
  });
  turns.with(world, 1, [&] {
    // covers: ncclGinBarrierSession.ncclGinBarrierSession(ncclTeamTagWorld); ncclGinBarrierSession.sync(timed)
    ncclGinBarrierSession<ncclCoopCta> session(block, gin, ncclTeamTagWorld{}, 0);
    const ncclResult_t result = session.sync(block, kOrder, Put | Get, kLong);
    if (threadIdx.x == 0) seen->results += result == ncclSuccess;
  });
  turns.with(world, kContexts, [&] {
    // covers: ncclGinBarrierSession.ncclGinBarrierSession(all contexts, handle)
    ncclGinBarrierSession<ncclCoopCta> session(block, all, world, handles.own, 0);
    session.sync(block, kOrder);
  });
  turns.with(rail, kContexts, [&] {
    // covers: ncclGinBarrierSession.ncclGinBarrierSession(all contexts, ncclTeamTagRail)
    ncclGinBarrierSession<ncclCoopCta> session(block, all, ncclTeamTagRail{}, 1);
    session.sync(block, kOrder);
  });
  turns.with(world, kContexts, [&] {
    // covers: ncclGinBarrierSession.ncclGinBarrierSession(all contexts, ncclTeamTagWorld)
    ncclGinBarrierSession<ncclCoopCta> session(block, all, ncclTeamTagWorld{}, 1);
    const ncclResult_t result = session.sync(block, kOrder, Put | Get, kLong);
    if (threadIdx.x == 0) seen->results += result == ncclSuccess;
  });
  // covers: ncclGinBarrier(handle)
  turns.with(world, 1, [&] { ncclGinBarrier(block, gin, world, handles.own, 1); });
  // covers: ncclGinBarrier(ncclTeamTagRail)
  turns.with(rail, 1, [&] { ncclGinBarrier(block, gin, ncclTeamTagRail{}, 0); });
  // covers: ncclGinBarrier(ncclTeamTagWorld)
  turns.with(world, 1, [&] { ncclGinBarrier(block, gin, ncclTeamTagWorld{}, 0, kOrder, ncclGinFenceLevel::Put); });
  // covers: ncclGinBarrier(all contexts, handle)
  turns.with(world, kContexts, [&] { ncclGinBarrier(block, all, world, handles.own, 0); });
  // covers: ncclGinBarrier(all contexts, ncclTeamTagRail)
  turns.with(rail, kContexts, [&] { ncclGinBarrier(block, all, ncclTeamTagRail{}, 1); });
  // covers: ncclGinBarrier(all contexts, ncclTeamTagWorld)
  turns.with(world, kContexts, [&] { ncclGinBarrier(block, all, ncclTeamTagWorld{}, 1, kOrder, Put | Get); });
}

void expect_turns(Rank& rank, const Seen& seen, int turns, unsigned results) {
  for (int i = 0; i < turns; ++i) rank.expect_eq(seen.wrong[i], 0u, "old words after form " + std::to_string(i));
  rank.expect_eq(seen.results, results, "timed forms that returned ncclSuccess");
}

CONFORMANCE_CASE_WITH(P18_every_form_of_a_gin_barrier_settles_puts, 4, {"ANYGIN_TOPOLOGY=2x2"}) {
  const Window d = rank.window(4096), source = rank.window(4096);
  const Handles handles = make_handles(rank);
  Outcome<Seen> seen(rank);
  gin_forms<<<1, 64, 0, rank.stream>>>(handles, d.handle, source.handle, seen.device());
  rank.finish();
  expect_turns(rank, seen.get(), 12, 2);
}

// --- Hybrid barriers -------------------------------------------------------------------------------------------------
__global__ void hybrid_forms(Handles handles, ncclWindow_t d, ncclWindow_t source, Seen* seen) {
  const ncclDevComm& comm = handles.comm;
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm), rail = ncclTeamRail(comm), node = ncclTeamLsa(comm);
  Turns turns{comm, d, source, 0, seen};
  turns.with(world, 1, [&] {
    // covers: ncclBarrierSession.ncclBarrierSession(ncclTeamTagWorld); ncclBarrierSession.sync(untimed)
    ncclBarrierSession<ncclCoopCta> session(block, ncclTeamTagWorld{}, gin, 0);
    session.sync(block, kOrder);
  });
  turns.with(world, 1, [&] {
    ncclBarrierSession<ncclCoopCta> session(block, ncclTeamTagWorld{}, gin, 1);
    // covers: ncclBarrierSession.sync(timed)
    const ncclResult_t result = session.sync(block, kOrder, Put | Get, kLong);
    if (threadIdx.x == 0) seen->results += result == ncclSuccess;
  });
  turns.with(rail, 1, [&] {
    // covers: ncclBarrierSession.ncclBarrierSession(ncclTeamTagRail)
    ncclBarrierSession<ncclCoopCta> session(block, ncclTeamTagRail{}, gin, 0);
    session.sync(block, kOrder);
  });
  turns.with(rail, 1, [&] {
    // covers: ncclBarrierSession.ncclBarrierSession(two teams)
    ncclBarrierSession<ncclCoopCta> session(block, node, rail, gin, handles.own_lsa, comm.railGinBarrier, 1);
    session.sync(block, kOrder);
    if (threadIdx.x == 0) seen->results += session.lsaBarrier().epoch == 1 && session.ginBarrier().team.nRanks == rail.nRanks;
  });
  // covers: ncclBarrier(ncclTeamTagWorld)
  turns.with(world, 1, [&] { ncclBarrier(block, ncclTeamTagWorld{}, gin, 0); });
  // covers: ncclBarrier(ncclTeamTagRail)
  turns.with(rail, 1, [&] { ncclBarrier(block, ncclTeamTagRail{}, gin, 1, kOrder, ncclGinFenceLevel::Put); });
  // Between ranks of a node nothing is put: each writes into the others' memory.
  {
    // covers: ncclBarrierSession.ncclBarrierSession(ncclTeamTagLsa)
    ncclBarrierSession<ncclCoopCta> session(block, ncclTeamTagLsa{}, comm, 1);
    if (threadIdx.x == 0) static_cast<uint64_t*>(ncclGetLsaPointer(d, 64, 1 - comm.lsaRank))[0] = 7000 + static_cast<uint64_t>(comm.lsaRank);
    session.sync(block, kOrder);
    if (threadIdx.x == 0) seen->wrong[6] += local(d)[8] != 7000 + static_cast<uint64_t>(1 - comm.lsaRank);
  }
}

CONFORMANCE_CASE_WITH(P23_every_form_of_a_hybrid_barrier, 4, {"ANYGIN_TOPOLOGY=2x2"}) {
  const Window d = rank.window(4096), source = rank.window(4096);
  const Handles handles = make_handles(rank);
  Outcome<Seen> seen(rank);
  hybrid_forms<<<1, 64, 0, rank.stream>>>(handles, d.handle, source.handle, seen.device());
  rank.finish();
  expect_turns(rank, seen.get(), 7, 2);
}

// --- A member is missing ---------------------------------------------------------------------------------------------
struct Results {
  ncclResult_t world_put, world_none, rail, lsa;
};

// The last rank does not come. Without the Put fence the world barrier goes by node and rail: rank 0's node and rail are
// complete, the others' are not.
__global__ void without_one(ncclDevComm comm, Results* results) {
  const ncclCoopThread thread;
  const ncclGin gin(comm, 0);
  results->world_put = ncclBarrierSession<ncclCoopThread>(thread, ncclTeamTagWorld{}, gin, 0).sync(thread, kOrder, ncclGinFenceLevel::Put, kShort);
  ncclBarrierSession<ncclCoopThread> world(thread, ncclTeamTagWorld{}, gin, 1);
  results->world_none = world.sync(thread, kOrder, ncclGinFenceLevel::None, comm.rank == 0 ? kLong : kShort);
  ncclGinBarrierSession<ncclCoopThread> rail(thread, gin, ncclTeamTagRail{}, 1);
  results->rail = rail.sync(thread, kOrder, ncclGinFenceLevel::Put, comm.rank % 2 == 0 ? kLong : kShort);
  ncclLsaBarrierSession<ncclCoopThread> lsa(thread, comm, ncclTeamTagLsa{}, 1);
  lsa.arrive(thread, kOrder);
  // covers: ncclLsaBarrierSession.wait(timed)
  results->lsa = lsa.wait(thread, kOrder, comm.rank < 2 ? kLong : kShort);
}

CONFORMANCE_CASE_WITH(P21_every_timed_barrier_says_when_a_member_is_missing, 4, {"ANYGIN_TOPOLOGY=2x2"}) {
  const Handles handles = make_handles(rank);
  Outcome<Results> outcome(rank);
  if (rank.rank != 3) without_one<<<1, 1, 0, rank.stream>>>(handles.comm, outcome.device());
  rank.finish();
  if (rank.rank == 3) return;
  const Results got = outcome.get();
  rank.expect_eq(got.world_put, ncclTimeout, "all ranks over the network");
  rank.expect_eq(got.world_none, rank.rank == 0 ? ncclSuccess : ncclTimeout, "by node and rail");
  rank.expect_eq(got.rail, rank.rank == 1 ? ncclTimeout : ncclSuccess, "the rail");
  rank.expect_eq(got.lsa, rank.rank == 2 ? ncclTimeout : ncclSuccess, "the node");
}

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
