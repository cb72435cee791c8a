// SPDX-License-Identifier: Apache-2.0
// An operation of the host that fails is the asynchronous error of its communicator (contract A.23).
#include "../../conformance/conformance.h"

namespace {

using conformance::Rank;

// Rank 1 takes its window away while rank 0's stream is on its way to a put into it.
CONFORMANCE_CASE_WITH(AppendixA_23_host_errors_are_reported, 2, {"ANYGIN_TOPOLOGY=2x1"}) {
  char* memory[2] = {};
  ncclWindow_t windows[2] = {};  // a source that stays, and the target that goes
  for (int i = 0; i < 2; ++i) {
    rank.must(ncclMemAlloc(reinterpret_cast<void**>(&memory[i]), 4096), "ncclMemAlloc");
    rank.must(ncclCommWindowRegister(rank.comm, memory[i], 4096, &windows[i], NCCL_WIN_COLL_SYMMETRIC), "ncclCommWindowRegister");
  }
  if (rank.rank == 1) {
    rank.must(ncclCommWindowDeregister(rank.comm, windows[1]), "ncclCommWindowDeregister");
    rank.must(ncclSignal(0, 0, 0, 0, rank.comm, rank.stream), "ncclSignal");
    rank.expect_async_error(ncclRemoteError);  // the other rank's end; its stream may be lost with it
  } else {
    ncclWaitSignalDesc_t one{1, 1, 0, 0};
    rank.must(ncclWaitSignal(1, &one, rank.comm, rank.stream), "ncclWaitSignal");
    rank.must(ncclPutSignal(memory[0], 8, ncclInt8, 1, windows[1], 0, 0, 0, 0, rank.comm, rank.stream), "ncclPutSignal");
    cudaStreamSynchronize(rank.stream);
    rank.expect_async_error(ncclRemoteError, {"a put of 8 bytes to rank 1 failed"});
  }
  rank.abandon();
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
