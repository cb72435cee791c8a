// SPDX-License-Identifier: Apache-2.0
// Kernels and device functions by address: tables, cudaLaunchKernel, cudaLaunchKernelEx and ExC, attributes, occupancy.
#include "corpus_threads.h"

typedef int (*Operation)(int, int);
__device__ int plus(int a, int b) {
  return a + b;
}
__device__ int times(int a, int b) {
  return a * b;
}
__device__ static const Operation kOperations[] = {plus, times};

__global__ void apply(int which, int a, int b, int* out) {
  *out = kOperations[which](a, b);
}
template <typename T>
__global__ void store(T* out, T value, bool twice) {
  *out = twice ? value + value : value;
}

int main(int argc, char** argv) {
  return run_threads(argc, argv, [](Ranks& ranks) {
    int* out;
    CUDACHECK(cudaMallocHost(&out, 4 * sizeof(int)));
    int which = 1, a = 6, b = ranks.rank;
    void* arguments[] = {&which, &a, &b, &out};
    CUDACHECK(cudaLaunchKernel(reinterpret_cast<void*>(apply), dim3(1), dim3(1), arguments, 0, ranks.stream));
    void (*kernels[])(int*, int, bool) = {store<int>, &store<int>};
    kernels[ranks.rank % 2]<<<1, 1, 0, ranks.stream>>>(out + 1, 21, true);
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(1);
    config.blockDim = dim3(32);
    config.stream = ranks.stream;
    cudaLaunchAttribute attribute = {};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &attribute;
    config.numAttrs = 1;
    CUDACHECK(cudaLaunchKernelEx(&config, store<int>, out + 2, 5, false));
    int* last = out + 3;
    int nine = 9;
    bool twice = true;
    void* more[] = {&last, &nine, &twice};
    CUDACHECK(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(&store<int>), more));
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    int wrong = out[0] != 6 * ranks.rank || out[1] != 42 || out[2] != 5 || out[3] != 18;
    int blocks = 0;
    CUDACHECK(
        cudaFuncSetAttribute(reinterpret_cast<const void*>(apply), cudaFuncAttributeMaxDynamicSharedMemorySize, 65536));
    CUDACHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, apply, 256, 0));
    wrong += blocks < 1;
    CUDACHECK(cudaFreeHost(out));
    return wrong;
  });
}
