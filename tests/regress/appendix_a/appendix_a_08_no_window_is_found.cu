// SPDX-License-Identifier: Apache-2.0
// A search for a window ends with NULL where no window holds the address (contract A.8).
#include "../../conformance/conformance.h"

namespace {

using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

struct Seen {
  bool first, last, beyond, elsewhere;
};

__global__ void find(ncclDevComm comm, ncclWindow_t window, const char* base, size_t bytes, Seen* seen) {
  const ncclCoopWarp warp;
  const bool first = ncclFindWindow(warp, comm, base) == window, last = ncclFindWindow(warp, comm, base + bytes - 1) == window;
  const bool beyond = ncclFindWindow(warp, comm, base + bytes) != nullptr, elsewhere = ncclFindWindow(warp, comm, &comm) != nullptr;
  if (threadIdx.x == 31) *seen = {first, last, beyond, elsewhere};
}

CONFORMANCE_CASE(AppendixA_08_no_window_is_found, 2) {
  const Window window = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Seen> outcome(rank);
  find<<<1, 32, 0, rank.stream>>>(comm, window.handle, window.buffer, window.bytes, outcome.device());
  rank.finish();
  rank.expect_eq(outcome.get().first && outcome.get().last, true, "the window that holds the address");
  rank.expect_eq(outcome.get().beyond || outcome.get().elsewhere, false, "a window that does not");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
