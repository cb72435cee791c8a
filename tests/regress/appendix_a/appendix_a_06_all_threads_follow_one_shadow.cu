// SPDX-License-Identifier: Apache-2.0
// waitSignalFollowShadow gives every thread of the coop the same values, also if the signal has come before (contract A.6).
#include "../../conformance/conformance.h"

namespace {

using conformance::Outcome;
using conformance::Rank;

constexpr int kTurns = conformance::shortened(100);

// Thread by thread another moment: half of them read late.
__global__ void follow(ncclDevComm comm, unsigned* wrong) {
  const ncclGin gin(comm, 0);
  const ncclCoopCta block;
  const ncclTeam world = ncclTeamWorld(comm);
  for (uint64_t turn = 0; turn < kTurns; ++turn) {
    if (threadIdx.x == 0) gin.signal(world, (comm.rank + 1) % comm.nRanks, ncclGin_StrongSignalAdd{0, 3});
    if (threadIdx.x == 0 && turn % 2 == 0) gin.waitSignal(ncclCoopThread{}, 0, 3 * (turn + 1));  // it is there
    __syncthreads();
    if (threadIdx.x % 2 == 1) __nanosleep(1000);
    uint64_t before = 99, delta = 99;
    gin.waitSignalFollowShadow(block, 0, uint64_t{3}, &before, &delta);
    if (before != 3 * turn || delta != 3) atomicAdd(wrong, 1u);
    ncclGinBarrier(block, gin, ncclTeamTagWorld{}, 0);  // the next one comes later
  }
}

CONFORMANCE_CASE(AppendixA_06_all_threads_follow_one_shadow, 2) {
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> wrong(rank);
  follow<<<1, 96, 0, rank.stream>>>(comm, wrong.device());
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "threads with other values");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
