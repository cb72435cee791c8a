// SPDX-License-Identifier: Apache-2.0
// Completion: P10, P12, F4-F7, P33.
#include "conformance.h"

namespace {

using conformance::fill;
using conformance::kBufferBytes;
using conformance::local;
using conformance::other_than;
using conformance::kTurns;
using conformance::kWords;
using conformance::Lookout;
using conformance::kSeesFreedoms;
using conformance::may_reorder;
using conformance::Outcome;
using conformance::Rank;
using conformance::Turns;
using conformance::until_seen;
using conformance::Window;

constexpr int kThreads = 64;
constexpr ncclGinSignal_t kArrived = 0, kSettled = 1, kAck = 2;
constexpr ncclGinCounter_t kDone = 0;

enum class Release { kFlush, kCounter, kNothing };
constexpr uint64_t kOverwritten = 0xdeadbeefdeadbeefull;

// Rank 0 puts and overwrites the source as soon as it may (or at once); rank 1 looks at what came.
__global__ void overwrite_source(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, Release release, Turns turns, unsigned* wrong) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  Lookout lookout(comm, gin, turns);
  for (uint64_t turn = 1; lookout.takes_place(turn); ++turn) {
    if (comm.rank == 0) {
      fill(local(source), turn);
      gin.put(world, 1, d, 0, source, 0, kBufferBytes, ncclGin_StrongSignalInc{kArrived}, ncclGin_WeakCounterInc{kDone}, block);
      if (release == Release::kFlush) gin.flush(block);
      if (release == Release::kCounter) gin.waitCounter(block, kDone, turn);
      fill(local(source), kOverwritten);
      gin.waitSignal(block, kAck, turn);
      gin.flush(block);
    } else {
      gin.waitSignal(block, kArrived, turn);
      if (threadIdx.x == 0) *wrong += other_than(local(d), turn) != 0;
      lookout.saw(threadIdx.x == 0 && *wrong != 0);
      __syncthreads();
      gin.signal(world, 0, ncclGin_StrongSignalInc{kAck}, block);
    }
  }
}

unsigned run_overwrite(Rank& rank, Release release) {
  const Window d = rank.window(kBufferBytes), source = rank.window(kBufferBytes);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> wrong(rank);
  overwrite_source<<<1, kThreads, 0, rank.stream>>>(comm, d.handle, source.handle, release, release == Release::kNothing ? until_seen() : Turns{}, wrong.device());
  rank.finish();
  return wrong.get();
}

CONFORMANCE_CASE(P10_after_flush_a_source_may_be_overwritten, 2) {
  rank.expect_eq(run_overwrite(rank, Release::kFlush), 0u, "turns in which overwritten bytes arrived");
}

CONFORMANCE_CASE(P12_after_its_counter_a_source_may_be_overwritten, 2) {
  rank.expect_eq(run_overwrite(rank, Release::kCounter), 0u, "turns in which overwritten bytes arrived");
}

CONFORMANCE_CASE(F6_a_source_is_read_at_any_moment_before_completion, 2) {
  const unsigned turns = run_overwrite(rank, Release::kNothing);
  if (rank.rank == 1 && may_reorder() && turns == 0) rank.fail("bytes written after the put arrived: never seen");
}

#if CONFORMANCE_SINCE_2_30
__global__ void get_and_flush(ncclDevComm comm, ncclWindow_t remote, ncclWindow_t mine, unsigned* wrong) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  ncclGinBarrierSession<ncclCoopCta> barrier(block, gin, ncclTeamTagWorld{}, 0);
  for (uint64_t turn = 1; turn <= kTurns; ++turn) {
    fill(local(remote), turn * 10 + static_cast<uint64_t>(comm.rank));
    barrier.sync(block, cuda::memory_order_acq_rel);
    const int peer = (comm.rank + 1) % comm.nRanks;
    gin.get(world, peer, remote, 0, mine, 0, kBufferBytes, block);
    gin.flush(block);
    if (threadIdx.x == 0) *wrong += other_than(local(mine), turn * 10 + static_cast<uint64_t>(peer));
    barrier.sync(block, cuda::memory_order_acq_rel);
  }
}

CONFORMANCE_CASE(P10_after_flush_a_get_is_readable, 3) {
  const Window remote = rank.window(kBufferBytes), mine = rank.window(kBufferBytes);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> wrong(rank);
  get_and_flush<<<1, kThreads, 0, rank.stream>>>(comm, remote.handle, mine.handle, wrong.device());
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "wrong words after get and flush");
}
#endif

// F4: after a flush the destination may still be old. Rank 0 says so by a path of its own: another context.
__global__ void flush_then_tell(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, Turns turns, unsigned* stale) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0), tell(comm, 1);
  const ncclTeam world = ncclTeamWorld(comm);
  Lookout lookout(comm, gin, turns);
  for (uint64_t turn = 1; lookout.takes_place(turn); ++turn) {
    if (comm.rank == 0) {
      fill(local(source), turn);
      gin.put(world, 1, d, 0, source, 0, kBufferBytes, ncclGin_None{}, ncclGin_None{}, block);
      gin.flush(block);
      tell.signal(world, 1, ncclGin_WeakSignalInc{kArrived}, block);
      gin.signal(world, 1, ncclGin_StrongSignalInc{kSettled}, block);
      gin.waitSignal(block, kAck, turn);
    } else {
      tell.waitSignal(block, kArrived, turn);
      if (threadIdx.x == 0) *stale += other_than(local(d), turn) != 0;
      gin.waitSignal(block, kSettled, turn);
      lookout.saw(threadIdx.x == 0 && *stale != 0);
      gin.signal(world, 0, ncclGin_StrongSignalInc{kAck}, block);
    }
  }
}

CONFORMANCE_CASE(F4_flush_says_nothing_about_the_destination, 2) {
  const Window d = rank.window(kBufferBytes), source = rank.window(kBufferBytes);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> stale(rank);
  flush_then_tell<<<1, kThreads, 0, rank.stream>>>(comm, d.handle, source.handle, until_seen(), stale.device());
  rank.finish();
  if (rank.rank == 1 && may_reorder() && stale.get() == 0) rank.fail("old d after the sender's flush: never seen");
  if (rank.rank == 1 && !may_reorder()) rank.expect_eq(stale.get(), 0u, "old d after the sender's flush, where completion is visibility");
}

#if CONFORMANCE_SINCE_2_30
// F5: the counter of a put to one peer says nothing of a put to another.
__global__ void counter_of_another(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, Turns turns, unsigned* overwritten) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  Lookout lookout(comm, gin, turns);
  for (uint64_t turn = 1; comm.rank != 2 && lookout.takes_place(turn); ++turn) {
    if (comm.rank == 0) {
      fill(local(source), turn);
      gin.put(world, 1, d, 0, source, 0, kBufferBytes, ncclGin_StrongSignalInc{kArrived}, ncclGin_None{}, block);
      gin.put(world, 2, d, 0, source, 0, 8, ncclGin_None{}, ncclGin_WeakCounterInc{kDone}, block);
      gin.waitCounter(block, kDone, turn);
      fill(local(source), kOverwritten);
      gin.waitSignal(block, kAck, turn);
      gin.flush(block);
    } else if (comm.rank == 1) {
      gin.waitSignal(block, kArrived, turn);
      if (threadIdx.x == 0) *overwritten += other_than(local(d), turn) != 0;
      lookout.saw(threadIdx.x == 0 && *overwritten != 0);
      __syncthreads();
      gin.signal(world, 0, ncclGin_StrongSignalInc{kAck}, block);
    }
  }
  ncclGinBarrier(block, gin, ncclTeamTagWorld{}, 0);  // rank 2 stays until the last put to it is done
}

CONFORMANCE_CASE(F5_a_counter_says_nothing_of_other_puts, 3) {
  const Window d = rank.window(kBufferBytes), source = rank.window(kBufferBytes);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> overwritten(rank);
  counter_of_another<<<1, kThreads, 0, rank.stream>>>(comm, d.handle, source.handle, until_seen(), overwritten.device());
  rank.finish();
  if (rank.rank == 1 && kSeesFreedoms && may_reorder() && overwritten.get() == 0) rank.fail("the other put's source read after the counter: never seen");
}

// F7: a later put may overtake an earlier get of the same words.
__global__ void get_then_put(ncclDevComm comm, ncclWindow_t remote, ncclWindow_t mine, ncclWindow_t source, bool wait_first, Turns turns,
                             unsigned* overtaken) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  ncclGinBarrierSession<ncclCoopCta> barrier(block, gin, ncclTeamTagWorld{}, 0);
  Lookout lookout(comm, gin, turns);
  for (uint64_t turn = 1; lookout.takes_place(turn); ++turn) {
    if (comm.rank == 0) {
      fill(local(source), turn);
      gin.get(world, 1, remote, 0, mine, 0, kBufferBytes, block);
      if (wait_first) gin.flush(block);
      gin.put(world, 1, remote, 0, source, 0, kBufferBytes, ncclGin_None{}, ncclGin_None{}, block);
      gin.flush(block);
      if (threadIdx.x == 0) *overtaken += other_than(local(mine), turn - 1) != 0;
      lookout.saw(threadIdx.x == 0 && *overtaken != 0);
    }
    barrier.sync(block, cuda::memory_order_acq_rel);
  }
}

unsigned run_get_then_put(Rank& rank, bool wait_first) {
  const Window remote = rank.window(kBufferBytes), mine = rank.window(kBufferBytes), source = rank.window(kBufferBytes);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> overtaken(rank);
  get_then_put<<<1, kThreads, 0, rank.stream>>>(comm, remote.handle, mine.handle, source.handle, wait_first, wait_first ? Turns{} : until_seen(),
                                                overtaken.device());
  rank.finish();
  return overtaken.get();
}

CONFORMANCE_CASE(F7_a_later_put_may_overtake_a_get, 2) {
  const unsigned overtaken = run_get_then_put(rank, false);
  if (rank.rank == 0 && may_reorder() && overtaken == 0) rank.fail("a get that saw a later put: never seen");
  if (!may_reorder()) rank.expect_eq(overtaken, 0u, "gets that saw a later put");
}

CONFORMANCE_CASE(F7_not_if_the_get_was_waited_for, 2) {
  rank.expect_eq(run_get_then_put(rank, true), 0u, "gets that saw a later put");
}

// P33: queues of two places, far more operations than places, from many lanes at once.
constexpr int kLanes = 256, kPutsPerLane = 20;
__global__ void flood(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const size_t lane = threadIdx.x;
  auto* const mine = local(source) + lane;
  *mine = static_cast<uint64_t>(comm.rank) * 1000 + lane;
  for (int i = 0; i < kPutsPerLane; ++i) {
    for (int peer = 0; peer < world.nRanks; ++peer) {
      const size_t place = (static_cast<size_t>(comm.rank) * kLanes + lane) * sizeof(uint64_t);
      gin.put(world, peer, d, place, source, lane * sizeof(uint64_t), sizeof(uint64_t), ncclGin_WeakSignalInc{kArrived}, ncclGin_WeakCounterInc{kDone});
    }
  }
  gin.waitSignal(ncclCoopCta{}, kArrived, uint64_t{kLanes} * kPutsPerLane * static_cast<uint64_t>(world.nRanks));
  gin.flush(ncclCoopCta{});
  ncclGinBarrier(ncclCoopCta{}, gin, ncclTeamTagWorld{}, 0);
}
__global__ void read_totals(ncclDevComm comm, uint64_t* totals) {
  const ncclGin gin(comm, 0);
  totals[0] = gin.readSignal(kArrived);
  totals[1] = gin.readCounter(kDone);
}

CONFORMANCE_CASE(P33_a_full_queue_delays_and_never_drops, 3) {
  const Window d = rank.window(3 * kLanes * sizeof(uint64_t)), source = rank.window(kLanes * sizeof(uint64_t));
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.ginQueueDepth = 2;
  const ncclDevComm comm = rank.dev_comm(reqs);
  struct Totals {
    uint64_t total[2];
  };
  Outcome<Totals> totals(rank);
  flood<<<1, kLanes, 0, rank.stream>>>(comm, d.handle, source.handle);
  read_totals<<<1, 1, 0, rank.stream>>>(comm, totals.device()->total);
  rank.finish();
  const uint64_t operations = uint64_t{kLanes} * kPutsPerLane * 3;
  rank.expect_eq(totals.get().total[0], operations, "signals");
  rank.expect_eq(totals.get().total[1], operations, "counter");
  for (size_t source_rank = 0; source_rank < 3; ++source_rank) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      rank.expect_eq(d.words()[source_rank * kLanes + lane], source_rank * 1000 + lane, "word");
    }
  }
}
#endif


}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
