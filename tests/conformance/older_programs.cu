// SPDX-License-Identifier: Apache-2.0
// Programs as they were written for 2.28 and 2.29: deprecated names, a forced GIN, barriers along the rail alone, a fence
// that must be named, requirements filled with zeros.
#include "conformance.h"

namespace {

using conformance::kBufferBytes;
using conformance::kWords;
using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

constexpr int kThreads = 64;

struct Seen {
  unsigned wrong, counter;
};

// Each rank puts its upper half into the lower half of the next one.
__device__ void put_to_the_next(const ncclGin& gin, const ncclDevComm& comm, ncclWindow_t window, Seen* seen) {
  const int next = (comm.rank + 1) % comm.nRanks;
  if (threadIdx.x == 0) {
    gin.put(ncclTeamWorld(comm), next, window, 0, window, kBufferBytes, kBufferBytes, ncclGin_SignalInc{0}, ncclGin_CounterInc{0});
  }
  gin.waitSignal(ncclCoopCta(), 0, 1);
  gin.waitCounter(ncclCoopCta(), 0, 1);
  gin.flush(ncclCoopCta());
  const auto* const words = static_cast<const uint64_t*>(ncclGetLocalPointer(window, 0));
  const uint64_t from = static_cast<uint64_t>((comm.rank + comm.nRanks - 1) % comm.nRanks);
  for (size_t i = threadIdx.x; i < kWords; i += blockDim.x) atomicAdd(&seen->wrong, words[i] != (from << 32) + i ? 1u : 0u);
  if (threadIdx.x == 0) seen->counter = static_cast<unsigned>(gin.readCounter(0));
}

__global__ void hybrid_of_2_29(ncclDevComm comm, ncclWindow_t window, Seen* seen) {
  const ncclGin gin(comm, 0);
  ncclBarrierSession<ncclCoopCta> barrier(ncclCoopCta(), ncclTeamTagWorld(), gin, blockIdx.x);
  barrier.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::Relaxed);
  put_to_the_next(gin, comm, window, seen);
  barrier.sync(ncclCoopCta(), cuda::memory_order_release, ncclGinFenceLevel::Relaxed);
}

__global__ void rail_of_2_29(ncclDevComm comm, ncclWindow_t window, Seen* seen) {
  const ncclGin gin(comm, 0);
  ncclGinBarrierSession<ncclCoopCta> barrier(ncclCoopCta(), gin, ncclTeamTagRail(), blockIdx.x);
  barrier.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::Relaxed);
  put_to_the_next(gin, comm, window, seen);
  barrier.sync(ncclCoopCta(), cuda::memory_order_relaxed, ncclGinFenceLevel::Relaxed);
}

template <typename Kernel>
void run_older(Rank& rank, const ncclDevCommRequirements_t& reqs, Kernel kernel) {
  const Window window = rank.window(2 * kBufferBytes);
  for (size_t i = 0; i < kWords; ++i) window.words()[kWords + i] = (static_cast<uint64_t>(rank.rank) << 32) + i;
  const ncclDevComm comm = rank.dev_comm(reqs);
  Outcome<Seen> seen(rank);
  kernel<<<1, kThreads, 0, rank.stream>>>(comm, window.handle, seen.device());
  rank.finish();
  rank.expect_eq(seen.get().wrong, 0u, "words that did not come from the rank before");
  rank.expect_eq(seen.get().counter, 1u, "the counter");
}

// Instead of a connection type.
ncclDevCommRequirements_t forced() {
  ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  reqs.ginForceEnable = true;
  reqs.ginSignalCount = 1;
  reqs.ginCounterCount = 1;
  return reqs;
}

CONFORMANCE_CASE(Versions_2_29_hybrid_barrier_and_deprecated_names, 4) {
  ncclDevCommRequirements_t reqs = forced();
  reqs.barrierCount = 1;
  run_older(rank, reqs, hybrid_of_2_29);
}

CONFORMANCE_CASE(Versions_2_29_barriers_along_the_rail_alone, 4) {
  ncclDevCommRequirements_t reqs = forced();
  reqs.railGinBarrierCount = 1;
  run_older(rank, reqs, rail_of_2_29);
}

// As 2.28 had them: without size, magic and version.
CONFORMANCE_CASE(Versions_2_28_requirements_filled_with_zeros, 2) {
  ncclDevCommRequirements_t reqs;
  std::memset(&reqs, 0, sizeof(reqs));
  reqs.ginForceEnable = true;
  reqs.ginSignalCount = 1;
  reqs.ginCounterCount = 1;
  reqs.railGinBarrierCount = 1;
  run_older(rank, reqs, rail_of_2_29);
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
