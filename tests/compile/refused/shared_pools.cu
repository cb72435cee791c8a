// SPDX-License-Identifier: Apache-2.0
// Refused: pools with handles for other processes
// Program: cudaErrorNotSupported
#include <cstdio>
int main() {
  cudaMemPool_t pool;
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.handleTypes = cudaMemHandleTypePosixFileDescriptor;
  properties.location.type = cudaMemLocationTypeDevice;
  std::printf("%s\n", cudaGetErrorName(cudaMemPoolCreate(&pool, &properties)));
}
