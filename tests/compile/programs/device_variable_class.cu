// SPDX-License-Identifier: Apache-2.0
// A class that must be destroyed is no bytes to copy: the first device keeps the variable, a second one is refused.
#include <cuda_runtime.h>

#include <cstdio>

namespace library {
struct Logger {
  int lines = 3;
  ~Logger() {}
};
__device__ Logger logger;
}  // namespace library

__global__ void write(int* out) {
  *out = ++library::logger.lines;
}

int main() {
  int* out = nullptr;
  cudaMallocManaged(&out, sizeof(int));
  for (int device : {1, 0, 1}) {
    *out = 0;
    cudaSetDevice(device);
    write<<<1, 1>>>(out);
    const cudaError_t launched = cudaGetLastError();
    cudaDeviceSynchronize();
    std::printf("%d %s %d\n", device, cudaGetErrorName(launched), *out);
    std::fflush(stdout);
  }
  return 0;
}
