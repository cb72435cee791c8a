// SPDX-License-Identifier: Apache-2.0
// A mistake: takes a weak signal for a promise about the put before it. Ends with 1 in runs that show it.
#include "../conformance.h"

namespace {

using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

__global__ void exchange(ncclDevComm comm, ncclWindow_t d, ncclWindow_t e, ncclWindow_t source, uint64_t* stale) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  conformance::local(source)[0] = 7;
  if (comm.rank == 0) {
    gin.put(world, 1, d, 0, source, 0, 8);
    gin.put(world, 1, e, 0, source, 0, 8, ncclGin_WeakSignalInc{0});
    gin.flush(ncclCoopThread{});
  } else {
    gin.waitSignal(ncclCoopThread{}, 0, 1);
    *stale = conformance::local(d)[0] != 7;
  }
}

CONFORMANCE_CASE(believes_a_weak_signal, 2) {
  const Window d = rank.window(4096), e = rank.window(4096), source = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<uint64_t> stale(rank);
  exchange<<<1, 1, 0, rank.stream>>>(comm, d.handle, e.handle, source.handle, stale.device());
  rank.finish();
  rank.expect_eq(stale.get(), 0u, "stale reads of d");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
