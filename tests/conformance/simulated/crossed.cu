// SPDX-License-Identifier: Apache-2.0
// A mistake: two kernels that each meet all ranks, launched in another order on the last rank. Hangs in every run.
#include "../conformance.h"

namespace {

using conformance::Rank;

__device__ void meet(const ncclDevComm& comm, uint32_t index) {
  ncclGinBarrierSession<ncclCoopThread> barrier(ncclCoopThread{}, ncclGin(comm, 0), ncclTeamTagWorld{}, index);
  barrier.sync(ncclCoopThread{}, cuda::memory_order_relaxed, ncclGinFenceLevel::None);
}

__global__ void first(ncclDevComm comm) { meet(comm, 0); }
__global__ void second(ncclDevComm comm) { meet(comm, 1); }

CONFORMANCE_CASE(meet_in_another_order, 2) {
  const ncclDevComm comm = rank.dev_comm();
  if (rank.rank == 0) {
    first<<<1, 1, 0, rank.stream>>>(comm);
    second<<<1, 1, 0, rank.stream>>>(comm);
  } else {
    second<<<1, 1, 0, rank.stream>>>(comm);
    first<<<1, 1, 0, rank.stream>>>(comm);
  }
  rank.finish();
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
