// SPDX-License-Identifier: Apache-2.0
// Sums of __half and __nv_bfloat16 read from LSA peers, with conversions to float, vector loads and bit casts.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "corpus_mpi.h"

constexpr size_t kCount = 2048;

template <typename T>
__device__ float widened(T value);
template <>
__device__ float widened(__half value) {
  return __half2float(value);
}
template <>
__device__ float widened(__nv_bfloat16 value) {
  return __bfloat162float(value);
}

template <typename T>
__global__ void sum(ncclDevComm comm, ncclWindow_t window, float* out) {
  ncclCoopCta cta;
  ncclLsaBarrierSession<ncclCoopCta> bar(cta, comm, ncclTeamTagLsa(), 0);
  bar.sync(cta, cuda::memory_order_acq_rel);
  for (size_t i = threadIdx.x; i < kCount / 8; i += blockDim.x) {
    float parts[8] = {};
    for (int peer = 0; peer < comm.lsaSize; ++peer) {
      const uint4 packed = static_cast<const uint4*>(ncclGetLsaPointer(window, 0, peer))[i];
      const T* values = reinterpret_cast<const T*>(&packed);
#pragma unroll
      for (int k = 0; k < 8; ++k) parts[k] += widened(values[k]);
    }
    for (int k = 0; k < 8; ++k) out[i * 8 + static_cast<size_t>(k)] = parts[k];
  }
  bar.sync(cta, cuda::memory_order_acq_rel);
}

template <typename T, typename Narrow>
int check(Ranks& ranks, const DeviceComm& device, const Narrow& narrow) {
  Window window(ranks, kCount * sizeof(T));
  std::vector<T> values;
  for (size_t i = 0; i < kCount; ++i)
    values.push_back(narrow(static_cast<float>(i % 64) + static_cast<float>(ranks.rank % device.comm.lsaSize)));
  window.write(values);
  float* out;
  CUDACHECK(cudaMalloc(&out, kCount * sizeof(float)));
  MPI_Barrier(MPI_COMM_WORLD);
  sum<T><<<1, 128, 0, ranks.stream>>>(device.comm, window.handle, out);
  std::vector<float> got(kCount);
  CUDACHECK(cudaMemcpyAsync(got.data(), out, kCount * sizeof(float), cudaMemcpyDeviceToHost, ranks.stream));
  CUDACHECK(cudaStreamSynchronize(ranks.stream));
  CUDACHECK(cudaFree(out));
  const int n = device.comm.lsaSize;
  int wrong = 0;
  for (size_t i = 0; i < kCount; ++i)
    wrong += got[i] != static_cast<float>(n) * static_cast<float>(i % 64) + static_cast<float>(n * (n - 1) / 2);
  MPI_Barrier(MPI_COMM_WORLD);
  return wrong;
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    DeviceComm device(ranks, 1, 1);
    return check<__half>(ranks, device, [](float x) { return __float2half(x); }) +
           check<__nv_bfloat16>(ranks, device, [](float x) { return __float2bfloat16(x); });
  });
}
