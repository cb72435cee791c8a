// SPDX-License-Identifier: Apache-2.0
// Host functions, events across devices, asynchronous copies and fills, batched launches, errors that stick to a
// thread.
#include "corpus_threads.h"

__global__ void multiply(int* values, int factor) {
  values[threadIdx.x] *= factor;
}

int main(int argc, char** argv) {
  return run_threads(argc, argv, [](Ranks& ranks) {
    constexpr int kCount = 128;
    int *device, *pinned;
    cudaStream_t second;
    cudaEvent_t ready;
    CUDACHECK(cudaStreamCreate(&second));
    CUDACHECK(cudaEventCreateWithFlags(&ready, cudaEventDisableTiming));
    CUDACHECK(cudaMalloc(&device, kCount * sizeof(int)));
    CUDACHECK(cudaHostAlloc(&pinned, kCount * sizeof(int), cudaHostAllocDefault));
    for (int i = 0; i < kCount; ++i) pinned[i] = i;
    CUDACHECK(cudaMemsetAsync(device, 0xff, kCount * sizeof(int), ranks.stream));
    CUDACHECK(cudaMemcpyAsync(device, pinned, kCount * sizeof(int), cudaMemcpyHostToDevice, ranks.stream));
    multiply<<<1, kCount, 0, ranks.stream>>>(device, 3);
    CUDACHECK(cudaEventRecord(ready, ranks.stream));
    CUDACHECK(cudaStreamWaitEvent(second, ready, 0));
    multiply<<<1, kCount, 0, second>>>(device, ranks.rank + 1);
    CUDACHECK(cudaMemcpyAsync(pinned, device, kCount * sizeof(int), cudaMemcpyDeviceToHost, second));
    std::atomic<int> called{0};
    CUDACHECK(cudaLaunchHostFunc(
        second, [](void* count) { ++*static_cast<std::atomic<int>*>(count); }, &called));
    CUDACHECK(cudaStreamSynchronize(second));
    int wrong = called != 1 || cudaStreamQuery(second) != cudaSuccess || cudaEventQuery(ready) != cudaSuccess;
    for (int i = 0; i < kCount; ++i) wrong += pinned[i] != 3 * i * (ranks.rank + 1);
    wrong += cudaMemcpy(pinned, device, 1 << 20, cudaMemcpyDeviceToHost) != cudaErrorInvalidValue;
    wrong += cudaGetLastError() != cudaErrorInvalidValue || cudaGetLastError() != cudaSuccess;
    CUDACHECK(cudaFree(device));
    CUDACHECK(cudaFreeHost(pinned));
    CUDACHECK(cudaEventDestroy(ready));
    CUDACHECK(cudaStreamDestroy(second));
    return wrong;
  });
}
