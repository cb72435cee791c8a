// SPDX-License-Identifier: Apache-2.0
// Values: P13-P15.
#include "conformance.h"

namespace {

using conformance::Outcome;
using conformance::Rank;

struct Read {
  uint64_t value[8];
};

// Brings a signal that counts from zero to 2^64 - 1, in steps that a rolling wait can tell apart.
__device__ void raise_to_minus_one(const ncclGin& gin, const ncclTeam& world, int me, ncclGinSignal_t signal) {
  const ncclCoopThread thread;
  constexpr uint64_t quarter = uint64_t{1} << 62;
  gin.signal(world, me, ncclGin_StrongSignalAdd{signal, quarter});
  gin.waitSignal(thread, signal, quarter);
  gin.signal(world, me, ncclGin_StrongSignalAdd{signal, quarter});
  gin.waitSignal(thread, signal, 2 * quarter);
  gin.signal(world, me, ncclGin_StrongSignalAdd{signal, 2 * quarter - 1});
  gin.waitSignal(thread, signal, ~0ull);
}

// P13: a wait across the wrap of `bits` bits returns; the read is masked.
__global__ void roll(ncclDevComm comm, Read* read) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const ncclCoopThread thread;
  const int me = comm.rank;
  // 2^64: the signal goes to -1, then to 0.
  raise_to_minus_one(gin, world, me, 0);
  read->value[0] = gin.readSignal(0);
  gin.signal(world, me, ncclGin_StrongSignalInc{0});
  gin.waitSignal(thread, 0, 0);
  gin.signal(world, me, ncclGin_StrongSignalInc{0});
  gin.waitSignal(thread, 0, 1);
  read->value[1] = gin.readSignal(0);
  // 8 bits: 250, wait for 260 = 4 modulo 256. 32 bits likewise.
  gin.signal(world, me, ncclGin_StrongSignalAdd{1, 250});
  gin.signal(world, me, ncclGin_StrongSignalAdd{1, 10});
  gin.waitSignal(thread, 1, 260, 8);
  read->value[2] = gin.readSignal(1, 8);
  read->value[3] = gin.readSignal(1);
  gin.signal(world, me, ncclGin_StrongSignalAdd{2, 0xfffffff0ull});
  gin.signal(world, me, ncclGin_StrongSignalAdd{2, 0x20});
  gin.waitSignal(thread, 2, 0x10, 32);
  read->value[4] = gin.readSignal(2, 32);
  read->value[5] = gin.readSignal(2);
  // A value less than half the range behind is not reached yet, one just passed is: no wait is needed for these.
  gin.waitSignal(thread, 2, 0x0f, 32);
  gin.waitSignal(thread, 2, 0xf0000010ull, 32);
  read->value[6] = gin.readSignal(2, 4);
}

CONFORMANCE_CASE(P13_comparison_rolls, 2) {
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Read> read(rank);
  roll<<<1, 1, 0, rank.stream>>>(comm, read.device());
  rank.finish();
  const uint64_t want[] = {~0ull, 1, 4, 260, 0x10, 0x100000010ull, 0};
  for (size_t i = 0; i < std::size(want); ++i) rank.expect_eq(read.get().value[i], want[i], "value " + std::to_string(i));
}

// P14: counting from zero after a reset; what arrives later is not lost.
__global__ void reset(ncclDevComm comm, ncclWindow_t window, Read* read) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const ncclCoopThread thread;
  gin.signal(world, comm.rank, ncclGin_StrongSignalAdd{0, 5});
  gin.waitSignal(thread, 0, 5);
  gin.resetSignal(0);
  read->value[0] = gin.readSignal(0);
  gin.signal(world, comm.rank, ncclGin_StrongSignalAdd{0, 2});
  gin.waitSignal(thread, 0, 2);
  read->value[1] = gin.readSignal(0);
  // A wrap between reset and read.
  gin.resetSignal(0);
  raise_to_minus_one(gin, world, comm.rank, 0);
  read->value[2] = gin.readSignal(0);
  gin.resetSignal(0);
  read->value[3] = gin.readSignal(0);
  // Fewer bits across the remembered offset.
  gin.signal(world, comm.rank, ncclGin_StrongSignalAdd{0, 300});
  gin.waitSignal(thread, 0, 300, 16);
  read->value[4] = gin.readSignal(0, 8);
  // Counters.
  for (int i = 0; i < 3; ++i) gin.put(world, comm.rank, window, 0, window, 64, 8, ncclGin_None{}, ncclGin_WeakCounterInc{0});
  gin.waitCounter(thread, 0, 3);
  gin.resetCounter(0);
  read->value[5] = gin.readCounter(0);
  gin.put(world, comm.rank, window, 0, window, 64, 8, ncclGin_None{}, ncclGin_WeakCounterInc{0});
  gin.waitCounter(thread, 0, 1);
  read->value[6] = gin.readCounter(0);
}

CONFORMANCE_CASE(P14_reset_counts_from_zero_and_loses_nothing, 2) {
  const conformance::Window window = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Read> read(rank);
  reset<<<1, 1, 0, rank.stream>>>(comm, window.handle, read.device());
  rank.finish();
  const uint64_t want[] = {0, 2, ~0ull, 0, 300 % 256, 0, 1};
  for (size_t i = 0; i < std::size(want); ++i) rank.expect_eq(read.get().value[i], want[i], "value " + std::to_string(i));
}

#if CONFORMANCE_SINCE_2_30
// P15: the same id on two contexts is two signals; ids up to the most that is granted.
constexpr uint32_t kManySignals = 70000;
__global__ void many_ids(ncclDevComm comm, Read* read) {
  const ncclGin zero(comm, 0), three(comm, 3);
  const ncclTeam world = ncclTeamWorld(comm);
  const ncclCoopThread thread;
  const int peer = (comm.rank + 1) % comm.nRanks;
  zero.signal(world, peer, ncclGin_StrongSignalAdd{7, 70});
  three.signal(world, peer, ncclGin_StrongSignalAdd{7, 700});
  zero.signal(world, peer, ncclGin_StrongSignalAdd{65536, 11});
  zero.signal(world, peer, ncclGin_StrongSignalAdd{kManySignals - 1, 13});
  zero.waitSignal(thread, 7, 70);
  three.waitSignal(thread, 7, 700);
  zero.waitSignal(thread, 65536, 11);
  zero.waitSignal(thread, kManySignals - 1, 13);
  read->value[0] = zero.readSignal(7);
  read->value[1] = three.readSignal(7);
  read->value[2] = zero.readSignal(65536);
  read->value[3] = zero.readSignal(kManySignals - 1);
  read->value[4] = zero.readSignal(0);
  read->value[5] = three.readSignal(65536);
  ncclGinBarrier(thread, zero, ncclTeamTagWorld{}, 0);
}

CONFORMANCE_CASE(P15_a_signal_belongs_to_its_context_and_large_ids_work, 2) {
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.ginSignalCount = kManySignals;
  const ncclDevComm comm = rank.dev_comm(reqs);
  Outcome<Read> read(rank);
  many_ids<<<1, 1, 0, rank.stream>>>(comm, read.device());
  rank.finish();
  const uint64_t want[] = {70, 700, 11, 13, 0, 0};
  for (size_t i = 0; i < std::size(want); ++i) rank.expect_eq(read.get().value[i], want[i], "value " + std::to_string(i));
}

CONFORMANCE_CASE(P15_more_signals_than_the_backend_has_are_refused, 2) {
  ncclDevCommRequirements_t reqs = Rank::requirements();
  ncclDevComm made;
  reqs.ginSignalCount = (1 << 24) + 1;
  rank.expect_eq(ncclDevCommCreate(rank.comm, &reqs, &made), ncclInvalidUsage, "ncclDevCommCreate with 2^24 + 1 signals");
  reqs.ginSignalCount = 16;
  rank.dev_comm(reqs);
}

// C6: additions and increments of one signal, with a reset and barriers between. C7: waits with 8 bits, short and long of a wrap.
__global__ void add_reset_inc(ncclDevComm comm, Read* read) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const ncclCoopThread thread;
  const int peer = (comm.rank + 1) % comm.nRanks;
  gin.signal(world, peer, ncclGin_WeakSignalAdd{0, 41});
  gin.waitSignal(thread, 0, 41);
  read->value[0] = gin.readSignal(0);
  gin.resetSignal(0);
  ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 0);
  for (int i = 0; i < 3; ++i) gin.signal(world, peer, ncclGin_WeakSignalInc{0});
  gin.waitSignal(thread, 0, 3);
  read->value[1] = gin.readSignal(0);
  // In steps of less than half the range of 8 bits: from 0, a wait for 250 would be over at once.
  for (const uint64_t step : {100, 200, 250}) {
    gin.signal(world, peer, ncclGin_WeakSignalAdd{1, step == 250 ? 50u : 100u});
    gin.waitSignal(thread, 1, step, 8);
    ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 1);
  }
  read->value[2] = gin.readSignal(1, 8);
  ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 0);
  gin.signal(world, peer, ncclGin_WeakSignalAdd{1, 10});
  gin.waitSignal(thread, 1, 260, 8);
  read->value[3] = gin.readSignal(1, 8);
  read->value[4] = gin.readSignal(1);
  ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 0);
}

CONFORMANCE_CASE(Scenario_C6_C7_resets_between_and_waits_with_eight_bits, 2) {
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Read> read(rank);
  add_reset_inc<<<1, 1, 0, rank.stream>>>(comm, read.device());
  rank.finish();
  const uint64_t want[] = {41, 3, 250, 4, 260};
  for (size_t i = 0; i < std::size(want); ++i) rank.expect_eq(read.get().value[i], want[i], "value " + std::to_string(i));
}

// P16: shadows are the rank's own and follow their rules.
__global__ void shadows(ncclDevComm comm, Read* read) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 2);
  const ncclTeam world = ncclTeamWorld(comm);
  const int peer = (comm.rank + 1) % comm.nRanks;
  if (threadIdx.x == 0) {
    read->value[0] = *gin.getSignalShadowPtr(1);
    gin.increaseSignalShadow(1, 4);
    gin.signal(world, peer, ncclGin_StrongSignalAdd{1, 4});
  }
  gin.waitSignalMeetShadow(block, 1);
  if (threadIdx.x == 0) {
    read->value[1] = *gin.getSignalShadowPtr(1);
    gin.signal(world, peer, ncclGin_StrongSignalAdd{1, 3});
  }
  uint64_t before = 99, delta = 99;
  gin.waitSignalFollowShadow(block, 1, uint64_t{3}, &before, &delta);
  if (threadIdx.x == blockDim.x - 1) {
    read->value[2] = before;
    read->value[3] = delta;
    read->value[4] = *gin.getSignalShadowPtr(1);
  }
  __syncthreads();
  ncclGinBarrier(block, gin, ncclTeamTagWorld{}, 0);
  if (threadIdx.x == 0) {
    gin.resetSignal(1);
    read->value[5] = *gin.getSignalShadowPtr(1);
  }
}

CONFORMANCE_CASE(P16_shadows_change_only_by_their_calls, 2) {
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Read> read(rank);
  shadows<<<1, 96, 0, rank.stream>>>(comm, read.device());
  rank.finish();
  const uint64_t want[] = {0, 4, 4, 3, 7, 0};
  for (size_t i = 0; i < std::size(want); ++i) rank.expect_eq(read.get().value[i], want[i], "value " + std::to_string(i));
}
#endif


}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
