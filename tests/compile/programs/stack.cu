// SPDX-License-Identifier: Apache-2.0
// A kernel with a large frame. Argument: what cudaLimitStackSize is set to first, in KiB (0: not at all). The frame is
// touched at its low end only: what catches it must not be jumped over.
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>

constexpr int kBytes = 300 * 1024;

__global__ void large_frame(int* sum) {
  volatile char frame[kBytes];
  frame[threadIdx.x] = static_cast<char>(threadIdx.x);
  __syncthreads();
  atomicAdd(sum, frame[threadIdx.x]);
}

int main(int, char** arguments) {
  const size_t limit = static_cast<size_t>(std::atoi(arguments[1])) * 1024;
  if (limit != 0) std::printf("set: %s\n", cudaGetErrorName(cudaDeviceSetLimit(cudaLimitStackSize, limit)));
  size_t bytes = 0;
  if (cudaDeviceGetLimit(&bytes, cudaLimitStackSize) != cudaSuccess) return 2;
  std::printf("limit: %zu\n", bytes);
  std::fflush(stdout);
  int* sum = nullptr;
  if (cudaMallocManaged(&sum, sizeof *sum) != cudaSuccess) return 3;
  *sum = 0;
  large_frame<<<1, 96>>>(sum);
  if (cudaDeviceSynchronize() != cudaSuccess) return 4;
  std::printf("sum: %d\n", *sum);
  return 0;
}
