// SPDX-License-Identifier: Apache-2.0
// Communicators of communicators, their ends, and what kernels may still do then (contract 2.4, P32).
#include "conformance.h"

namespace {

using conformance::Outcome;
using conformance::Rank;
using conformance::WhenDone;

constexpr int kThreads = 32;

// --- The end ------------------------------------------------------------------------------------------------------------
__global__ void wait_for_one(ncclDevComm comm, unsigned* passed) {
  const ncclGin gin(comm, 0);
  gin.waitSignal(ncclCoopThread{}, 0, 1);
  *passed = 1;
}
// Uses a communicator that does not stand among its arguments.
__global__ void read_through_memory(const ncclDevComm* comm, const unsigned* stop, uint64_t* read) {
  const ncclGin gin(*comm, 0);
  while (cuda::atomic_ref<unsigned>(const_cast<unsigned&>(*stop)).load(cuda::memory_order_acquire) == 0) *read += gin.readSignal(0) + 1;
}
__global__ void signal_peer(ncclDevComm comm, int peer) {
  const ncclGin gin(comm, 0);
  gin.signal(ncclTeamWorld(comm), peer, ncclGin_StrongSignalInc{0});
  gin.flush(ncclCoopThread{});
}

// Rank 0 ends its communicator while its kernel waits for what rank 1 sends later.
CONFORMANCE_CASE(P32_destroy_waits_for_its_kernels, 2) {
  const ncclDevComm comm = rank.dev_comm();
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  if (rank.rank == 0) {
    wait_for_one<<<1, 1, 0, rank.stream>>>(comm, passed.device());
    rank.must(ncclCommDestroy(rank.comm), "ncclCommDestroy");
    rank.comm = nullptr;
    rank.expect_eq(*passed.device(), 1u, "kernels that had passed when the communicator was gone");
    rank.finish();
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    signal_peer<<<1, 1, 0, rank.stream>>>(comm, 0);
    rank.finish();
  }
}

CONFORMANCE_CASE(P32_destroy_keeps_what_kernels_may_still_read_in_a_spin, 2) {
  const ncclDevComm comm = rank.dev_comm();
  const Outcome<ncclDevComm> copy(rank, WhenDone::kKeep);
  std::memcpy(static_cast<void*>(copy.device()), &comm, sizeof(comm));
  const Outcome<unsigned> stop(rank, WhenDone::kKeep);
  const Outcome<uint64_t> read(rank, WhenDone::kKeep);
  read_through_memory<<<1, 1, 0, rank.stream>>>(copy.device(), stop.device(), read.device());
  rank.must(ncclCommDestroy(rank.comm), "ncclCommDestroy");
  rank.comm = nullptr;
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // the other rank has ended too
  __atomic_store_n(stop.device(), 1u, __ATOMIC_RELEASE);
  rank.finish();
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
