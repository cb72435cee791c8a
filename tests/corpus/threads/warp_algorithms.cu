// SPDX-License-Identifier: Apache-2.0
// Shuffles, votes, matches and reductions of warps; scans and compaction built from them; bit builtins.
#include "corpus_threads.h"

__device__ int warp_scan(int value) {
  for (int step = 1; step < 32; step *= 2) {
    const int below = __shfl_up_sync(0xffffffffu, value, static_cast<unsigned>(step));
    if (static_cast<int>(threadIdx.x % 32) >= step) value += below;
  }
  return value;
}

__global__ void compact(const int* in, int* out, int count, int* kept) {
  for (int base = 0; base < count; base += 32) {
    const int value = in[base + static_cast<int>(threadIdx.x)];
    const bool keep = value % 3 == 0;
    const unsigned mask = __ballot_sync(0xffffffffu, keep);
    const int place = *kept + __popc(mask & ((1u << threadIdx.x) - 1));
    if (keep) out[place] = value;
    __syncwarp();
    if (threadIdx.x == 0) *kept += __popc(mask);
    __syncwarp();
  }
}

__global__ void checks(int* wrong) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  int bad = warp_scan(lane) != lane * (lane + 1) / 2;
  float sum = static_cast<float>(lane);
  for (int step = 16; step > 0; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
  bad += sum != 496.0f;
  bad += __shfl_sync(0xffffffffu, lane, 5) != 5;
  bad += __reduce_add_sync(0xffffffffu, static_cast<unsigned>(lane)) != 496u;
  bad += __match_any_sync(0xffffffffu, lane / 4) != 0xfu << (lane / 4 * 4);
  bad += __all_sync(0xffffffffu, lane < 32) == 0 || __any_sync(0xffffffffu, lane == 40) != 0;
  bad += __ffs(8) != 4 || __clz(1) != 31 || __popcll(0xff00ffull) != 16;
  if (lane < 16) bad += __reduce_max_sync(0xffffu, static_cast<unsigned>(lane)) != 15u;  // half of the warp
  bad += __syncthreads_count(lane == 0) != static_cast<int>(blockDim.x / 32);
  bad += __syncthreads_or(bad != 0) != 0;
  if (bad != 0) atomicAdd(wrong, bad);
}

int main(int argc, char** argv) {
  return run_threads(argc, argv, [](Ranks& ranks) {
    constexpr int kCount = 256;
    int *in, *out, *numbers;
    CUDACHECK(cudaMallocManaged(&in, kCount * sizeof(int)));
    CUDACHECK(cudaMallocManaged(&out, kCount * sizeof(int)));
    CUDACHECK(cudaMallocManaged(&numbers, 2 * sizeof(int)));
    numbers[0] = numbers[1] = 0;
    for (int i = 0; i < kCount; ++i) in[i] = i * 7 + ranks.rank;
    compact<<<1, 32, 0, ranks.stream>>>(in, out, kCount, numbers);
    checks<<<2, 128, 0, ranks.stream>>>(numbers + 1);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    int wrong = numbers[1], kept = 0;
    for (int i = 0; i < kCount; ++i) {
      if (in[i] % 3 == 0) wrong += out[kept++] != in[i];
    }
    wrong += kept != numbers[0];
    for (int* memory : {in, out, numbers}) CUDACHECK(cudaFree(memory));
    return wrong;
  });
}
