// SPDX-License-Identifier: Apache-2.0
// put, putValue and signal compile and work on a type whose mask is not that of all backends (contract A.5).
#include "../../conformance/conformance.h"

namespace {

using conformance::local;
using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

constexpr unsigned kMask = 1u << NCCL_NET_DEVICE_GIN_PROXY | 1u << NCCL_NET_DEVICE_GIN_GDAKI;
static_assert(kMask != NCCL_GIN_BACKEND_MASK_ALL, "another mask than ncclGin's");

struct Seen {
  uint64_t word, value, signal;
};

__global__ void operate(ncclDevComm comm, ncclWindow_t window, Seen* seen) {
  const ncclGin_BackendMask<kMask> gin(comm, 1);
  const ncclCoopThread thread;
  const ncclTeam world = ncclTeamWorld(comm);
  const int other = (comm.rank + 1) % comm.nRanks;
  local(window)[8] = 40 + static_cast<uint64_t>(comm.rank);
  gin.put(world, other, window, 0, window, 64, 8, ncclGin_SignalAdd{0, 2}, ncclGin_CounterInc{0});
  gin.putValue(world, other, window, 8, uint64_t{9});
  gin.signal(world, other, ncclGin_StrongSignalInc{0});
  gin.waitSignal(thread, 0, 3);
  gin.waitCounter(thread, 0, 1);
  *seen = {local(window)[0], local(window)[1], gin.readSignal(0)};
  gin.flush(thread);
}

CONFORMANCE_CASE(AppendixA_05_operations_of_any_mask, 2) {
  const Window window = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Seen> seen(rank);
  operate<<<1, 1, 0, rank.stream>>>(comm, window.handle, seen.device());
  rank.finish();
  rank.expect_eq(seen.get().word, 40u + static_cast<unsigned>(1 - rank.rank), "the word put");
  rank.expect_eq(seen.get().value, 9u, "the value put");
  rank.expect_eq(seen.get().signal, 3u, "the signal");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
