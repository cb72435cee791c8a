// SPDX-License-Identifier: Apache-2.0
// A window that begins inside its allocation: host puts over the network add its offset on both sides (contract A.2).
#include "../../conformance/conformance.h"

namespace {

using conformance::Rank;

// The third page of an allocation is the window; its neighbours keep what they hold.
CONFORMANCE_CASE_WITH(AppendixA_02_host_puts_add_the_windows_offset, 2, {"ANYGIN_TOPOLOGY=2x1"}) {
  char* memory = nullptr;
  rank.must(ncclMemAlloc(reinterpret_cast<void**>(&memory), 5 * 4096), "ncclMemAlloc");
  std::memset(memory, 0x11, 5 * 4096);
  ncclWindow_t window = nullptr;
  rank.must(ncclCommWindowRegister(rank.comm, memory + 2 * 4096, 4096, &window, NCCL_WIN_COLL_SYMMETRIC), "ncclCommWindowRegister");
  auto* const words = reinterpret_cast<uint64_t*>(memory + 2 * 4096);
  words[4] = 500 + static_cast<uint64_t>(rank.rank);
  const int other = 1 - rank.rank;
  rank.must(ncclPutSignal(&words[4], 1, ncclUint64, other, window, 8, 0, 0, 0, rank.comm, rank.stream), "ncclPutSignal");
  ncclWaitSignalDesc_t one{1, other, 0, 0};
  rank.must(ncclWaitSignal(1, &one, rank.comm, rank.stream), "ncclWaitSignal");
  rank.finish();
  rank.expect_eq(words[1], 500 + static_cast<uint64_t>(other), "the word put");
  words[1] = words[4] = 0x1111111111111111ull;
  for (size_t i = 0; i < 5 * 4096; ++i) {
    if (memory[i] != 0x11) rank.fail("byte " + std::to_string(i) + " of the allocation was written");
  }
  rank.must(ncclSignal(other, 0, 0, 0, rank.comm, rank.stream), "ncclSignal");  // both are done
  rank.must(ncclWaitSignal(1, &one, rank.comm, rank.stream), "ncclWaitSignal");
  rank.finish();
  rank.must(ncclCommWindowDeregister(rank.comm, window), "ncclCommWindowDeregister");
  rank.must(ncclMemFree(memory), "ncclMemFree");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
