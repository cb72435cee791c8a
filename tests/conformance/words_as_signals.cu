// SPDX-License-Identifier: Apache-2.0
// Signals that are words of a window: P9, M1, M3, M12.
#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::fill;
using conformance::kBufferBytes;
using conformance::kTurns;
using conformance::local;
using conformance::other_than;
using conformance::Outcome;
using conformance::Rank;
using conformance::WhenDone;
using conformance::Window;

constexpr int kThreads = 64;
constexpr int kOrdered = NCCL_WIN_COLL_SYMMETRIC | NCCL_WIN_STRICT_ORDERING;
constexpr size_t kArrived = 64, kSettled = 72, kAck = 4088;  // places in the window of words; the last one there is

struct Seen {
  unsigned stale_own, stale_earlier, unsettled;
};

// Rank 0: put(d); put(e) with a signal; a strong signal that settles the turn. Rank 1 looks behind each.
__global__ void put_put_signal(ncclDevComm comm, ncclWindow_t d, ncclWindow_t e, ncclWindow_t source, ncclWindow_t words, bool strong, Seen* seen) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  for (uint64_t turn = 1; turn <= kTurns; ++turn) {
    if (comm.rank == 0) {
      fill(local(source), turn);
      gin.put(world, 1, d, 0, source, 0, kBufferBytes, ncclGin_None{}, ncclGin_None{}, block);
      if (strong) {
        gin.put(world, 1, e, 0, source, 0, kBufferBytes, ncclGin_StrongVASignalInc{words, kArrived}, ncclGin_None{}, block);
      } else {
        gin.put(world, 1, e, 0, source, 0, kBufferBytes, ncclGin_WeakVASignalInc{words, kArrived}, ncclGin_None{}, block);
      }
      gin.signal(world, 1, ncclGin_StrongVASignalInc{words, kSettled}, block);
      gin.waitSignal(block, words, kAck, turn);
      gin.flush(block);
    } else {
      gin.waitSignal(block, words, kArrived, turn);
      if (threadIdx.x == 0) {
        seen->stale_own += other_than(local(e), turn) != 0;
        seen->stale_earlier += other_than(local(d), turn) != 0;
      }
      gin.waitSignal(block, words, kSettled, turn);
      if (threadIdx.x == 0) seen->unsettled += other_than(local(d), turn) != 0;
      gin.signal(world, 0, ncclGin_StrongVASignalInc{words, kAck}, block);
    }
  }
  gin.flush(block);  // what names a window is done before the window goes
}

Seen run_put_put_signal(Rank& rank, bool strong) {
  const Window d = rank.window(kBufferBytes), e = rank.window(kBufferBytes), source = rank.window(kBufferBytes);
  const Window words = rank.window(4096, kOrdered);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Seen> seen(rank);
  put_put_signal<<<1, kThreads, 0, rank.stream>>>(comm, d.handle, e.handle, source.handle, words.handle, strong, seen.device());
  rank.finish();
  const Seen result = seen.get();
  rank.expect_eq(result.stale_own, 0u, "turns with a stale payload of the signal itself");
  rank.expect_eq(result.unsettled, 0u, "turns unsettled after a strong signal");
  return result;
}

CONFORMANCE_CASE(P9_a_weak_signal_in_a_window_covers_its_own_payload, 2) { run_put_put_signal(rank, false); }
CONFORMANCE_CASE(P9_a_strong_signal_in_a_window_covers_earlier_puts, 2) {
  rank.expect_eq(run_put_put_signal(rank, true).stale_earlier, 0u, "turns with a stale earlier put");
}

// Every lane of every rank adds to two words of every rank: by one, and by a value that wraps when it is added twice.
constexpr uint64_t kBigAdd = 0x8000000000000123ull;
__global__ void add_everywhere(ncclDevComm comm, ncclWindow_t words) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  for (int peer = 0; peer < world.nRanks; ++peer) {
    gin.signal(world, peer, ncclGin_WeakVASignalAdd{words, kAck, kBigAdd});
    gin.signal(world, peer, ncclGin_StrongVASignalInc{words, kArrived});
  }
}
struct Words {
  uint64_t incs, sum, between, after_reset, after_reset_and_add;
};
__global__ void read_words(ncclDevComm comm, ncclWindow_t words, uint64_t incs, Words* read) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  gin.waitSignal(block, words, kArrived, incs);
  ncclGinBarrier(block, gin, ncclTeamTagWorld{}, 0);
  if (threadIdx.x == 0) {
    read->incs = gin.readSignal(words, kArrived);
    read->sum = gin.readSignal(words, kAck);
    read->between = gin.readSignal(words, kSettled);
    gin.resetSignal(words, kAck);
    read->after_reset = gin.readSignal(words, kAck);
  }
  ncclGinBarrier(block, gin, ncclTeamTagWorld{}, 0);
  gin.signal(ncclTeamWorld(comm), (comm.rank + 1) % comm.nRanks, ncclGin_StrongVASignalAdd{words, kAck, 7}, block);
  gin.waitSignal(block, words, kAck, 7);
  gin.flush(block);
  if (threadIdx.x == 0) read->after_reset_and_add = gin.readSignal(words, kAck);
}

CONFORMANCE_CASE(P9_additions_to_words_of_a_window_count_once, 3) {
  const Window words = rank.window(4096, kOrdered);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Words> read(rank);
  const uint64_t incs = uint64_t{kThreads} * 3;
  add_everywhere<<<1, kThreads, 0, rank.stream>>>(comm, words.handle);
  read_words<<<1, kThreads, 0, rank.stream>>>(comm, words.handle, incs, read.device());
  rank.finish();
  const Words got = read.get();
  rank.expect_eq(got.incs, incs, "increments");
  rank.expect_eq(got.sum, incs * kBigAdd, "sum of additions modulo 2^64");
  rank.expect_eq(got.between, 0u, "the word beside the first");
  rank.expect_eq(got.after_reset, 0u, "the word after its reset");
  rank.expect_eq(got.after_reset_and_add, 7u, "the word after its reset and an addition");
}

// --- M1, M3, M12: refused where they are used -----------------------------------------------------------------------------
struct Use {
  bool strong, by_address;
  size_t place;
};
__global__ void use_signal(ncclDevComm comm, ncclWindow_t words, Use use, unsigned* passed) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  if (use.by_address && use.strong) gin.signal(world, 0, ncclGin_StrongVASignalInc{words, use.place});
  if (use.by_address && !use.strong) gin.signal(world, 0, ncclGin_WeakVASignalInc{words, use.place});
  if (!use.by_address && use.strong) gin.signal(world, 0, ncclGin_StrongSignalInc{0});
  if (!use.by_address && !use.strong) gin.signal(world, 0, ncclGin_WeakSignalInc{0});
  gin.flush(ncclCoopThread{});
  *passed = 1;
}

// `remedy`: what the report says would be right; empty: the use is right.
void run_use(Rank& rank, Use use, const std::string& remedy, int flags = kOrdered, bool strong_granted = true, bool by_address_granted = true) {
  const Window words = rank.window(4096, flags);
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.ginStrongSignalsRequired = strong_granted;
  reqs.ginVaSignalsRequired = by_address_granted;
  const ncclDevComm comm = rank.dev_comm(reqs);
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  use_signal<<<1, 1, 0, rank.stream>>>(comm, words.handle, use, passed.device());
  conformance::expect_end(rank, passed, remedy.empty(), {"ncclGin::signal by rank 0", remedy, "[at "});
}

const std::string kOrder = "register it with NCCL_WIN_STRICT_ORDERING", kAlign = "signal offset 68 is not a multiple of 8";
const std::string kAskStrong = "set ncclDevCommRequirements::ginStrongSignalsRequired", kAskPlaces = "set ncclDevCommRequirements::ginVaSignalsRequired";

CONFORMANCE_CASE(M1_R_a_signal_in_a_window_of_strict_ordering, 1) { run_use(rank, {true, true, 64}, ""); }
CONFORMANCE_CASE(M1_R_a_signal_in_another_window, 1) { run_use(rank, {true, true, 64}, kOrder, NCCL_WIN_COLL_SYMMETRIC); }
CONFORMANCE_CASE(M1_R_a_weak_signal_in_another_window, 1) { run_use(rank, {false, true, 64}, kOrder, NCCL_WIN_COLL_SYMMETRIC); }
CONFORMANCE_CASE(M3_R_a_signal_at_a_multiple_of_eight, 1) { run_use(rank, {false, true, 72}, ""); }
CONFORMANCE_CASE(M3_R_a_signal_between_two_words, 1) { run_use(rank, {false, true, 68}, kAlign); }
CONFORMANCE_CASE(M6_R_a_signal_behind_its_window, 1) { run_use(rank, {false, true, 4096}, "signal offset 4096 + 8 bytes lies outside the window of 4096 bytes"); }
CONFORMANCE_CASE(M12_R_a_strong_signal_where_none_is_granted, 1) { run_use(rank, {true, false, 0}, kAskStrong, kOrdered, false); }
CONFORMANCE_CASE(M12_R_a_weak_signal_needs_no_grant, 1) { run_use(rank, {false, false, 0}, "", kOrdered, false, false); }
CONFORMANCE_CASE(M12_R_a_signal_in_a_window_where_none_is_granted, 1) { run_use(rank, {false, true, 64}, kAskPlaces, kOrdered, true, false); }
CONFORMANCE_CASE(M12_R_a_weak_signal_in_a_window_needs_no_strong_ones, 1) { run_use(rank, {false, true, 64}, "", kOrdered, false, true); }

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
