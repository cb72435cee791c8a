// SPDX-License-Identifier: Apache-2.0
// printf and assert in kernels, clock64 and %globaltimer for bandwidth figures, math builtins.
#include <cassert>

#include "corpus_threads.h"

__global__ void measure(int rank, float* out) {
  const long long begin = clock64();
  unsigned long long from, to;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(from));
  float value = 0;
  for (int i = 1; i <= 64; ++i) value += rsqrtf(static_cast<float>(i)) * __expf(-static_cast<float>(i));
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(to));
  assert(blockDim.x == 32);
  assert(clock64() >= begin && to >= from);
  if (threadIdx.x == 0) {
    printf("rank %d: value %.4f, lane %u of %u\n", rank, value, threadIdx.x, blockDim.x);
    *out = value;
  }
}

int main(int argc, char** argv) {
  return run_threads(argc, argv, [](Ranks& ranks) {
    float* out;
    CUDACHECK(cudaMallocHost(&out, sizeof *out));
    measure<<<1, 32, 0, ranks.stream>>>(ranks.rank, out);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    const int wrong = *out > 0.49f && *out < 0.51f ? 0 : 1;
    CUDACHECK(cudaFreeHost(out));
    return wrong;
  });
}
