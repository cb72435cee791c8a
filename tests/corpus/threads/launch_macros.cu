// SPDX-License-Identifier: Apache-2.0
// Demand 5: launches in headers, macros, templates, lambdas and conditional expressions.
#include "corpus_threads.h"
#include "launch_forms.h"

__global__ void add(int* out, int a, int b) {
  atomicAdd(out, a + b);
}

template <int kStep>
__global__ void scaled(int* out) {
  atomicAdd(out, kStep);
}

#define CASE(step)                          \
  case step:                                \
    scaled<step><<<1, 2, 0, stream>>>(out); \
    break;

void dispatch(int step, int* out, cudaStream_t stream) {
  switch (step) {
    CASE(1)
    CASE(2)
    CASE(4)
    default:
      LAUNCH(add, 1, 1, stream, out, 100, 1);
  }
}

#define CHECK_TYPE(T)                                                     \
  {                                                                       \
    T* values;                                                            \
    CUDACHECK(cudaMallocManaged(&values, 64 * sizeof(T)));                \
    Filler<T>{stream}(values, static_cast<T>(7), 64);                     \
    CUDACHECK(cudaStreamSynchronize(stream));                             \
    for (int i = 0; i < 64; ++i) wrong += values[i] != static_cast<T>(7); \
    CUDACHECK(cudaFree(values));                                          \
  }

int main(int argc, char** argv) {
  return run_threads(argc, argv, [](Ranks& ranks) {
    cudaStream_t stream = ranks.stream;
    int wrong = 0;
    FOR_EACH_TYPE(CHECK_TYPE)
    int* out;
    CUDACHECK(cudaMallocManaged(&out, sizeof *out));
    *out = 0;
    for (int step : {1, 2, 3, 4}) dispatch(step, out, stream);
    launch_any(add, 2, 2, stream, out, 3, 4);
    launch_any(&scaled<8>, 1, 1, stream, out);
    const bool more = ranks.size > 1;
    more ? add<<<1, 1, 0, stream>>>(out, 1, 1) : scaled<1><<<1, 1, 0, stream>>>(out);
    if (more)
      add<<<1, 1, 0, stream>>>(out, 1000, 0);
    else
      add<<<1, 1, 0, stream>>>(out, 2000, 0);
    CUDACHECK(cudaStreamSynchronize(stream));
    wrong += *out != 2 * (1 + 2 + 4) + 101 + 4 * 7 + 8 + 2 + 1000;
    CUDACHECK(cudaFree(out));
    return wrong;
  });
}
