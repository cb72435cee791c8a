// SPDX-License-Identifier: Apache-2.0
// Signals and puts: P1-P8, F1-F3.
#include "conformance.h"

namespace {

using conformance::fill;
using conformance::kBufferBytes;
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
constexpr ncclGinSignal_t kArrived = 0, kSettled = 1, kAck = 2;

// What the receiving rank saw over all turns.
struct Seen {
  unsigned stale_d, stale_e;   // turns in which the buffer was not whole when the first signal was seen
  unsigned mixed;              // turns in which words of both turns stood side by side
  unsigned foreign;            // words that are neither this turn's nor the last one's: torn or wild
  unsigned unsettled;          // turns in which d or e was not whole after the strong signal
  unsigned backwards;          // turns in which a later word was new and an earlier one old
};

// Counts by thread 0: how many words are not `turn`, and whether any is neither `turn` nor `turn - 1`.
struct Look {
  unsigned old_words = 0, foreign = 0;
  bool new_after_old = false;
};
__device__ Look look(const uint64_t* words, uint64_t turn) {
  Look seen;
  for (size_t i = 0; i < kWords; ++i) {
    const uint64_t word = cuda::atomic_ref<uint64_t>(const_cast<uint64_t&>(words[i])).load(cuda::memory_order_relaxed);
    if (word == turn) {
      seen.new_after_old |= seen.old_words != 0;
    } else if (word == turn - 1) {
      ++seen.old_words;
    } else {
      ++seen.foreign;
    }
  }
  return seen;
}

// What a case looks for.
enum class Wanted { kNothing, kStaleD, kGranules };
__device__ bool found(const Seen& seen, Wanted wanted) {
  if (wanted == Wanted::kGranules) return seen.mixed != 0 && seen.backwards != 0;
  return wanted == Wanted::kStaleD && seen.stale_d != 0;
}
Turns turns_for(Wanted wanted) { return wanted == Wanted::kNothing ? Turns{} : until_seen(1, weak_signals_may_overtake()); }

enum class First { kWeak, kStrong, kStrongSignalAlone, kWeakSignalAlone, kLegacy };

// Rank 0: put(d); put(e) with a signal (or d, e, then a signal alone); then a strong signal that settles the turn.
// Rank 1: waits, looks, waits for the strong one, looks again, answers.
__global__ void put_put_signal(ncclDevComm comm, ncclWindow_t d, ncclWindow_t e, ncclWindow_t source, First first, int context, Turns turns, Wanted wanted,
                               Seen* seen) {
  const ncclCoopCta block;
  const ncclGin gin(comm, context);
  const ncclTeam world = ncclTeamWorld(comm);
  auto* const words = static_cast<uint64_t*>(ncclGetLocalPointer(source, 0));
  Lookout lookout(comm, gin, turns);
  for (uint64_t turn = 1; lookout.takes_place(turn); ++turn) {
    if (comm.rank == 0) {
      fill(words, turn);
      gin.put(world, 1, d, 0, source, 0, kBufferBytes, ncclGin_None{}, ncclGin_None{}, block);
      const bool alone = first == First::kStrongSignalAlone || first == First::kWeakSignalAlone;
      if (alone) gin.put(world, 1, e, 0, source, 0, kBufferBytes, ncclGin_None{}, ncclGin_None{}, block);
      if (first == First::kStrongSignalAlone) gin.signal(world, 1, ncclGin_StrongSignalInc{kArrived}, block);
      if (first == First::kWeakSignalAlone) gin.signal(world, 1, ncclGin_WeakSignalInc{kArrived}, block);
      if (first == First::kWeak) gin.put(world, 1, e, 0, source, 0, kBufferBytes, ncclGin_WeakSignalInc{kArrived}, ncclGin_None{}, block);
      if (first == First::kStrong) gin.put(world, 1, e, 0, source, 0, kBufferBytes, ncclGin_StrongSignalInc{kArrived}, ncclGin_None{}, block);
      if (first == First::kLegacy) gin.put(world, 1, e, 0, source, 0, kBufferBytes, ncclGin_SignalInc{kArrived}, ncclGin_None{}, block);
      gin.signal(world, 1, ncclGin_StrongSignalInc{kSettled}, block);
      gin.waitSignal(block, kAck, turn);
      gin.flush(block);
    } else {
      const auto* const d_words = static_cast<const uint64_t*>(ncclGetLocalPointer(d, 0));
      const auto* const e_words = static_cast<const uint64_t*>(ncclGetLocalPointer(e, 0));
      gin.waitSignal(block, kArrived, turn);
      if (threadIdx.x == 0) {
        const Look at_d = look(d_words, turn), at_e = look(e_words, turn);
        seen->stale_d += at_d.old_words != 0;
        seen->stale_e += at_e.old_words != 0;
        seen->mixed += at_d.old_words != 0 && at_d.old_words != kWords;
        seen->backwards += at_d.new_after_old;
        seen->foreign += at_d.foreign + at_e.foreign;
      }
      gin.waitSignal(block, kSettled, turn);
      if (threadIdx.x == 0) seen->unsettled += look(d_words, turn).old_words + look(e_words, turn).old_words != 0;
      __syncthreads();
      lookout.saw(threadIdx.x == 0 && found(*seen, wanted));
      gin.signal(world, 0, ncclGin_StrongSignalInc{kAck}, block);
    }
  }
}

Seen run_put_put_signal(Rank& rank, First first, Wanted wanted = Wanted::kNothing, const ncclDevCommRequirements_t& reqs = Rank::requirements(), int context = 0) {
  const Window d = rank.window(kBufferBytes), e = rank.window(kBufferBytes), source = rank.window(kBufferBytes);
  const ncclDevComm comm = rank.dev_comm(reqs);
  Outcome<Seen> seen(rank);
  put_put_signal<<<1, kThreads, 0, rank.stream>>>(comm, d.handle, e.handle, source.handle, first, context, turns_for(wanted), wanted,
                                                 seen.device());
  rank.finish();
  const Seen result = seen.get();
  rank.expect_eq(result.foreign, 0u, "words that nobody wrote");
  rank.expect_eq(result.unsettled, 0u, "turns unsettled after a strong signal");
  return result;
}

CONFORMANCE_CASE(P1_a_weak_signal_covers_its_own_payload, 2) {
  rank.expect_eq(run_put_put_signal(rank, First::kWeak).stale_e, 0u, "turns with a stale payload of the signal itself");
}

CONFORMANCE_CASE(P1_a_strong_signal_covers_its_own_payload, 2) {
  rank.expect_eq(run_put_put_signal(rank, First::kStrong).stale_e, 0u, "turns with a stale payload of the signal itself");
}

CONFORMANCE_CASE(P2_a_strong_signal_covers_earlier_puts, 2) {
  rank.expect_eq(run_put_put_signal(rank, First::kStrong).stale_d, 0u, "turns with a stale earlier put");
}

CONFORMANCE_CASE(P3_a_strong_signal_alone_covers_earlier_puts, 2) {
  const Seen seen = run_put_put_signal(rank, First::kStrongSignalAlone);
  rank.expect_eq(seen.stale_d + seen.stale_e, 0u, "turns with a stale earlier put");
}

#if CONFORMANCE_SINCE_2_30
// Freedoms: reached where the profile allows them, absent where it does not.
void expect_reached(Rank& rank, unsigned turns, const char* what) {
  if (rank.rank == 0) return;
  if (weak_signals_may_overtake() && turns == 0) rank.fail(std::string(what) + ": never seen in " + std::to_string(conformance::kUntilSeen) + " turns");
  if (!weak_signals_may_overtake()) rank.expect_eq(turns, 0u, what);
}

CONFORMANCE_CASE(P3_F_a_weak_signal_alone_does_not_cover_earlier_puts, 2) {
  expect_reached(rank, run_put_put_signal(rank, First::kWeakSignalAlone, Wanted::kStaleD).stale_d, "old d after a weak signal");
}

CONFORMANCE_CASE(F1_a_weak_signal_says_nothing_of_earlier_puts, 2) {
  expect_reached(rank, run_put_put_signal(rank, First::kWeak, Wanted::kStaleD).stale_d, "old d after a weak signal on e");
}

CONFORMANCE_CASE(F2_the_granules_of_a_put_come_in_any_order, 2) {
  const Seen seen = run_put_put_signal(rank, First::kWeak, Wanted::kGranules);
  expect_reached(rank, seen.mixed, "d half old, half new");
  expect_reached(rank, seen.backwards, "a later granule of d before an earlier one");
}
#endif

CONFORMANCE_CASE(P8_legacy_signals_are_strong_by_default, 2) {
  rank.expect_eq(run_put_put_signal(rank, First::kLegacy).stale_d, 0u, "turns with a stale earlier put");
}

#if CONFORMANCE_SINCE_2_30
__global__ void legacy_weak(ncclDevComm comm, ncclWindow_t d, ncclWindow_t e, ncclWindow_t source, Turns turns, Seen* seen) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  auto* const words = static_cast<uint64_t*>(ncclGetLocalPointer(source, 0));
  // Without strong signals a turn is settled by the barrier's Put fence (P18).
  ncclGinBarrierSession<ncclCoopCta> barrier(block, gin, ncclTeamTagWorld{}, 0);
  Lookout lookout(comm, gin, turns);
  for (uint64_t turn = 1; lookout.takes_place(turn); ++turn) {
    if (comm.rank == 0) {
      fill(words, turn);
      gin.put(world, 1, d, 0, source, 0, kBufferBytes, ncclGin_None{}, ncclGin_None{}, block);
      gin.put(world, 1, e, 0, source, 0, kBufferBytes, ncclGin_SignalInc{kArrived}, ncclGin_None{}, block);
    } else {
      gin.waitSignal(block, kArrived, turn);
      if (threadIdx.x == 0) seen->stale_d += look(static_cast<const uint64_t*>(ncclGetLocalPointer(d, 0)), turn).old_words != 0;
      if (threadIdx.x == 0) seen->stale_e += look(static_cast<const uint64_t*>(ncclGetLocalPointer(e, 0)), turn).old_words != 0;
    }
    barrier.sync(block, cuda::memory_order_acq_rel);
    if (comm.rank == 1 && threadIdx.x == 0) {
      seen->unsettled += look(static_cast<const uint64_t*>(ncclGetLocalPointer(d, 0)), turn).old_words != 0;
    }
    if (comm.rank == 1) lookout.saw(threadIdx.x == 0 && seen->stale_d != 0);
    barrier.sync(block, cuda::memory_order_acq_rel);
  }
}

CONFORMANCE_CASE(P8_legacy_signals_are_weak_where_strong_ones_are_not_required, 2) {
  const Window d = rank.window(kBufferBytes), e = rank.window(kBufferBytes), source = rank.window(kBufferBytes);
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.ginStrongSignalsRequired = false;
  const ncclDevComm comm = rank.dev_comm(reqs);
  Outcome<Seen> seen(rank);
  legacy_weak<<<1, kThreads, 0, rank.stream>>>(comm, d.handle, e.handle, source.handle, until_seen(1, weak_signals_may_overtake()), seen.device());
  rank.finish();
  const Seen result = seen.get();
  rank.expect_eq(result.stale_e, 0u, "turns with a stale payload of the signal itself");
  rank.expect_eq(result.unsettled, 0u, "turns unsettled after the barrier's Put fence");
  expect_reached(rank, result.stale_d, "old d after a legacy signal on e");
}
#endif

#if CONFORMANCE_SINCE_2_30
// --- P4: exactly once ----------------------------------------------------------------------------------------------
constexpr int kBlocks = 4;
constexpr uint64_t kBigAdd = 0x8000000000000123ull;  // wraps when added twice

// Every lane of every rank adds to signal 0 (by one) and signal 1 (by its own value) of every rank.
__global__ void add_everywhere(ncclDevComm comm) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const uint64_t lane = blockIdx.x * blockDim.x + threadIdx.x;
  for (int peer = 0; peer < world.nRanks; ++peer) {
    gin.signal(world, peer, ncclGin_WeakSignalInc{0});
    gin.signal(world, peer, ncclGin_StrongSignalAdd{1, lane * 1000 + static_cast<uint64_t>(comm.rank)});
    gin.signal(world, peer, ncclGin_WeakSignalAdd{3, kBigAdd});
  }
}

__global__ void read_signals(ncclDevComm comm, uint64_t incs, uint64_t sum, uint64_t wraps, uint64_t* values) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  gin.waitSignal(block, 0, incs);
  gin.waitSignal(block, 1, sum);
  ncclGinBarrier(block, gin, ncclTeamTagWorld{}, 0);
  if (threadIdx.x == 0) {
    values[0] = gin.readSignal(0);
    values[1] = gin.readSignal(1);
    values[2] = gin.readSignal(3);
  }
  (void)wraps;
}

CONFORMANCE_CASE(P4_every_increment_and_addition_counts_once, 3) {
  const ncclDevComm comm = rank.dev_comm();
  const uint64_t lanes = kBlocks * kThreads, ranks = 3;
  const uint64_t incs = lanes * ranks;
  const uint64_t sum = 1000 * (lanes * (lanes - 1) / 2) * ranks + lanes * (0 + 1 + 2);
  const uint64_t wrapped = incs * kBigAdd;
  struct Values {
    uint64_t value[3];
  };
  Outcome<Values> values(rank);
  add_everywhere<<<kBlocks, kThreads, 0, rank.stream>>>(comm);
  read_signals<<<1, kThreads, 0, rank.stream>>>(comm, incs, sum, wrapped, values.device()->value);
  rank.finish();
  const Values got = values.get();
  rank.expect_eq(got.value[0], incs, "increments");
  rank.expect_eq(got.value[1], sum, "sum of additions");
  rank.expect_eq(got.value[2], wrapped, "sum of additions modulo 2^64");
}
#endif

// --- P5, P6, P7 ------------------------------------------------------------------------------------------------------
struct SelfSeen {
  uint64_t stale, signal, counter, zero_signal, zero_counter;
};
__global__ void put_to_self(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, SelfSeen* seen) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 1);
  const ncclTeam world = ncclTeamWorld(comm);
  auto* const words = static_cast<uint64_t*>(ncclGetLocalPointer(source, 0));
  for (uint64_t turn = 1; turn <= kTurns; ++turn) {
    fill(words, turn);
    gin.put(world, comm.rank, d, 0, source, 0, kBufferBytes, ncclGin_WeakSignalInc{kArrived}, ncclGin_WeakCounterInc{0}, block);
    gin.waitSignal(block, kArrived, turn);
    if (threadIdx.x == 0) seen->stale += look(static_cast<const uint64_t*>(ncclGetLocalPointer(d, 0)), turn).old_words;
    gin.waitCounter(block, 0, turn);
  }
  // P6: no bytes, all actions.
  gin.put(world, (comm.rank + 1) % comm.nRanks, d, 0, source, 0, 0, ncclGin_StrongSignalInc{5}, ncclGin_WeakCounterInc{3}, block);
  gin.put(world, (comm.rank + 1) % comm.nRanks, d, 0, source, 0, 0, ncclGin_None{}, ncclGin_WeakCounterInc{3}, block);
  gin.waitSignal(block, 5, 1);
  gin.waitCounter(block, 3, 2);
  if (threadIdx.x == 0) {
    seen->signal = gin.readSignal(kArrived);
    seen->counter = gin.readCounter(0);
    seen->zero_signal = gin.readSignal(5);
    seen->zero_counter = gin.readCounter(3);
  }
}

CONFORMANCE_CASE(P5_P6_a_put_to_oneself_and_a_put_of_no_bytes, 2) {
  const Window d = rank.window(kBufferBytes), source = rank.window(kBufferBytes);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<SelfSeen> seen(rank);
  put_to_self<<<1, kThreads, 0, rank.stream>>>(comm, d.handle, source.handle, seen.device());
  rank.finish();
  const SelfSeen got = seen.get();
  rank.expect_eq(got.stale, 0u, "stale words after a put to oneself");
  rank.expect_eq(got.signal, static_cast<uint64_t>(kTurns), "signal of puts to oneself");
  rank.expect_eq(got.counter, static_cast<uint64_t>(kTurns), "counter of puts to oneself");
  rank.expect_eq(got.zero_signal, 1u, "signal of a put of no bytes");
  rank.expect_eq(got.zero_counter, 2u, "counter of puts of no bytes");
}

// Values of every size, next to guard bytes; the variable is overwritten at once.
constexpr unsigned char kGuard = 0xee;
__global__ void put_values(ncclDevComm comm, ncclWindow_t d, unsigned* wrong) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  for (uint64_t turn = 1; turn <= kTurns; ++turn) {
    if (comm.rank == 0) {
      uint64_t eight = 0x1122334455667700ull + turn;
      uint32_t four = 0xa0b0c000u + static_cast<uint32_t>(turn);
      auto two = static_cast<uint16_t>(0x5500 + turn);
      auto one = static_cast<uint8_t>(turn);
      gin.putValue(world, 1, d, 8, eight);
      gin.putValue(world, 1, d, 20, four);
      gin.putValue(world, 1, d, 26, two);
      gin.putValue(world, 1, d, 29, one, ncclGin_StrongSignalInc{kArrived});
      eight = four = two = one = 0;
      gin.waitSignal(ncclCoopThread{}, kAck, turn);
    } else {
      const auto* const bytes = static_cast<const unsigned char*>(ncclGetLocalPointer(d, 0));
      gin.waitSignal(ncclCoopThread{}, kArrived, turn);
      unsigned char want[40];
      memset(want, kGuard, sizeof(want));
      const uint64_t eight = 0x1122334455667700ull + turn;
      const uint32_t four = 0xa0b0c000u + static_cast<uint32_t>(turn);
      const auto two = static_cast<uint16_t>(0x5500 + turn);
      memcpy(want + 8, &eight, 8);
      memcpy(want + 20, &four, 4);
      memcpy(want + 26, &two, 2);
      want[29] = static_cast<unsigned char>(turn);
      for (int i = 0; i < 40; ++i) *wrong += bytes[i] != want[i];
      gin.signal(world, 0, ncclGin_StrongSignalInc{kAck});
    }
  }
}

CONFORMANCE_CASE(P7_putValue_copies_at_the_call_and_writes_its_size_only, 2) {
  const Window d = rank.window(4096);
  std::memset(d.buffer, kGuard, d.bytes);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> wrong(rank);
  put_values<<<1, 1, 0, rank.stream>>>(comm, d.handle, wrong.device());
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "wrong bytes");
}

// --- F3: contexts are unordered with each other ----------------------------------------------------------------------
__global__ void two_contexts(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, Turns turns, Seen* seen) {
  const ncclCoopCta block;
  const ncclGin one(comm, 0), other(comm, 1);
  const ncclTeam world = ncclTeamWorld(comm);
  auto* const words = static_cast<uint64_t*>(ncclGetLocalPointer(source, 0));
  Lookout lookout(comm, one, turns);
  for (uint64_t turn = 1; lookout.takes_place(turn); ++turn) {
    if (comm.rank == 0) {
      fill(words, turn);
      one.put(world, 1, d, 0, source, 0, kBufferBytes, ncclGin_StrongSignalInc{kSettled}, ncclGin_None{}, block);
      other.signal(world, 1, ncclGin_StrongSignalInc{kArrived}, block);
      one.waitSignal(block, kAck, turn);
      one.flush(block);
    } else {
      const auto* const d_words = static_cast<const uint64_t*>(ncclGetLocalPointer(d, 0));
      other.waitSignal(block, kArrived, turn);
      if (threadIdx.x == 0) seen->stale_d += look(d_words, turn).old_words != 0;
      one.waitSignal(block, kSettled, turn);
      if (threadIdx.x == 0) seen->unsettled += look(d_words, turn).old_words != 0;
      __syncthreads();
      lookout.saw(threadIdx.x == 0 && seen->stale_d != 0);
      one.signal(world, 0, ncclGin_StrongSignalInc{kAck}, block);
    }
  }
}

CONFORMANCE_CASE(F3_contexts_are_unordered_with_each_other, 2) {
  const Window d = rank.window(kBufferBytes), source = rank.window(kBufferBytes);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Seen> seen(rank);
  two_contexts<<<1, kThreads, 0, rank.stream>>>(comm, d.handle, source.handle, until_seen(), seen.device());
  rank.finish();
  const Seen got = seen.get();
  rank.expect_eq(got.unsettled, 0u, "turns unsettled after the put's own signal");
  // Allowed under every profile; those that reorder must reach it.
  if (rank.rank == 1 && may_reorder() && got.stale_d == 0) rank.fail("old d after another context's signal: never seen");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
