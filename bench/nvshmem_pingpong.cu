// SPDX-License-Identifier: Apache-2.0
// The peer of bench/pingpong.cu: NVSHMEM's put with signal, 8 bytes, between two processing elements on one GPU, each a
// process, one thread of one block. tools/dev/nvshmem_E.sh builds it where NVSHMEM's Python package is installed.
#include <cuda_runtime.h>
#include <nvshmem.h>
#include <nvshmemx.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace {

constexpr int kBatches = 5;
constexpr uint64_t kTrips = 10000;  // a batch

__device__ uint64_t now_ns() {
  uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

// data[0] arrives, data[1] is sent; batch 0 is for warming up.
__global__ void pingpong(uint64_t* data, uint64_t* signal, int rank, uint64_t* batch_ns) {
  const bool serves = rank == 0;
  const int peer = 1 - rank;
  uint64_t trip = 0;
  for (int batch = 0; batch <= kBatches; ++batch) {
    const uint64_t begin = now_ns();
    for (uint64_t i = 0; i < kTrips; ++i) {
      ++trip;
      if (!serves) nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, trip);
      nvshmem_putmem_signal(data, data + 1, sizeof(uint64_t), signal, 1, NVSHMEM_SIGNAL_ADD, peer);
      if (serves) nvshmem_signal_wait_until(signal, NVSHMEM_CMP_GE, trip);
    }
    batch_ns[batch] = now_ns() - begin;
  }
  nvshmem_quiet();
}

void must(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "nvshmem_pingpong: %s: %s\n", what, cudaGetErrorString(error));
  std::exit(1);
}

void play(int rank, nvshmemx_uniqueid_t* id) {
  must(cudaSetDevice(0), "cudaSetDevice");
  nvshmemx_init_attr_t attributes = NVSHMEMX_INIT_ATTR_INITIALIZER;
  if (nvshmemx_set_attr_uniqueid_args(rank, 2, id, &attributes) != 0 ||
      nvshmemx_init_attr(NVSHMEMX_INIT_WITH_UNIQUEID, &attributes) != 0) {
    std::fprintf(stderr, "nvshmem_pingpong: PE %d: no start\n", rank);
    std::exit(1);
  }
  auto* data = static_cast<uint64_t*>(nvshmem_calloc(2, sizeof(uint64_t)));
  auto* signal = static_cast<uint64_t*>(nvshmem_calloc(1, sizeof(uint64_t)));
  uint64_t* batch_ns;
  must(cudaMalloc(&batch_ns, (kBatches + 1) * sizeof(uint64_t)), "cudaMalloc");
  must(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  nvshmem_barrier_all();
  pingpong<<<1, 1>>>(data, signal, rank, batch_ns);
  must(cudaDeviceSynchronize(), "pingpong");
  if (rank == 0) {
    uint64_t host_ns[kBatches + 1];
    must(cudaMemcpy(host_ns, batch_ns, sizeof(host_ns), cudaMemcpyDeviceToHost), "cudaMemcpy");
    std::vector<double> trips_us;
    for (int batch = 1; batch <= kBatches; ++batch) trips_us.push_back(static_cast<double>(host_ns[batch]) / kTrips * 1e-3);
    std::sort(trips_us.begin(), trips_us.end());
    std::printf("nvshmem put_signal_round_trip processes %.3f us (min %.3f)\n", trips_us[kBatches / 2], trips_us[0]);
    std::fflush(stdout);
  }
  nvshmem_barrier_all();
  nvshmem_finalize();
}

}  // namespace

// One process a processing element; the first tells the second how to find it.
int main() {
  int ends[2];
  if (pipe(ends) != 0) return 1;
  const pid_t child = fork();
  nvshmemx_uniqueid_t id = NVSHMEMX_UNIQUEID_INITIALIZER;
  if (child == 0) {
    if (read(ends[0], &id, sizeof(id)) != sizeof(id)) return 1;
    play(1, &id);
    return 0;
  }
  if (nvshmemx_get_uniqueid(&id) != 0 || write(ends[1], &id, sizeof(id)) != sizeof(id)) return 1;
  play(0, &id);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
