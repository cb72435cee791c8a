// SPDX-License-Identifier: Apache-2.0
// The least number of thread blocks may be given alone (contract A.27).
#include "../../conformance/conformance.h"

namespace {

using conformance::Rank;

CONFORMANCE_CASE(AppendixA_27_least_blocks_alone, 1) {
  const auto init_with = [&](int least, int most) {
    ncclUniqueId id;
    rank.must(ncclGetUniqueId(&id), "ncclGetUniqueId");
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.minCTAs = least;
    config.maxCTAs = most;
    ncclComm_t comm = nullptr;
    const ncclResult_t result = ncclCommInitRankConfig(&comm, 1, id, 0, &config);
    rank.must(ncclCommDestroy(comm), "ncclCommDestroy");
    return static_cast<int>(result);
  };
  rank.expect_eq(init_with(5, NCCL_CONFIG_UNDEF_INT), static_cast<int>(ncclSuccess), "minCTAs alone");
  rank.expect_eq(init_with(NCCL_CONFIG_UNDEF_INT, 5), static_cast<int>(ncclSuccess), "maxCTAs alone");
  rank.expect_eq(init_with(6, 5), static_cast<int>(ncclInvalidArgument), "more least than most");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
