// SPDX-License-Identifier: Apache-2.0
// atomicAdd, CAS, Exch, Min, Max and their scopes; cuda::atomic_ref across ranks of the LSA team; locks and tickets.
#include <cuda/atomic>

#include "corpus_threads.h"

__device__ void lock(int* mutex) {
  while (atomicCAS(mutex, 0, 1) != 0) {
  }
  __threadfence();
}
__device__ void unlock(int* mutex) {
  __threadfence();
  atomicExch(mutex, 0);
}

struct Shared {
  int mutex, plain, smallest, biggest, bits;
  unsigned wrapped;
  unsigned long long sum;
};

__global__ void contend(ncclDevComm comm, ncclWindow_t window) {
  auto* all = static_cast<Shared*>(ncclGetLsaPointer(window, 0, 0));  // rank 0's, for everybody
  const int id = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (threadIdx.x % 32 == 0) {  // a lock within a warp would deadlock a GPU of old
    lock(&all->mutex);
    volatile int* plain = &all->plain;
    *plain = *plain + 1;
    unlock(&all->mutex);
  }
  atomicMin(&all->smallest, -id);
  atomicMax(&all->biggest, id);
  atomicOr(&all->bits, 1 << comm.lsaRank);
  atomicInc(&all->wrapped, 9u);
  atomicAdd_system(&all->sum, static_cast<unsigned long long>(id));
  cuda::atomic_ref<unsigned long long, cuda::thread_scope_system> sum(all->sum);
  sum.fetch_add(1, cuda::memory_order_relaxed);
  __threadfence_system();
}

int main(int argc, char** argv) {
  return run_threads(argc, argv, [](Ranks& ranks) {
    Window window(ranks, 4096);
    DeviceComm device(ranks, 1, 1);
    contend<<<2, 64, 0, ranks.stream>>>(device.comm, window.handle);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    static std::atomic<int> done{0};
    ++done;
    while (done < ranks.size) std::this_thread::yield();
    if (ranks.rank != 0) return 0;
    const Shared all = window.read<Shared>(1)[0];
    const auto n = static_cast<unsigned long long>(ranks.size);
    int wrong = all.mutex != 0 || all.plain != 4 * ranks.size || all.smallest != -127 || all.biggest != 127;
    wrong += all.bits != (1 << ranks.size) - 1 || all.wrapped != 128u * static_cast<unsigned>(ranks.size) % 10u;
    return wrong + (all.sum != n * (127 * 128 / 2 + 128));
  });
}
