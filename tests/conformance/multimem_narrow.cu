// SPDX-License-Identifier: Apache-2.0
// With NCCL_DEVICE_PERMIT_EXPERIMENTAL_CODE multicast takes elements of fewer than 4 bytes one by one (contract 9).
#define NCCL_DEVICE_PERMIT_EXPERIMENTAL_CODE 1
#include <cuda_fp16.h>

#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

// Copies `count` halves that begin at an odd element from the first rank to all, then sums those of all ranks.
__global__ void narrow(ncclDevComm comm, ncclWindow_t window, int count, unsigned* wrong) {
  const ncclCoopThread thread;
  const ncclTeam team = ncclTeamLsa(comm);
  ncclLsaBarrierSession<ncclCoopThread> barrier(thread, comm, ncclTeamTagLsa{}, 0);
  const ncclSymPtr<__half> source(window, 2), copy(window, 1026), sum(window, 2050);
  for (int i = 0; i < count; ++i) source.localPtr()[i] = __int2half_rn(10 * (team.rank + 1) + i);
  barrier.sync(thread, cuda::memory_order_acq_rel);
#if defined(NCCL_DEVICE_PERMIT_EXPERIMENTAL_CODE)
  if (team.rank == 0) ncclMultimemCopy(thread, source.localPtr(), copy, count, comm.lsaMultimem);
  ncclMultimemReduceSum(thread, source, sum.localPtr(), count, comm.lsaMultimem);
#endif
  barrier.sync(thread, cuda::memory_order_acq_rel);
  const int ranks = team.nRanks;
  for (int i = 0; i < count; ++i) {
    *wrong += __half2float(copy.localPtr()[i]) != static_cast<float>(10 + i);
    *wrong += __half2float(sum.localPtr()[i]) != static_cast<float>(10 * ranks * (ranks + 1) / 2 + ranks * i);
  }
  *wrong += __half2float(copy.localPtr()[count]) != 0.0f || __half2float(sum.localPtr()[count]) != 0.0f;
}

CONFORMANCE_CASE(Multimem_of_single_halves_where_experimental_code_is_permitted, 3) {
  ncclCommProperties_t properties = NCCL_COMM_PROPERTIES_INITIALIZER;
  rank.must(ncclCommQueryProperties(rank.comm, &properties), "ncclCommQueryProperties");
  if (!properties.multimemSupport) return;
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.lsaMultimem = true;
  const Window window = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm(reqs);
  Outcome<unsigned> wrong(rank);
  for (const int count : {1, 9}) {
    narrow<<<1, 1, 0, rank.stream>>>(comm, window.handle, count, wrong.device());
    rank.finish();
    rank.expect_eq(wrong.get(), 0u, std::to_string(count) + " halves: elements that differ");
  }
}

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
