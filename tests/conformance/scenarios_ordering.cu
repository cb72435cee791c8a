// SPDX-License-Identifier: Apache-2.0
// What people met with order and visibility: scenarios O1 to O19 of docs/scenarios.md.
#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::fill;
using conformance::kBufferBytes;
using conformance::kSeesFreedoms;
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
using conformance::weak_signals_may_overtake;
using conformance::Window;

constexpr int kThreads = 64;
constexpr ncclGinSignal_t kArrived = 0, kSettled = 1, kAck = 2;

// A freedom: seen where the profile has it, absent where it has not.
void expect_freedom(Rank& rank, unsigned turns, bool exists, const std::string& what) {
  if (exists && kSeesFreedoms && turns == 0) rank.fail(what + ": never seen");
  if (!exists) rank.expect_eq(turns, 0u, what);
}

// --- O1: everybody reads its baseline before anybody puts ------------------------------------------------------------------
__global__ void from_a_baseline(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, uint64_t epoch, unsigned* wrong) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const uint64_t baseline = gin.readSignal(kArrived);
  ncclGinBarrierSession<ncclCoopCta> barrier(block, gin, ncclTeamTagWorld{}, 0);
  if (threadIdx.x == 0) *local(source) = epoch * 100 + static_cast<uint64_t>(comm.rank);
  barrier.sync(block, cuda::memory_order_acq_rel);
  for (int peer = 0; peer < world.nRanks; ++peer) {
    gin.put(world, peer, d, static_cast<size_t>(comm.rank) * 8, source, 0, 8, ncclGin_WeakSignalInc{kArrived}, ncclGin_None{}, block);
  }
  const auto ranks = static_cast<uint64_t>(world.nRanks);
  gin.waitSignal(block, kArrived, baseline + ranks);
  if (threadIdx.x == 0) {
    for (uint64_t from = 0; from < ranks; ++from) *wrong += local(d)[from] != epoch * 100 + from;
    *wrong += baseline != (epoch - 1) * ranks;
  }
  gin.flush(block);
}

CONFORMANCE_CASE(Scenario_O1_a_baseline_that_is_read_before_the_barrier, 3) {
  const Window d = rank.window(4096), source = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> wrong(rank);
  for (uint64_t epoch = 1; epoch <= 20; ++epoch) from_a_baseline<<<1, kThreads, 0, rank.stream>>>(comm, d.handle, source.handle, epoch, wrong.device());
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "words or baselines of another epoch");
}

// --- O3: as many increments as coops ----------------------------------------------------------------------------------------
__global__ void put_by_warps(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source) {
  const ncclGin gin(comm, 0);
  const size_t warp = threadIdx.x / 32;
  gin.put(ncclTeamWorld(comm), 1 - comm.rank, d, warp * 8, source, warp * 8, 8, ncclGin_WeakSignalInc{kArrived}, ncclGin_WeakCounterInc{0}, ncclCoopWarp{});
  gin.flush(ncclCoopCta{});
  ncclGinBarrier(ncclCoopCta{}, gin, ncclTeamTagWorld{}, 0);
}
struct Counts {
  uint64_t signal, counter;
};
__global__ void read_counts(ncclDevComm comm, Counts* counts) {
  const ncclGin gin(comm, 0);
  counts->signal = gin.readSignal(kArrived);
  counts->counter = gin.readCounter(0);
}

CONFORMANCE_CASE(Scenario_O3_each_coop_that_puts_is_one_increment, 2) {
  const Window d = rank.window(4096), source = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Counts> counts(rank);
  put_by_warps<<<1, 128, 0, rank.stream>>>(comm, d.handle, source.handle);
  read_counts<<<1, 1, 0, rank.stream>>>(comm, counts.device());
  rank.finish();
  rank.expect_eq(counts.get().signal, 4u, "increments by four warps");
  rank.expect_eq(counts.get().counter, 4u, "puts counted by four warps");
}

// --- O4: chunk i on context i ------------------------------------------------------------------------------------------------
constexpr int kChunks = 4;
struct Chunks {
  unsigned stale[kChunks];  // turns with an old chunk behind the flag
  unsigned unsettled;
};
__global__ void chunk_each_context(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, bool each_signals, Turns turns, Chunks* seen) {
  const ncclCoopCta block;
  const ncclGin flag(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  Lookout lookout(comm, flag, turns);
  for (uint64_t turn = 1; lookout.takes_place(turn); ++turn) {
    if (comm.rank == 0) {
      fill(local(source), turn);
      for (int i = kChunks - 1; i >= 0; --i) {
        const ncclGin on(comm, i);
        on.put(world, 1, d, static_cast<size_t>(i) * kBufferBytes, source, 0, kBufferBytes, ncclGin_WeakSignalInc{kSettled}, ncclGin_None{}, block);
      }
      flag.signal(world, 1, ncclGin_StrongSignalInc{kArrived}, block);
      flag.waitSignal(block, kAck, turn);
      for (int i = 0; i < kChunks; ++i) ncclGin(comm, i).flush(block);
    } else {
      if (each_signals) {
        for (int i = 0; i < kChunks; ++i) ncclGin(comm, i).waitSignal(block, kSettled, turn);
      } else {
        flag.waitSignal(block, kArrived, turn);
      }
      if (threadIdx.x == 0) {
        for (int i = 0; i < kChunks; ++i) seen->stale[i] += other_than(local(d) + static_cast<size_t>(i) * kWords, turn) != 0;
      }
      for (int i = 0; i < kChunks; ++i) ncclGin(comm, i).waitSignal(block, kSettled, turn);
      for (size_t i = 0; i < kChunks && threadIdx.x == 0; ++i) seen->unsettled += other_than(local(d) + i * kWords, turn) != 0;
      lookout.saw(threadIdx.x == 0 && seen->stale[1] + seen->stale[2] + seen->stale[3] != 0);
      flag.signal(world, 0, ncclGin_StrongSignalInc{kAck}, block);
    }
  }
}
Chunks run_chunks(Rank& rank, bool each_signals) {
  const Window d = rank.window(kChunks * kBufferBytes), source = rank.window(kBufferBytes);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Chunks> seen(rank);
  chunk_each_context<<<1, kThreads, 0, rank.stream>>>(comm, d.handle, source.handle, each_signals, each_signals ? Turns{} : until_seen(), seen.device());
  rank.finish();
  rank.expect_eq(seen.get().unsettled, 0u, "turns with an old chunk behind its own signal");
  return seen.get();
}

CONFORMANCE_CASE(Scenario_O4_a_signal_on_each_context_covers_each_chunk, 2) {
  const Chunks seen = run_chunks(rank, true);
  for (int i = 0; i < kChunks; ++i) rank.expect_eq(seen.stale[i], 0u, "turns with an old chunk " + std::to_string(i));
}
CONFORMANCE_CASE(Scenario_O4_one_strong_flag_covers_its_own_context_only, 2) {
  const Chunks seen = run_chunks(rank, false);
  rank.expect_eq(seen.stale[0], 0u, "turns with an old chunk on the flag's context");
  if (rank.rank == 1 && may_reorder()) expect_freedom(rank, seen.stale[1] + seen.stale[2] + seen.stale[3], true, "an old chunk of another context");
}

// --- O6: a count is not an identity -----------------------------------------------------------------------------------------
__global__ void consume_by_count(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, Turns turns, Chunks* seen) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  Lookout lookout(comm, gin, turns);
  for (uint64_t turn = 1; lookout.takes_place(turn); ++turn) {
    if (comm.rank == 0) {
      fill(local(source), turn);
      for (size_t k = 0; k < kChunks; ++k) gin.put(world, 1, d, k * kBufferBytes, source, 0, kBufferBytes, ncclGin_WeakSignalAdd{kArrived, 1}, ncclGin_None{}, block);
      gin.waitSignal(block, kAck, turn);
      gin.flush(block);
    } else {
      for (uint64_t k = 0; k < kChunks; ++k) {
        gin.waitSignal(block, kArrived, (turn - 1) * kChunks + k + 1);
        if (threadIdx.x == 0) seen->stale[k] += other_than(local(d) + k * kWords, turn) != 0;
      }
      for (size_t k = 0; k < kChunks && threadIdx.x == 0; ++k) seen->unsettled += other_than(local(d) + k * kWords, turn) != 0;
      lookout.saw(threadIdx.x == 0 && seen->stale[0] + seen->stale[1] + seen->stale[2] != 0);
      gin.signal(world, 0, ncclGin_StrongSignalInc{kAck}, block);
    }
  }
}

CONFORMANCE_CASE(Scenario_O6_a_count_of_weak_signals_names_no_chunk, 2) {
  const Window d = rank.window(kChunks * kBufferBytes), source = rank.window(kBufferBytes);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Chunks> seen(rank);
  consume_by_count<<<1, kThreads, 0, rank.stream>>>(comm, d.handle, source.handle, until_seen(1, weak_signals_may_overtake()), seen.device());
  rank.finish();
  const Chunks got = seen.get();
  rank.expect_eq(got.unsettled, 0u, "turns with an old chunk when all were counted");
  rank.expect_eq(got.stale[kChunks - 1], 0u, "turns with an old last chunk");
  if (rank.rank == 1) expect_freedom(rank, got.stale[0] + got.stale[1] + got.stale[2], weak_signals_may_overtake(), "an old chunk behind its count");
}

// --- O8: who releases what many lanes wrote -----------------------------------------------------------------------------------
struct Bytes {
  unsigned wrong, foreign;
};
__global__ void lanes_write_one_puts(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, bool claims_release, Bytes* seen) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const ncclCoopWarp warp;
  for (uint64_t turn = 1; turn <= kTurns; ++turn) {
    if (comm.rank == 0) {
      local(source)[threadIdx.x] = turn;
      __syncwarp();
      if (threadIdx.x == 0) {
        gin.put(world, 1, d, 0, source, 0, 32 * 8, ncclGin_StrongSignalInc{kArrived}, ncclGin_None{}, ncclCoopThread{}, ncclGin_None{},
                claims_release ? cuda::thread_scope_system : cuda::thread_scope_thread);
      }
      gin.waitSignal(warp, kAck, turn);
      gin.flush(warp);
    } else {
      gin.waitSignal(warp, kArrived, turn);
      const uint64_t word = local(d)[threadIdx.x];
      if (word != turn) atomicAdd(&seen->wrong, 1u);
      if (word != turn && word != turn - 1) atomicAdd(&seen->foreign, 1u);
      gin.signal(world, 0, ncclGin_StrongSignalInc{kAck}, warp);
    }
  }
}
Bytes run_lanes(Rank& rank, bool claims_release) {
  const Window d = rank.window(4096), source = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Bytes> seen(rank);
  lanes_write_one_puts<<<1, 32, 0, rank.stream>>>(comm, d.handle, source.handle, claims_release, seen.device());
  rank.finish();
  return seen.get();
}

CONFORMANCE_CASE(Scenario_O8_a_put_releases_what_the_lanes_before_it_wrote, 2) { rank.expect_eq(run_lanes(rank, false).wrong, 0u, "words that a lane wrote and the put left out"); }
CONFORMANCE_CASE(Scenario_O8_a_claimed_release_may_leave_words_of_before, 2) { rank.expect_eq(run_lanes(rank, true).foreign, 0u, "words that nobody wrote"); }

// --- O10: a flag that is put as data -------------------------------------------------------------------------------------------
__global__ void flag_as_data(ncclDevComm comm, ncclWindow_t d, ncclWindow_t flag, ncclWindow_t source, Turns turns, unsigned* stale) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  Lookout lookout(comm, gin, turns);
  for (uint64_t turn = 1; lookout.takes_place(turn); ++turn) {
    if (comm.rank == 0) {
      fill(local(source), turn);
      gin.put(world, 1, d, 0, source, 0, kBufferBytes, ncclGin_None{}, ncclGin_None{}, block);
      gin.put(world, 1, flag, 0, source, 0, 8, ncclGin_None{}, ncclGin_None{}, block);
      gin.signal(world, 1, ncclGin_StrongSignalInc{kSettled}, block);
      gin.waitSignal(block, kAck, turn);
      gin.flush(block);
    } else {
      if (threadIdx.x == 0) {
        cuda::atomic_ref<uint64_t> word(*local(flag));
        while (word.load(cuda::memory_order_acquire) != turn) {
        }
        *stale += other_than(local(d), turn) != 0;
      }
      gin.waitSignal(block, kSettled, turn);
      lookout.saw(threadIdx.x == 0 && *stale != 0);
      gin.signal(world, 0, ncclGin_StrongSignalInc{kAck}, block);
    }
  }
}

CONFORMANCE_CASE(Scenario_O10_a_flag_that_is_data_says_nothing_to_a_spin, 2) {
  const Window d = rank.window(kBufferBytes), flag = rank.window(4096), source = rank.window(kBufferBytes);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> stale(rank);
  flag_as_data<<<1, kThreads, 0, rank.stream>>>(comm, d.handle, flag.handle, source.handle, until_seen(), stale.device());
  rank.finish();
  if (rank.rank == 1) expect_freedom(rank, stale.get(), may_reorder(), "old data behind a flag that was put");
}

// --- O15: a signal for each block -----------------------------------------------------------------------------------------------
__global__ void signal_each_block(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, unsigned* wrong) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const ncclGinSignal_t mine = blockIdx.x;
  const auto ranks = static_cast<uint64_t>(world.nRanks);
  uint64_t* const out = local(source) + blockIdx.x;
  ncclGinBarrierSession<ncclCoopCta> barrier(block, gin, ncclTeamTagWorld{}, blockIdx.x);
  const uint64_t baseline = gin.readSignal(mine);
  for (uint64_t turn = 1; turn <= 50; ++turn) {
    if (threadIdx.x == 0) *out = turn * 1000 + blockIdx.x * 10 + static_cast<uint64_t>(comm.rank);
    barrier.sync(block, cuda::memory_order_acq_rel);
    for (int peer = 0; peer < world.nRanks; ++peer) {
      gin.put(world, peer, d, (static_cast<size_t>(comm.rank) * gridDim.x + blockIdx.x) * 8, source, blockIdx.x * 8, 8, ncclGin_WeakSignalInc{mine}, ncclGin_None{}, block);
    }
    gin.waitSignal(block, mine, baseline + turn * ranks);
    if (threadIdx.x == 0) {
      for (uint64_t from = 0; from < ranks; ++from) wrong[blockIdx.x] += local(d)[from * gridDim.x + blockIdx.x] != turn * 1000 + blockIdx.x * 10 + from;
    }
    gin.flush(block);
    barrier.sync(block, cuda::memory_order_acq_rel);
  }
}

CONFORMANCE_CASE(Scenario_O15_a_signal_for_each_block_counts_its_own_puts, 2) {
  const Window d = rank.window(4096), source = rank.window(4096);
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.worldGinBarrierCount = kChunks;
  const ncclDevComm comm = rank.dev_comm(reqs);
  Outcome<Chunks> wrong(rank);
  signal_each_block<<<kChunks, 32, 0, rank.stream>>>(comm, d.handle, source.handle, wrong.device()->stale);
  rank.finish();
  for (int i = 0; i < kChunks; ++i) rank.expect_eq(wrong.get().stale[i], 0u, "wrong words, block " + std::to_string(i));
}

// --- O19: quiet is not flush: rank 0 puts x at 1, then tells 2, which gets x ------------------------------------------------------
// A barrier covers puts toward those who leave it; of a put toward rank 1, rank 2 knows when rank 1 has left it too: after a second one.
enum class Told { kAfterFlush, kAfterAnswer, kAfterBarriers };
__global__ void put_tell_get(ncclDevComm comm, ncclWindow_t x, ncclWindow_t source, Told told, Turns turns, unsigned* stale) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0), tell(comm, 1);
  const ncclTeam world = ncclTeamWorld(comm);
  ncclGinBarrierSession<ncclCoopCta> fence(block, gin, ncclTeamTagWorld{}, 0), settle(block, gin, ncclTeamTagWorld{}, 1);
  Lookout lookout(comm, gin, turns);
  for (uint64_t turn = 1; lookout.takes_place(turn); ++turn) {
    if (comm.rank == 0) {
      fill(local(source), turn);
      gin.put(world, 1, x, 0, source, 0, kBufferBytes, ncclGin_None{}, ncclGin_None{}, block);
      gin.flush(block);
      if (told == Told::kAfterAnswer) {
        gin.signal(world, 1, ncclGin_StrongSignalInc{kArrived}, block);
        gin.waitSignal(block, kAck, turn);
      }
      if (told != Told::kAfterBarriers) tell.signal(world, 2, ncclGin_StrongSignalInc{kSettled}, block);
    }
    if (comm.rank == 1 && told == Told::kAfterAnswer) {
      gin.waitSignal(block, kArrived, turn);
      gin.signal(world, 0, ncclGin_StrongSignalInc{kAck}, block);
    }
    for (int i = 0; i < 2 && told == Told::kAfterBarriers; ++i) fence.sync(block, cuda::memory_order_acq_rel, ncclGinFenceLevel::Put);
    if (comm.rank == 2) {
      if (told != Told::kAfterBarriers) tell.waitSignal(block, kSettled, turn);
      gin.get(world, 1, x, 0, source, 0, kBufferBytes, block);
      gin.flush(block);
      if (threadIdx.x == 0) *stale += other_than(local(source), turn) != 0;
      lookout.saw(threadIdx.x == 0 && *stale != 0);
    }
    settle.sync(block, cuda::memory_order_acq_rel, ncclGinFenceLevel::Put);
  }
}
unsigned run_put_tell_get(Rank& rank, Told told, Turns turns = {}) {
  const Window x = rank.window(kBufferBytes), source = rank.window(kBufferBytes);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> stale(rank);
  put_tell_get<<<1, kThreads, 0, rank.stream>>>(comm, x.handle, source.handle, told, turns, stale.device());
  rank.finish();
  return stale.get();
}

CONFORMANCE_CASE(Scenario_O19_after_a_flush_another_rank_may_get_old_words, 3) {
  const unsigned stale = run_put_tell_get(rank, Told::kAfterFlush, until_seen());
  if (rank.rank == 2) expect_freedom(rank, stale, may_reorder(), "old words after the putter's flush");
}
CONFORMANCE_CASE(Scenario_O19_after_an_answer_another_rank_gets_new_words, 3) { rank.expect_eq(run_put_tell_get(rank, Told::kAfterAnswer), 0u, "turns with old words"); }
CONFORMANCE_CASE(Scenario_O19_after_two_barriers_with_a_fence_another_rank_gets_new_words, 3) { rank.expect_eq(run_put_tell_get(rank, Told::kAfterBarriers), 0u, "turns with old words"); }

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
