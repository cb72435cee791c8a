// SPDX-License-Identifier: Apache-2.0
// Shared memory: static with dependent sizes, several declarators and alignment; dynamic in functions and at namespace
// scope. Two blocks run at a time and each has its own.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

namespace pool {
extern __shared__ __align__(16) int words[];
__device__ int from_pool(int index) {
  return words[index];
}
}  // namespace pool

template <typename T, int kCount>
__global__ void rotate(T* data) {
  __shared__ T tile[kCount], *last;
  __shared__ alignas(64) char aligned[3];
  __shared__ union {
    int number;
    float real;
  } either;
  const int i = static_cast<int>(threadIdx.x);
  T* mine = data + blockIdx.x * kCount;
  tile[i] = mine[i];
  if (i == 0) {
    last = &tile[kCount - 1];
    either.number = sizeof(tile) == sizeof(T) * kCount && reinterpret_cast<uintptr_t>(aligned) % 64 == 0;
  }
  __syncthreads();
  mine[i] = i == 0 ? *last : tile[i - 1];
  if (!either.number) mine[i] = T(-1);
}

__device__ int sum_of(const int* words, int count) {  // a parameter may be called as the array
  int sum = 0;
  for (int i = 0; i < count; ++i) sum += words[i];
  return sum;
}

__global__ void dynamic(int* out) {
  extern __shared__ int words[];
  words[threadIdx.x] = static_cast<int>(blockIdx.x * 100 + threadIdx.x);
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = sum_of(words, static_cast<int>(blockDim.x));
}

namespace pool {
__global__ void at_namespace_scope(int* out) {
  words[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  int* const bytes = reinterpret_cast<int*>(words);
  if (threadIdx.x == 0) out[blockIdx.x] = from_pool(3) * 10 + bytes[5];
}
}  // namespace pool

int main() {
  int* data = nullptr;
  if (cudaMallocManaged(reinterpret_cast<void**>(&data), 64 * sizeof(int)) != cudaSuccess) return 1;
  for (int i = 0; i < 16; ++i) data[i] = i;
  rotate<int, 8><<<2, 8>>>(data);
  if (cudaDeviceSynchronize() != cudaSuccess) return 2;
  for (int i = 0; i < 16; ++i) std::printf("%d ", data[i]);
  dynamic<<<2, 4, 4 * sizeof(int)>>>(data);
  if (cudaDeviceSynchronize() != cudaSuccess) return 3;
  std::printf("\n%d %d\n", data[0], data[1]);
  pool::at_namespace_scope<<<2, 8, 8 * sizeof(int)>>>(data);
  if (cudaDeviceSynchronize() != cudaSuccess) return 4;
  std::printf("%d %d\n", data[0], data[1]);
  return 0;
}
