// SPDX-License-Identifier: Apache-2.0
// Refused: `__cluster_dims__` of several blocks
// Program: clusters of several blocks, which the cpu target does not have[^~]*cudaErrorLaunchFailure
#include <cstdio>
__global__ void __cluster_dims__(2, 1, 1) kernel() {}
int main() {
  kernel<<<2, 32>>>();
  std::printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
}
