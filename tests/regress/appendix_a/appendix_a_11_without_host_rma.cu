// SPDX-License-Identifier: Apache-2.0
// Where there is no host RMA its calls return ncclInvalidArgument, not ncclInvalidUsage (contract A.11).
#include "../../conformance/conformance.h"

namespace {

using conformance::Rank;

CONFORMANCE_CASE(AppendixA_11_without_host_rma, 1) {
  ncclUniqueId id;
  rank.must(ncclGetUniqueId(&id), "ncclGetUniqueId");
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  for (const int contexts : {0, 1}) {
    config.numRmaCtx = contexts;
    ncclComm_t comm = nullptr;
    rank.must(ncclCommInitRankConfig(&comm, 1, id, 0, &config), "ncclCommInitRankConfig");
    const auto want = static_cast<int>(contexts == 0 ? ncclInvalidArgument : ncclSuccess);
    rank.expect_eq(static_cast<int>(ncclSignal(0, 0, 0, 0, comm, rank.stream)), want, std::to_string(contexts) + " contexts: a signal");
    ncclWaitSignalDesc_t one{1, 0, 0, 0};
    rank.expect_eq(static_cast<int>(ncclWaitSignal(1, &one, comm, rank.stream)), want, std::to_string(contexts) + " contexts: a wait");
    rank.finish();
    rank.must(ncclCommDestroy(comm), "ncclCommDestroy");
    rank.must(ncclGetUniqueId(&id), "ncclGetUniqueId");
  }
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
