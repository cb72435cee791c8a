// SPDX-License-Identifier: Apache-2.0
// Demand 5: launches that hide in a header, in macros and in templates.
#pragma once

#include "corpus_check.h"

#define LAUNCH(kernel, blocks, threads, stream, ...)           \
  do {                                                         \
    kernel<<<(blocks), (threads), 0, (stream)>>>(__VA_ARGS__); \
    CUDACHECK(cudaGetLastError());                             \
  } while (0)

#define FOR_EACH_TYPE(what) what(int) what(float) what(double)

template <typename T>
__global__ void fill(T* out, T value) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = value;
}

template <typename T, int kThreads = 32>
struct Filler {
  cudaStream_t stream;
  void operator()(T* out, T value, int count) const {
    auto launch = [&](auto blocks) { fill<T><<<dim3(blocks), dim3{kThreads, 1, 1}, size_t{0}, stream>>>(out, value); };
    launch(count / kThreads);
  }
};

template <typename Kernel, typename... Args>
void launch_any(Kernel kernel, int blocks, int threads, cudaStream_t stream, Args... args) {
  kernel<<<blocks, threads, 0, stream>>>(args...);
}
