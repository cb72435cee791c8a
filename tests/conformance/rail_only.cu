// SPDX-License-Identifier: Apache-2.0
// Connections along the rail: puts to ranks of the own rail and barriers of it, also where rails cannot reach each other.
#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::kBufferBytes;
using conformance::kWords;
using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

constexpr int kThreads = 64;

// Each rank puts its upper half into the lower half of the next one of its rail.
__global__ void put_along_the_rail(ncclDevComm comm, ncclWindow_t window, unsigned* wrong) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam rail = ncclTeamRail(comm);
  ncclGinBarrierSession<ncclCoopCta> barrier(block, gin, ncclTeamTagRail{}, 0);
  const int next = (rail.rank + 1) % rail.nRanks;
  gin.put(rail, next, window, 0, window, kBufferBytes, kBufferBytes, ncclGin_StrongSignalInc{0}, ncclGin_None{}, block);
  gin.waitSignal(block, 0, 1);
  const int before = ncclTeamRankToWorld(comm, rail, (rail.rank + rail.nRanks - 1) % rail.nRanks);
  const auto* const words = static_cast<const uint64_t*>(ncclGetLocalPointer(window, 0));
  for (size_t i = threadIdx.x; i < kWords; i += blockDim.x) {
    atomicAdd(wrong, words[i] != (static_cast<uint64_t>(before) << 32) + i ? 1u : 0u);
  }
  gin.flush(block);
  barrier.sync(block, cuda::memory_order_acq_rel);
}

CONFORMANCE_CASE(Rail_connections_carry_puts_and_barriers, 4) {
  const Window window = rank.window(2 * kBufferBytes);
  for (size_t i = 0; i < kWords; ++i) window.words()[kWords + i] = (static_cast<uint64_t>(rank.rank) << 32) + i;
  ncclCommProperties_t props = NCCL_COMM_PROPERTIES_INITIALIZER;
  rank.must(ncclCommQueryProperties(rank.comm, &props), "ncclCommQueryProperties");
  if (props.railedGinType == NCCL_GIN_TYPE_NONE) rank.fail("railedGinType says that there is no rail");
  ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  reqs.ginConnectionType = NCCL_GIN_CONNECTION_RAIL;
  reqs.ginSignalCount = 1;
  reqs.railGinBarrierCount = 1;
  const ncclDevComm comm = rank.dev_comm(reqs);
  rank.expect_eq(static_cast<int>(comm.ginContextsRailed), 1, "contexts along the rail");
  Outcome<unsigned> wrong(rank);
  put_along_the_rail<<<1, kThreads, 0, rank.stream>>>(comm, window.handle, wrong.device());
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "words that did not come from the rank before");
}

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
