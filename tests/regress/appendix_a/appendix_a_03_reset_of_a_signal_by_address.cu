// SPDX-License-Identifier: Apache-2.0
// A reset of a signal by address clears the place in the window, also if the window begins inside its allocation (contract A.3).
#include "../../conformance/conformance.h"

namespace {

using conformance::local;
using conformance::Outcome;
using conformance::Rank;

struct Seen {
  uint64_t before, after, neighbour, again;
};

__global__ void reset(ncclDevComm comm, ncclWindow_t window, Seen* seen) {
  const ncclGin gin(comm, 0);
  const ncclCoopThread thread;
  const ncclTeam world = ncclTeamWorld(comm);
  const int other = (comm.rank + 1) % comm.nRanks;
  gin.signal(world, other, ncclGin_StrongVASignalAdd{window, 64, 7});
  gin.waitSignal(thread, window, 64, 7);
  seen->before = gin.readSignal(window, 64);
  gin.resetSignal(window, 64);
  seen->after = gin.readSignal(window, 64);
  seen->neighbour = local(window)[512];
  ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 0);
  gin.signal(world, other, ncclGin_StrongVASignalInc{window, 64});
  gin.waitSignal(thread, window, 64, 1);
  seen->again = gin.readSignal(window, 64);
  ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 0);
}

CONFORMANCE_CASE(AppendixA_03_reset_of_a_signal_by_address, 2) {
  char* memory = nullptr;
  rank.must(ncclMemAlloc(reinterpret_cast<void**>(&memory), 4 * 4096), "ncclMemAlloc");
  std::memset(memory, 0, 4 * 4096);
  reinterpret_cast<uint64_t*>(memory)[2 * 512 + 8] = 55;  // where the offset counted twice would lead
  reinterpret_cast<uint64_t*>(memory)[8] = 66;            // and where it would not count at all
  ncclWindow_t window = nullptr;
  rank.must(ncclCommWindowRegister(rank.comm, memory + 4096, 3 * 4096, &window, NCCL_WIN_COLL_SYMMETRIC | NCCL_WIN_STRICT_ORDERING), "ncclCommWindowRegister");
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Seen> outcome(rank);
  reset<<<1, 1, 0, rank.stream>>>(comm, window, outcome.device());
  rank.finish();
  const Seen seen = outcome.get();
  rank.expect_eq(seen.before, 7u, "the signal");
  rank.expect_eq(seen.after, 0u, "the signal after its reset");
  rank.expect_eq(seen.again, 1u, "what it counts then");
  rank.expect_eq(reinterpret_cast<uint64_t*>(memory)[2 * 512 + 8], 55u, "the word twice the offset away");
  rank.expect_eq(reinterpret_cast<uint64_t*>(memory)[8], 66u, "the word of the allocation's start");
  rank.must(ncclCommWindowDeregister(rank.comm, window), "ncclCommWindowDeregister");
  rank.must(ncclMemFree(memory), "ncclMemFree");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
