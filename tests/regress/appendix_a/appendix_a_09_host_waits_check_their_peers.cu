// SPDX-License-Identifier: Apache-2.0
// A wait of the host refuses peers out of range and a negative number of descriptors (contract A.9).
#include "../../conformance/conformance.h"

namespace {

using conformance::Rank;

CONFORMANCE_CASE(AppendixA_09_host_waits_check_their_peers, 2) {
  const auto wait = [&](int count, int peer) {
    ncclWaitSignalDesc_t descriptor{1, peer, 0, 0};
    return static_cast<int>(ncclWaitSignal(count, &descriptor, rank.comm, rank.stream));
  };
  const int refused = static_cast<int>(ncclInvalidArgument);
  rank.expect_eq(wait(1, 2), refused, "the peer behind the last");
  rank.expect_last_error({"2"});
  rank.expect_eq(wait(1, -1), refused, "peer -1");
  rank.expect_eq(wait(-1, 0), refused, "-1 descriptors");
  rank.must(ncclSignal(1 - rank.rank, 0, 0, 0, rank.comm, rank.stream), "ncclSignal");
  rank.expect_eq(wait(1, 1 - rank.rank), static_cast<int>(ncclSuccess), "the corrected call");
  rank.finish();
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
