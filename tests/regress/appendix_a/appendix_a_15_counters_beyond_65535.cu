// SPDX-License-Identifier: Apache-2.0
// Counter ids are whole numbers of 32 bits, and queues count across their wrap (contract A.15).
#include "../../conformance/conformance.h"

namespace {

using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

constexpr uint32_t kCounters = 70000;

struct Seen {
  uint64_t low, high, last;
};
// Queues start just below their wrap: 300 puts go across it.
__global__ void count(ncclDevComm comm, ncclWindow_t window, Seen* seen) {
  const ncclGin gin(comm, 0);
  const ncclCoopThread thread;
  const ncclTeam world = ncclTeamWorld(comm);
  const int other = (comm.rank + 1) % comm.nRanks;
  const ncclGin_None none;
  for (int i = 0; i < 300; ++i) gin.put(world, other, window, 0, window, 64, 8, none, ncclGin_WeakCounterInc{65536 + 3});
  gin.put(world, other, window, 0, window, 64, 8, none, ncclGin_WeakCounterInc{kCounters - 1});
  gin.waitCounter(thread, 65536 + 3, 300);
  gin.waitCounter(thread, kCounters - 1, 1);
  *seen = {gin.readCounter(3), gin.readCounter(65536 + 3), gin.readCounter(kCounters - 1)};
  ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 0);
}

CONFORMANCE_CASE(AppendixA_15_counters_beyond_65535, 2) {
  const Window window = rank.window(4096);
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.ginCounterCount = kCounters;
  const ncclDevComm comm = rank.dev_comm(reqs);
  Outcome<Seen> seen(rank);
  count<<<1, 1, 0, rank.stream>>>(comm, window.handle, seen.device());
  rank.finish();
  rank.expect_eq(seen.get().low, 0u, "counter 3");
  rank.expect_eq(seen.get().high, 300u, "counter 65539");
  rank.expect_eq(seen.get().last, 1u, "the last counter");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
