// SPDX-License-Identifier: Apache-2.0
// Windows that ranks register differently: named on all of them, and the same call made alike succeeds.
#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::Rank;
using conformance::Window;

struct Memory {
  explicit Memory(Rank& of) : rank(of) { rank.must(ncclMemAlloc(&at, 4096), "ncclMemAlloc"); }
  ~Memory() { rank.must(ncclMemFree(at), "ncclMemFree"); }
  Rank& rank;
  void* at = nullptr;
};

void expect_refused(Rank& rank, ncclResult_t result, const std::string& what) {
  rank.expect_eq(static_cast<int>(result), static_cast<int>(ncclInvalidUsage), "result of a call that ranks make differently");
  rank.expect_last_error({what});
}

CONFORMANCE_CASE(Windows_of_different_flags_are_named_on_all_ranks, 3) {
  const Memory memory(rank);
  ncclWindow_t window = nullptr;
  const int flags = rank.rank == 2 ? NCCL_WIN_COLL_SYMMETRIC | NCCL_WIN_STRICT_ORDERING : NCCL_WIN_COLL_SYMMETRIC;
  expect_refused(rank, ncclCommWindowRegister(rank.comm, memory.at, 64, &window, flags), "flags of window 0 differ (or the order of the calls does): rank 0 gives 0x1, rank 2 gives 0x3");
  rank.must(ncclCommWindowRegister(rank.comm, memory.at, 64, &window, NCCL_WIN_COLL_SYMMETRIC), "ncclCommWindowRegister with equal flags");
  rank.must(ncclCommWindowDeregister(rank.comm, window), "ncclCommWindowDeregister");
}

// Two windows that differ in their flags, registered in another order by rank 1.
CONFORMANCE_CASE(Windows_in_different_order_are_named_on_all_ranks, 2) {
  const Memory memory(rank);
  ncclWindow_t first = nullptr, second = nullptr;
  const int strict = NCCL_WIN_COLL_SYMMETRIC | NCCL_WIN_STRICT_ORDERING, plain = NCCL_WIN_COLL_SYMMETRIC;
  expect_refused(rank, ncclCommWindowRegister(rank.comm, memory.at, 64, &first, rank.rank == 0 ? strict : plain), "rank 0 gives 0x3, rank 1 gives 0x1");
  expect_refused(rank, ncclCommWindowRegister(rank.comm, memory.at, 64, &first, rank.rank == 0 ? plain : strict), "rank 0 gives 0x1, rank 1 gives 0x3");
  rank.must(ncclCommWindowRegister(rank.comm, memory.at, 64, &first, strict), "the first in equal order");
  rank.must(ncclCommWindowRegister(rank.comm, memory.at, 64, &second, plain), "the second in equal order");
  rank.must(ncclCommWindowDeregister(rank.comm, first), "ncclCommWindowDeregister");
  rank.must(ncclCommWindowDeregister(rank.comm, second), "ncclCommWindowDeregister");
}

// Rank 1 leaves one out, and is at its next collective call.
CONFORMANCE_CASE(Windows_of_different_number_are_named_on_all_ranks, 2) {
  const Memory memory(rank);
  ncclWindow_t window = nullptr;
  ncclDevComm made;
  const ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  const ncclResult_t result = rank.rank == 0 ? ncclCommWindowRegister(rank.comm, memory.at, 64, &window, NCCL_WIN_COLL_SYMMETRIC)
                                             : ncclDevCommCreate(rank.comm, &reqs, &made);
  expect_refused(rank, result, "rank 0 is in \"window registration\", rank 1 in \"device communicator creation\"");
  rank.must(ncclCommWindowRegister(rank.comm, memory.at, 64, &window, NCCL_WIN_COLL_SYMMETRIC), "ncclCommWindowRegister by all");
  rank.must(ncclCommWindowDeregister(rank.comm, window), "ncclCommWindowDeregister");
}

// Sizes and buffers may differ.
CONFORMANCE_CASE(Windows_of_different_sizes_are_right, 2) {
  const Window window = rank.window(rank.rank == 0 ? 64 : 8192);
  rank.expect_eq(window.handle != nullptr, true, "a window");
}

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
