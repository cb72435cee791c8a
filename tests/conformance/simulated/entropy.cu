// SPDX-License-Identifier: Apache-2.0
// Reads random bytes and does something else each time: not a function of its seed.
#include <cuda_runtime.h>

#include <random>

namespace {

__global__ void nothing() {}

}  // namespace

int main() {
  std::random_device entropy;
  const unsigned bits = entropy();
  for (int bit = 0; bit < 30; ++bit) nothing<<<1 + (bits >> bit & 1), 1>>>();
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
