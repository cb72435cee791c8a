// SPDX-License-Identifier: Apache-2.0
// Extended lambdas and functors as kernel arguments; __host__ __device__ functions that both sides call.
#include "corpus_threads.h"

template <typename Body>
__global__ void for_each(int count, Body body) {
  for (int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x); i < count;
       i += static_cast<int>(gridDim.x * blockDim.x))
    body(i);
}

struct Affine {
  int scale, offset;
  __host__ __device__ int operator()(int x) const { return scale * x + offset; }
};

__host__ __device__ constexpr int cube(int x) {
  return x * x * x;
}

int main(int argc, char** argv) {
  return run_threads(argc, argv, [](Ranks& ranks) {
    constexpr int kCount = 1000;
    int* values;
    CUDACHECK(cudaMallocManaged(&values, kCount * sizeof(int)));
    const Affine affine{3, ranks.rank};
    for_each<<<4, 64, 0, ranks.stream>>>(kCount, [=] __device__(int i) { values[i] = affine(i); });
    for_each<<<2, 32, 0, ranks.stream>>>(kCount,
                                         [values] __host__ __device__(int i) mutable { values[i] += cube(i % 10); });
    auto negate = [=] __device__(int i) -> void { values[i] = -values[i]; };
    for_each<decltype(negate)><<<1, 128, 0, ranks.stream>>>(kCount, negate);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    int wrong = 0;
    for (int i = 0; i < kCount; ++i) wrong += values[i] != -(affine(i) + cube(i % 10));
    CUDACHECK(cudaFree(values));
    return wrong;
  });
}
