// SPDX-License-Identifier: Apache-2.0
// A child that shares its parent's resources has host RMA across nodes, and its operations reach its own ranks (contract A.28).
#include "../../conformance/conformance.h"

namespace {

using conformance::local;
using conformance::Outcome;
using conformance::Rank;

struct Seen {
  uint64_t word, signal;
};
__global__ void exchange(ncclDevComm comm, ncclWindow_t window, uint64_t own, Seen* seen) {
  const ncclGin gin(comm, 0);
  const ncclCoopThread thread;
  gin.putValue(ncclTeamWorld(comm), 1 - comm.rank, window, 8, own, ncclGin_StrongSignalInc{0});
  gin.waitSignal(thread, 0, 1);
  *seen = {local(window)[1], gin.readSignal(0)};
  ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 0);
}

// Ranks 1 and 3, on two nodes, are ranks 0 and 1 of the child; so are 0 and 2 of theirs.
CONFORMANCE_CASE_WITH(AppendixA_28_children_that_share_reach_their_ranks, 4, {"ANYGIN_TOPOLOGY=2x2"}) {
  const int partner = (rank.rank + 2) % 4;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.splitShare = 1;
  ncclComm_t child = nullptr;
  rank.must(ncclCommSplit(rank.comm, rank.rank % 2, rank.rank, &child, &config), "ncclCommSplit");
  ncclCommProperties_t properties = NCCL_COMM_PROPERTIES_INITIALIZER;
  rank.must(ncclCommQueryProperties(child, &properties), "ncclCommQueryProperties");
  rank.expect_eq(properties.hostRmaSupport, true, "host RMA of the child");
  rank.expect_eq(properties.nLsaTeams, 2, "its nodes");
  char* memory = nullptr;
  rank.must(ncclMemAlloc(reinterpret_cast<void**>(&memory), 4096), "ncclMemAlloc");
  std::memset(memory, 0, 4096);
  ncclWindow_t window = nullptr;
  rank.must(ncclCommWindowRegister(child, memory, 4096, &window, NCCL_WIN_COLL_SYMMETRIC), "ncclCommWindowRegister");
  const ncclDevCommRequirements_t reqs = Rank::requirements();
  ncclDevComm comm;
  rank.must(ncclDevCommCreate(child, &reqs, &comm), "ncclDevCommCreate");
  Outcome<Seen> seen(rank);
  exchange<<<1, 1, 0, rank.stream>>>(comm, window, 600 + static_cast<uint64_t>(rank.rank), seen.device());
  rank.finish();
  rank.expect_eq(seen.get().word, 600 + static_cast<uint64_t>(partner), "the word of the partner's kernel");
  rank.expect_eq(seen.get().signal, 1u, "its signal");
  auto* const words = reinterpret_cast<uint64_t*>(memory);
  words[8] = 700 + static_cast<uint64_t>(rank.rank);
  rank.must(ncclPutSignal(&words[8], 1, ncclUint64, 1 - comm.rank, window, 16, 0, 0, 0, child, rank.stream), "ncclPutSignal");
  ncclWaitSignalDesc_t one{1, 1 - comm.rank, 0, 0};
  rank.must(ncclWaitSignal(1, &one, child, rank.stream), "ncclWaitSignal");
  rank.finish();
  rank.expect_eq(words[2], 700 + static_cast<uint64_t>(partner), "the word of the partner's host");
  rank.must(ncclDevCommDestroy(child, &comm), "ncclDevCommDestroy");
  rank.must(ncclCommWindowDeregister(child, window), "ncclCommWindowDeregister");
  rank.must(ncclCommDestroy(child), "ncclCommDestroy");
  rank.must(ncclMemFree(memory), "ncclMemFree");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
