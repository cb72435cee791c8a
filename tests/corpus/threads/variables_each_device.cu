// SPDX-License-Identifier: Apache-2.0
// Demand 4: __device__ variables of all kinds exist once a device, with ranks as threads of one process.
#include "corpus_threads.h"

enum Phase { kIdle, kBusy };
__device__ int counter;
__device__ int start_at = 40;
__device__ Phase phase = kIdle;
__device__ float table[4] = {1, 2, 3, 4};
__device__ int* remembered;

__global__ void bump(int rank, int times) {
  for (int i = 0; i < times; ++i) atomicAdd(&counter, 1);
  if (threadIdx.x != 0 || blockIdx.x != 0) return;
  start_at += rank;
  phase = kBusy;
  table[rank % 4] *= 10;
  remembered = &counter;
}

__global__ void report(int* out) {
  out[0] = *remembered;
  out[1] = start_at;
  out[2] = phase == kBusy;
  out[3] = static_cast<int>(table[0] + table[1] + table[2] + table[3]);
}

int main(int argc, char** argv) {
  return run_threads(argc, argv, [](Ranks& ranks) {
    bump<<<4, 32, 0, ranks.stream>>>(ranks.rank, ranks.rank + 1);
    int* out;
    CUDACHECK(cudaMallocHost(&out, 4 * sizeof(int)));
    report<<<1, 1, 0, ranks.stream>>>(out);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    int from_symbol = 0;
    CUDACHECK(cudaMemcpyFromSymbol(&from_symbol, counter, sizeof from_symbol));
    int wrong = out[0] != 128 * (ranks.rank + 1) || out[1] != 40 + ranks.rank || out[2] != 1;
    wrong += out[3] != 10 + 9 * (ranks.rank % 4 + 1) || from_symbol != out[0];
    CUDACHECK(cudaFreeHost(out));
    return wrong;
  });
}
