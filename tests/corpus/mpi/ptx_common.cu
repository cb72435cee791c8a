// SPDX-License-Identifier: Apache-2.0
// Demand 8: the inline PTX that programs contain: %globaltimer, red, atom, ld and st with orders, fences, ids.
#include "corpus_mpi.h"

__device__ __forceinline__ unsigned long long now_ns() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}
__device__ __forceinline__ void add_u64(unsigned long long* p, unsigned long long value) {
  asm volatile("red.global.add.u64 [%0], %1;" ::"l"(p), "l"(value) : "memory");
}
__device__ __forceinline__ int load_acquire(const int* p) {
  int value;
  asm volatile("ld.acquire.sys.global.s32 %0, [%1];" : "=r"(value) : "l"(p) : "memory");
  return value;
}
__device__ __forceinline__ void store_release(int* p, int value) {
  asm volatile("st.release.sys.global.s32 [%0], %1;" ::"l"(p), "r"(value) : "memory");
}
__device__ __forceinline__ int load_volatile(const int* p) {
  int value;
  asm volatile("ld.volatile.global.s32 %0, [%1];" : "=r"(value) : "l"(p));
  return value;
}

__global__ void exchange(ncclDevComm comm, ncclWindow_t window, unsigned long long* out) {
  const int peer = comm.lsaRank ^ 1;
  auto* mine = static_cast<int*>(ncclGetLocalPointer(window, 0));
  auto* theirs = static_cast<int*>(ncclGetLsaPointer(window, 0, peer < comm.lsaSize ? peer : comm.lsaRank));
  const unsigned long long begin = now_ns();
  if (threadIdx.x == 0) {
    asm volatile("fence.acq_rel.sys;" ::: "memory");
    store_release(theirs, 7);
    while (load_acquire(mine) != 7) {
    }
    asm volatile("st.relaxed.sys.global.s32 [%0], %1;" ::"l"(theirs + 1), "r"(8) : "memory");
    while (load_volatile(mine + 1) != 8) {
    }
    asm volatile("membar.sys;" ::: "memory");
  }
  __syncthreads();
  add_u64(out, threadIdx.x);
  unsigned lane;
  asm("mov.u32 %0, %laneid;" : "=r"(lane));
  unsigned old;
  asm volatile("atom.global.add.u32 %0, [%1], %2;"
               : "=r"(old)
               : "l"(reinterpret_cast<unsigned*>(out + 1)), "r"(lane)
               : "memory");
  if (now_ns() < begin) out[2] = 1;
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    Window window(ranks, 4096);
    DeviceComm device(ranks, 1);
    unsigned long long* out;
    CUDACHECK(cudaMalloc(&out, 3 * sizeof *out));
    CUDACHECK(cudaMemset(out, 0, 3 * sizeof *out));
    exchange<<<1, 64, 0, ranks.stream>>>(device.comm, window.handle, out);
    unsigned long long got[3];
    CUDACHECK(cudaMemcpyAsync(got, out, sizeof got, cudaMemcpyDeviceToHost, ranks.stream));
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    CUDACHECK(cudaFree(out));
    return (got[0] == 2016) + (got[1] == 992) + (got[2] == 0) == 3 ? 0 : 1;
  });
}
