// SPDX-License-Identifier: Apache-2.0
// Without symmetric memory a registration succeeds and the window is NULL (contract A.12).
#include "../../conformance/conformance.h"

namespace {

using conformance::Rank;

CONFORMANCE_CASE_WITH(AppendixA_12_without_symmetric_memory, 2, {"NCCL_WIN_ENABLE=0"}) {
  void* memory = nullptr;
  rank.must(ncclMemAlloc(&memory, 4096), "ncclMemAlloc");
  auto window = reinterpret_cast<ncclWindow_t>(memory);
  rank.must(ncclCommWindowRegister(rank.comm, memory, 4096, &window, NCCL_WIN_COLL_SYMMETRIC), "ncclCommWindowRegister");
  rank.expect_eq(window == nullptr, true, "a NULL window");
  rank.must(ncclCommWindowDeregister(rank.comm, window), "ncclCommWindowDeregister of NULL");
  ncclCommProperties_t properties = NCCL_COMM_PROPERTIES_INITIALIZER;
  rank.must(ncclCommQueryProperties(rank.comm, &properties), "ncclCommQueryProperties");
  rank.expect_eq(properties.deviceApiSupport, false, "support of the device API");
  rank.must(ncclMemFree(memory), "ncclMemFree");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
