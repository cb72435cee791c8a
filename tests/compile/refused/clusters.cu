// SPDX-License-Identifier: Apache-2.0
// Refused: launches with clusters of several blocks
// Program: cudaErrorNotSupported
#include <cstdio>
__global__ void kernel() {}
int main() {
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t config{};
  config.gridDim = 2;
  config.blockDim = 32;
  config.attrs = &cluster;
  config.numAttrs = 1;
  std::printf("%s\n", cudaGetErrorName(cudaLaunchKernelEx(&config, kernel)));
}
