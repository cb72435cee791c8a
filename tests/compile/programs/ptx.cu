// SPDX-License-Identifier: Apache-2.0
// Inline PTX as programs write it: 32-bit shared addresses, elections, named barriers, polling loops in assembly.
#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>

__device__ bool elect_one() {
  uint32_t chosen = 0;
  asm volatile(
      "{\n"
      ".reg .pred P;\n"
      "elect.sync _|P, 0xffffffff;\n"
      "selp.b32 %0, 1, 0, P;\n"
      "}\n"
      : "=r"(chosen));
  return chosen != 0;
}

__device__ void store_shared(uint32_t address, uint32_t value) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}
__device__ uint32_t load_shared(uint32_t address) {
  uint32_t value;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(value) : "r"(address));
  return value;
}

__device__ void wait_for(const uint32_t* flag, uint32_t wanted) {
  asm volatile(
      "{ .reg .pred done; .reg .b32 seen;\n"
      "WAIT: ld.acquire.gpu.u32 seen, [%0];\n"
      "setp.ge.u32 done, seen, %1;\n"
      "@!done bra WAIT; }" ::"l"(flag),
      "r"(wanted));
}

__global__ void kernel(uint32_t* out, uint32_t* flag) {
  __shared__ uint32_t words[64];
  extern __shared__ uint32_t dynamic[];
  const auto address = static_cast<uint32_t>(__cvta_generic_to_shared(words));
  const auto dynamic_address = static_cast<uint32_t>(__cvta_generic_to_shared(dynamic));
  store_shared(address + 4 * threadIdx.x, threadIdx.x * threadIdx.x);
  store_shared(dynamic_address + 4 * threadIdx.x, threadIdx.x + 1);
  __syncthreads();
  if (threadIdx.x < 32) {
    if (elect_one()) atomicAdd(out, 100);
    asm volatile("bar.sync 1, 32;");
    wait_for(flag, 7);
    out[1 + threadIdx.x] = load_shared(address + 4 * (63 - threadIdx.x)) + load_shared(dynamic_address + 4);
  } else {
    asm volatile("bar.sync %0, %1;" ::"r"(2), "r"(32));
    if (threadIdx.x == 63) asm volatile("st.release.gpu.u32 [%0], 7;" ::"l"(flag) : "memory");
  }
}

int main() {
  uint32_t* out = nullptr;
  cudaMallocManaged(&out, 64 * sizeof(uint32_t));
  for (int i = 0; i < 64; ++i) out[i] = 0;
  kernel<<<1, 64, 256>>>(out, out + 63);
  std::printf("%s\n", cudaGetErrorString(cudaDeviceSynchronize()));
  std::printf("%u %u %u\n", out[0], out[1], out[32]);
  return 0;
}
