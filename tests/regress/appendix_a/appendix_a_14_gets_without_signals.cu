// SPDX-License-Identifier: Apache-2.0
// A communicator without signals gets and flushes (contract A.14).
#include "../../conformance/conformance.h"

namespace {

using conformance::local;
using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

__global__ void get(ncclDevComm comm, ncclWindow_t window, uint64_t* got) {
  const ncclGin gin(comm, 0);
  gin.get(ncclTeamWorld(comm), (comm.rank + 1) % comm.nRanks, window, 0, window, 64, 8);
  gin.flush(ncclCoopThread{});
  *got = local(window)[8];
}

CONFORMANCE_CASE(AppendixA_14_gets_without_signals, 2) {
  const Window window = rank.window(4096);
  window.words()[0] = 30 + static_cast<uint64_t>(rank.rank);
  ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  reqs.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  const ncclDevComm comm = rank.dev_comm(reqs);  // all have written
  rank.expect_eq(comm.ginSignalCount, 0, "signals");
  Outcome<uint64_t> got(rank);
  get<<<1, 1, 0, rank.stream>>>(comm, window.handle, got.device());
  rank.finish();
  rank.expect_eq(got.get(), 30u + static_cast<unsigned>(1 - rank.rank), "the word that the get brought");
  rank.dev_comm(reqs);  // nobody's window goes before all have read
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
