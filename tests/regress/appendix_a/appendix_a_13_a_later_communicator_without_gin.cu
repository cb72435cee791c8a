// SPDX-License-Identifier: Apache-2.0
// After a device communicator with GIN one without it may be made; both work (contract A.13).
#include "../../conformance/conformance.h"

namespace {

using conformance::Outcome;
using conformance::Rank;

struct Seen {
  uint64_t signal;
  unsigned contexts;
};
__global__ void use(ncclDevComm with, ncclDevComm without, Seen* seen) {
  const ncclGin gin(with, 0);
  gin.signal(ncclTeamWorld(with), (with.rank + 1) % with.nRanks, ncclGin_StrongSignalInc{0});
  gin.waitSignal(ncclCoopThread{}, 0, 1);
  seen->signal = gin.readSignal(0);
  seen->contexts = without.ginContextCount;
  ncclLsaBarrierSession<ncclCoopThread> barrier(ncclCoopThread{}, without, ncclTeamTagLsa{}, 0);
  barrier.sync(ncclCoopThread{}, cuda::memory_order_acq_rel);
}

CONFORMANCE_CASE(AppendixA_13_a_later_communicator_without_gin, 2) {
  const ncclDevComm with = rank.dev_comm();
  ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  reqs.lsaBarrierCount = 1;
  const ncclDevComm without = rank.dev_comm(reqs);
  rank.expect_eq(static_cast<int>(reqs.ginConnectionType), static_cast<int>(NCCL_GIN_CONNECTION_NONE), "the default");
  Outcome<Seen> seen(rank);
  use<<<1, 1, 0, rank.stream>>>(with, without, seen.device());
  rank.finish();
  rank.expect_eq(seen.get().signal, 1u, "the signal of the first");
  rank.expect_eq(seen.get().contexts, 0u, "contexts of the second: they do not stick");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
