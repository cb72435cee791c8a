// SPDX-License-Identifier: Apache-2.0
// Refused: launches from kernels
// Program: kernel parent .*: launches from device code are not supported[^~]*cudaErrorLaunchFailure
#include <cstdio>
__global__ void child() {}
__global__ void parent() {
  child<<<1, 1>>>();
}
int main() {
  parent<<<1, 1>>>();
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
