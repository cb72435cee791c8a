// SPDX-License-Identifier: Apache-2.0
// Scratch for a descriptor is 64 bytes in shared memory, and no byte beside it is written (contract A.4).
#include "../../conformance/conformance.h"

namespace {

using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

struct Guarded {
  uint64_t before[16];
  ncclGinDescriptorSmem scratch;
  uint64_t after[16];
};

__global__ void with_scratch(ncclDevComm comm, ncclWindow_t window, unsigned* wrong) {
  __shared__ Guarded guarded;
  const ncclGin gin(comm, 0);
  const ncclCoopThread thread;
  const ncclTeam world = ncclTeamWorld(comm);
  const ncclGin_DescriptorSmem scratch{&guarded.scratch};
  for (int i = 0; i < 16; ++i) guarded.before[i] = guarded.after[i] = 0x5a5a5a5a5a5a5a5aull;
  for (uint64_t turn = 1; turn <= 300; ++turn) {  // more than a ring has room for
    gin.put(world, (comm.rank + 1) % comm.nRanks, window, 0, window, 64, 8, ncclGin_StrongSignalInc{0}, ncclGin_None{}, thread, scratch);
    gin.waitSignal(thread, 0, turn);
    gin.get(world, (comm.rank + 1) % comm.nRanks, window, 64, window, 128, 8, thread, scratch);
    gin.flush(thread, cuda::memory_order_acquire, scratch);
  }
  for (int i = 0; i < 16; ++i) *wrong += (guarded.before[i] != 0x5a5a5a5a5a5a5a5aull) + (guarded.after[i] != 0x5a5a5a5a5a5a5a5aull);
  ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 0);
}

CONFORMANCE_CASE(AppendixA_04_scratch_is_64_bytes, 2) {
  rank.expect_eq(sizeof(ncclGinDescriptorSmem), 64u, "bytes of scratch");
  const Window window = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> wrong(rank);
  with_scratch<<<1, 1, 0, rank.stream>>>(comm, window.handle, wrong.device());
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "words beside the scratch that were written");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
