// SPDX-License-Identifier: Apache-2.0
// Demand 8: multimem.ld_reduce and multimem.st on the LSA team's multicast address.
#include "corpus_mpi.h"

__global__ void reduce(ncclDevComm comm, ncclWindow_t window, size_t count) {
#if __CUDA_ARCH__ >= 900
  ncclCoopCta cta;
  ncclLsaBarrierSession<ncclCoopCta> bar(cta, comm, ncclTeamTagLsa(), 0, true);
  bar.sync(cta, cuda::memory_order_acquire);
  auto* all = static_cast<float*>(ncclGetLsaMultimemPointer(window, 0, comm));
  for (size_t i = static_cast<size_t>(comm.lsaRank) * blockDim.x + threadIdx.x; i < count / 4;
       i += static_cast<size_t>(comm.lsaSize) * blockDim.x) {
    float4 sum;
    asm volatile("multimem.ld_reduce.relaxed.sys.global.add.v4.f32 {%0,%1,%2,%3}, [%4];"
                 : "=f"(sum.x), "=f"(sum.y), "=f"(sum.z), "=f"(sum.w)
                 : "l"(all + 4 * i)
                 : "memory");
    asm volatile("multimem.st.relaxed.sys.global.v4.f32 [%0], {%1,%2,%3,%4};" ::"l"(all + 4 * i), "f"(sum.x),
                 "f"(sum.y), "f"(sum.z), "f"(sum.w)
                 : "memory");
  }
  bar.sync(cta, cuda::memory_order_release);
#endif
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    constexpr size_t kCount = 4096;
    Window window(ranks, kCount * sizeof(float));
    std::vector<float> values(kCount);
    for (size_t i = 0; i < kCount; ++i) values[i] = static_cast<float>(i % 100) + static_cast<float>(ranks.rank);
    window.write(values);
    ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    requirements.lsaBarrierCount = 1;
    requirements.lsaMultimem = true;
    DeviceComm device(ranks, requirements);
    MPI_Barrier(MPI_COMM_WORLD);
    reduce<<<1, 128, 0, ranks.stream>>>(device.comm, window.handle, kCount);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    MPI_Barrier(MPI_COMM_WORLD);
    const auto n = static_cast<float>(ranks.size);
    int wrong = 0;
    const std::vector<float> got = window.read<float>(kCount);
    for (size_t i = 0; i < kCount; ++i) wrong += got[i] != n * static_cast<float>(i % 100) + n * (n - 1) / 2;
    return wrong;
  });
}
