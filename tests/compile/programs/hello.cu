// SPDX-License-Identifier: Apache-2.0
#include <cuda_runtime.h>

#include <cstdio>

__global__ void hello(int answer) {
  printf("hello from thread %u of block %u: %d\n", threadIdx.x, blockIdx.x, answer);
}

int main() {
  hello<<<1, 1>>>(42);
  if (cudaDeviceSynchronize() != cudaSuccess) return 1;
  hello<<<1, dim3(1, 1, 1), 0, nullptr>>>(43);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
