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
  const auto meet = [&] {
    int64_t* const word = reinterpret_cast<int64_t*>(memory[0]);
    rank.must(ncclAllReduce(word, word, 1, ncclInt64, ncclSum, rank.comm, rank.stream), "ncclAllReduce");
    rank.finish();
  };
  meet();
  if (rank.rank == 1) rank.must(ncclCommWindowDeregister(rank.comm, windows[1]), "ncclCommWindowDeregister");
  meet();
  if (rank.rank == 0) {
    rank.must(ncclPutSignal(memory[0], 8, ncclInt8, 1, windows[1], 0, 0, 0, 0, rank.comm, rank.stream), "ncclPutSignal");
    cudaStreamSynchronize(rank.stream);
    rank.expect_async_error(ncclRemoteError, {"a put of 8 bytes to rank 1 failed"});
  }
  if (rank.rank == 1) rank.expect_async_error(ncclRemoteError);  // the other rank's end
  rank.abandon();
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
