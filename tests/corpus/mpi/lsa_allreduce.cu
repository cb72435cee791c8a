// SPDX-License-Identifier: Apache-2.0
// All-reduce over load/store memory: every rank reads its slice from all LSA peers and writes the sum to all of them.
#include "corpus_mpi.h"

__global__ void allreduce(ncclDevComm comm, ncclWindow_t window, size_t count) {
  ncclCoopCta cta;
  ncclLsaBarrierSession<ncclCoopCta> bar(cta, comm, ncclTeamLsa(comm), comm.lsaBarrier, blockIdx.x);
  bar.sync(cta, cuda::memory_order_acquire);
  const size_t stride = static_cast<size_t>(blockDim.x) * gridDim.x * static_cast<size_t>(comm.lsaSize);
  for (size_t i = (blockIdx.x * static_cast<size_t>(comm.lsaSize) + static_cast<size_t>(comm.lsaRank)) * blockDim.x +
                  threadIdx.x;
       i < count; i += stride) {
    float4 sum = make_float4(0, 0, 0, 0);
    for (int peer = 0; peer < comm.lsaSize; ++peer) {
      const float4 value = static_cast<const float4*>(ncclGetLsaPointer(window, 0, peer))[i];
      sum.x += value.x;
      sum.y += value.y;
      sum.z += value.z;
      sum.w += value.w;
    }
    for (int peer = 0; peer < comm.lsaSize; ++peer) static_cast<float4*>(ncclGetLsaPointer(window, 0, peer))[i] = sum;
  }
  bar.sync(cta, cuda::memory_order_release);
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    constexpr size_t kVectors = 4096;
    Window window(ranks, kVectors * sizeof(float4));
    std::vector<float> values(kVectors * 4);
    for (size_t i = 0; i < values.size(); ++i)
      values[i] = static_cast<float>(i % 1000) * static_cast<float>(ranks.rank + 1);
    window.write(values);
    DeviceComm device(ranks, 1, 8);
    int lsa_ranks = device.comm.lsaSize;
    MPI_Barrier(MPI_COMM_WORLD);
    allreduce<<<8, 128, 0, ranks.stream>>>(device.comm, window.handle, kVectors);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    MPI_Barrier(MPI_COMM_WORLD);
    int factor = 0;  // of the ranks of this LSA team
    for (int i = 0; i < lsa_ranks; ++i) factor += ranks.rank / lsa_ranks * lsa_ranks + i + 1;
    int wrong = 0;
    const std::vector<float> got = window.read<float>(kVectors * 4);
    for (size_t i = 0; i < got.size(); ++i)
      wrong += got[i] != static_cast<float>(i % 1000) * static_cast<float>(factor);
    return wrong;
  });
}
