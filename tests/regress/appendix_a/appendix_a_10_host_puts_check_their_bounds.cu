// SPDX-License-Identifier: Apache-2.0
// A put of the host refuses what lies beyond the window of its peer or of its source; the peer window needs no flag (contract A.10).
#include "../../conformance/conformance.h"

namespace {

using conformance::Rank;
using conformance::Window;

CONFORMANCE_CASE(AppendixA_10_host_puts_check_their_bounds, 2) {
  const int other = 1 - rank.rank;
  const Window source = rank.window(4096);
  const Window target = rank.window(rank.rank == 0 ? 4096 : 8192, NCCL_WIN_DEFAULT);  // sizes differ by rank
  const size_t end = other == 0 ? 4096 : 8192;
  const auto put = [&](size_t from, size_t to, size_t bytes) {
    return static_cast<int>(ncclPutSignal(source.buffer + from, bytes, ncclInt8, other, target.handle, to, 0, 0, 0, rank.comm, rank.stream));
  };
  const int refused = static_cast<int>(ncclInvalidArgument);
  rank.expect_eq(put(0, end - 8, 9), refused, "a byte too many at the peer");
  rank.expect_eq(put(0, end + 1, 0), refused, "no bytes behind the end");
  rank.expect_eq(put(4088, 0, 9), refused, "a byte too many of the source");
  rank.expect_eq(put(0, ~size_t{0} - 3, 8), refused, "an offset that wraps");
  source.buffer[0] = static_cast<char>(70 + rank.rank);
  rank.expect_eq(put(0, end - 1, 1), static_cast<int>(ncclSuccess), "the last byte");
  ncclWaitSignalDesc_t one{1, other, 0, 0};
  rank.must(ncclWaitSignal(1, &one, rank.comm, rank.stream), "ncclWaitSignal");
  rank.finish();
  rank.expect_eq(static_cast<int>(target.buffer[target.bytes - 1]), 70 + other, "the byte put");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
