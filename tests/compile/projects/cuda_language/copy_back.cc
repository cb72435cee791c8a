// SPDX-License-Identifier: Apache-2.0
// Compiled by the C++ compiler: what it sees of CUDA is the host's part.
#include <cuda_runtime_api.h>

int on_host(const int* device) {
  int value = 0;
  return cudaMemcpy(&value, device, sizeof value, cudaMemcpyDeviceToHost) == cudaSuccess ? value : -1;
}
