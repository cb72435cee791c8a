// SPDX-License-Identifier: Apache-2.0
// The address of a peer that loads and stores do not reach is NULL, on the device as on the host (contract A.7).
#include "../../conformance/conformance.h"

namespace {

using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

struct Seen {
  bool own, other, other_of_team, by_pointer;
};

__global__ void look(ncclDevComm comm, ncclWindow_t window, Seen* seen) {
  const int other = 1 - comm.rank;
  seen->own = ncclGetPeerPointer(window, 8, comm.rank) == ncclGetLocalPointer(window, 8);
  seen->other = ncclGetPeerPointer(window, 8, other) != nullptr;
  seen->other_of_team = ncclGetPeerPointer(window, 8, ncclTeamRail(comm), other) != nullptr;
  seen->by_pointer = ncclSymPtr<int>(window, 8).peerPtr(other) != nullptr;
}

CONFORMANCE_CASE_WITH(AppendixA_07_no_pointer_to_another_node, 2, {"ANYGIN_TOPOLOGY=2x1"}) {
  const Window window = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Seen> outcome(rank);
  look<<<1, 1, 0, rank.stream>>>(comm, window.handle, outcome.device());
  rank.finish();
  const Seen seen = outcome.get();
  rank.expect_eq(seen.own, true, "its own address");
  rank.expect_eq(seen.other || seen.other_of_team || seen.by_pointer, false, "an address on the other node");
  void* address = &address;
  rank.must(ncclGetPeerDevicePointer(window.handle, 8, 1 - rank.rank, &address), "ncclGetPeerDevicePointer");
  rank.expect_eq(address == nullptr, true, "NULL as the host is told");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
