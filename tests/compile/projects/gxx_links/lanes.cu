// SPDX-License-Identifier: Apache-2.0
// Thread-local and static state, a template's static, a kernel by address: what objects of a program image contain.
#include <cuda_runtime.h>
#include <nccl_device.h>

template <typename T>
struct Counter {
  static T launches;
};
template <typename T>
T Counter<T>::launches = 0;

thread_local int calls = 0;

template <int kStep>
__global__ void add_lanes(int* sum, const ncclCoopCta cta) {
  extern __shared__ int lanes[];
  lanes[threadIdx.x] = static_cast<int>(threadIdx.x) * kStep;
  __syncthreads();
  if (cta.thread_rank() != 0) return;
  for (unsigned i = 0; i < blockDim.x; ++i) *sum += lanes[i];
}

int sum_of_lanes(int lanes) {
  int* sum = nullptr;
  int result = -1;
  if (cudaMallocHost(&sum, sizeof *sum) != cudaSuccess) return -1;
  *sum = 0;
  ncclCoopCta cta;
  void* arguments[] = {&sum, &cta};
  const auto shared_bytes = static_cast<size_t>(lanes) * sizeof(int);
  if (cudaLaunchKernel(reinterpret_cast<const void*>(&add_lanes<1>), dim3(1), dim3(static_cast<unsigned>(lanes)),
                       arguments, shared_bytes, nullptr) == cudaSuccess &&
      cudaDeviceSynchronize() == cudaSuccess) {
    result = *sum;
  }
  ++calls;
  ++Counter<int>::launches;
  if (calls != 1 || Counter<int>::launches != 1) result = -2;
  return cudaFreeHost(sum) == cudaSuccess ? result : -3;
}
