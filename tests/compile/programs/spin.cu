// SPDX-License-Identifier: Apache-2.0
// Chains of lanes that spin on plain memory, each written differently; lane i waits for lane i + 1 of the next block
// and the last lane starts the chain, so that every lane but one must give way.
#include <cuda_runtime.h>

#include <cstdio>

constexpr int kLanes = 32;

__device__ int read_volatile(const int* p) {
  return *(const volatile int*)p;
}
__device__ int read_ptx(const int* p) {
  int value;
  asm volatile("ld.acquire.sys.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}

// The race is what this program is about: ThreadSanitizer looks away.
template <int kWay>
__attribute__((no_sanitize("thread"))) __global__ void chain(int* flags) {
  const int i = static_cast<int>(blockIdx.x + gridDim.x * threadIdx.x);
  int* const next = flags + i + 1;
  if (i + 1 < 2 * kLanes) {
    if (kWay == 0)
      while (*(volatile int*)next == 0)
        ;
    else if (kWay == 1)
      do {
      } while (read_volatile(next) == 0);
    else if (kWay == 2)
      for (;;) {
        if (read_ptx(next)) break;
      }
    else
      while (atomicAdd(next, 0) == 0) continue;
  }
  *(volatile int*)(flags + i) = i + 1;
}

int main() {
  int* flags = nullptr;
  if (cudaMallocManaged(reinterpret_cast<void**>(&flags), (2 * kLanes + 1) * sizeof(int)) != cudaSuccess) return 1;
  void (*const ways[])(int*) = {chain<0>, chain<1>, chain<2>, chain<3>};
  for (auto* way : ways) {
    for (int i = 0; i <= 2 * kLanes; ++i) flags[i] = 0;
    way<<<2, kLanes>>>(flags);
    if (cudaDeviceSynchronize() != cudaSuccess) return 2;
    int sum = 0;
    for (int i = 0; i < 2 * kLanes; ++i) sum += flags[i];
    std::printf("%d\n", sum);
  }
  return 0;
}
