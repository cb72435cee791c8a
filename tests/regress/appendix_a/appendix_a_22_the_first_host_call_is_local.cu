// SPDX-License-Identifier: Apache-2.0
// The first one-sided call of a rank waits for nobody: ranks that never call do not hold it (contract A.22).
#include "../../conformance/conformance.h"

namespace {

using conformance::Rank;

CONFORMANCE_CASE_WITH(AppendixA_22_the_first_host_call_is_local, 4, {"ANYGIN_TOPOLOGY=2x2"}) {
  if (rank.rank == 0) {
    rank.must(ncclSignal(3, 0, 0, 0, rank.comm, rank.stream), "ncclSignal");
    rank.finish();
  }
  if (rank.rank == 3) {
    ncclWaitSignalDesc_t one{1, 0, 0, 0};
    rank.must(ncclWaitSignal(1, &one, rank.comm, rank.stream), "ncclWaitSignal");
    rank.finish();
    rank.expect_eq(static_cast<int>(cudaStreamQuery(rank.stream)), static_cast<int>(cudaSuccess), "the stream behind the wait");
  }
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
