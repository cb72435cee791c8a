// SPDX-License-Identifier: Apache-2.0
// An increment adds one whatever the argument beside it (contract A.20).
#include "../../conformance/conformance.h"

namespace {

using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

struct Seen {
  uint64_t indexed, by_address;
};
__global__ void increase(ncclDevComm comm, ncclWindow_t cells, Seen* seen) {
  const ncclGin gin(comm, 0);
  const ncclCoopThread thread;
  const int other = (comm.rank + 1) % comm.nRanks;
  const auto given = cuda::thread_scope_thread, required = cuda::thread_scope_device;
  const ncclGinSignalDescriptor indexed = ncclGin_getSignalDescriptor(gin, ncclGin_StrongSignalInc{0});
  const ncclGinSignalDescriptor place = ncclGin_getSignalDescriptor(gin, ncclGin_StrongVASignalInc{cells, 16});
  for (const ncclGinSignalDescriptor& signal : {indexed, place}) {
    ncclGinCall<ncclGinApi_Put>(gin._makeCtx(), thread, other, false, ncclGinWindow_t{}, size_t{0}, ncclGinWindow_t{}, size_t{0}, size_t{0}, signal, ncclGinSignalInc,
                                uint64_t{77}, false, 0u, false, static_cast<ncclGinDescriptorSmem*>(nullptr), required, given, 0u);
  }
  gin.waitSignal(thread, 0u, 1);
  gin.waitSignal(thread, cells, 16, 1);
  *seen = {gin.readSignal(0u), gin.readSignal(cells, 16)};
  ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 0);
}

CONFORMANCE_CASE(AppendixA_20_an_increment_adds_one, 2) {
  const Window cells = rank.window(4096, NCCL_WIN_COLL_SYMMETRIC | NCCL_WIN_STRICT_ORDERING);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Seen> seen(rank);
  increase<<<1, 1, 0, rank.stream>>>(comm, cells.handle, seen.device());
  rank.finish();
  rank.expect_eq(seen.get().indexed, 1u, "the signal by id");
  rank.expect_eq(seen.get().by_address, 1u, "the signal by address");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
