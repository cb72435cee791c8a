// SPDX-License-Identifier: Apache-2.0
// A node of resources gets the signals and counters it asks for, and is told where they begin (contract A.1).
#include "../../conformance/conformance.h"

namespace {

using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

struct Seen {
  uint64_t signal, counter, last_user_signal;
};

__global__ void use(ncclDevComm comm, ncclGinSignal_t signal, ncclGinCounter_t counter, ncclWindow_t window, Seen* seen) {
  const ncclGin gin(comm, 0);
  const ncclCoopThread thread;
  const ncclTeam world = ncclTeamWorld(comm);
  gin.put(world, (comm.rank + 1) % comm.nRanks, window, 0, window, 8, 8, ncclGin_StrongSignalAdd{signal, 6}, ncclGin_WeakCounterInc{counter});
  gin.waitSignal(thread, signal, 6);
  gin.waitCounter(thread, counter, 1);
  *seen = {gin.readSignal(signal), gin.readCounter(counter), gin.readSignal(1)};
}

CONFORMANCE_CASE(AppendixA_01_resource_nodes_get_signals, 2) {
  ncclGinSignal_t signals = 99;
  ncclGinCounter_t counters = 99;
  ncclDevResourceRequirements_t second{}, first{};
  second.ginSignalCount = 3;
  second.outGinSignalStart = &signals;
  second.ginCounterCount = 2;
  second.outGinCounterStart = &counters;
  first.next = &second;
  first.ginSignalCount = 5;
  ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  reqs.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  reqs.ginSignalCount = 2;
  reqs.ginCounterCount = 1;
  reqs.resourceRequirementsList = &first;
  const Window window = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm(reqs);
  rank.expect_eq(signals, 2u + 5, "where the second node's signals begin");
  rank.expect_eq(counters, 1u, "where its counters begin");
  rank.expect_eq(comm.ginSignalCount, 2 + 5 + 3, "all signals");
  rank.expect_eq(comm.ginCounterCount, 3, "all counters");
  Outcome<Seen> seen(rank);
  use<<<1, 1, 0, rank.stream>>>(comm, signals + 2, counters + 1, window.handle, seen.device());
  rank.finish();
  rank.expect_eq(seen.get().signal, 6u, "the node's last signal");
  rank.expect_eq(seen.get().counter, 1u, "the node's last counter");
  rank.expect_eq(seen.get().last_user_signal, 0u, "the program's own last signal");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
