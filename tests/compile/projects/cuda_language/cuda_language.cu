// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

__device__ int twice_of(int value);
void launch_thrice(int* value);
int on_host(const int* device);

__global__ void start(int* value) {
  if (threadIdx.x == 31) *value = twice_of(7);
}

int main() {
  int* value = nullptr;
  if (cudaMalloc(&value, sizeof *value) != cudaSuccess) return 1;
  start<<<1, 32>>>(value);
  launch_thrice(value);
  const int result = on_host(value);
  std::printf("%d for sm_%d\n", result, __CUDA_ARCH__ / 10);
  return cudaFree(value) == cudaSuccess && result == 42 && __CUDA_ARCH__ == 900 ? 0 : 1;
}
