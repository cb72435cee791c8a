// SPDX-License-Identifier: Apache-2.0
// One lane writes behind the end of its buffer, or before its start. Built with AddressSanitizer, whose report names
// the marked line.
#include <cuda_runtime.h>

#include <cstdlib>

constexpr int kLanes = 64;

__global__ void fill(int* numbers, int shift) {
  const int lane = static_cast<int>(threadIdx.x);
  numbers[lane + shift * (lane == 37 ? kLanes : 0)] = lane;  // line 12
}

// Argument: 0 (all in bounds), 1 (lane 37 writes behind the end), -1 (before the start).
int main(int, char** arguments) {
  int* numbers = nullptr;
  if (cudaMalloc(&numbers, kLanes * sizeof(int)) != cudaSuccess) return 2;
  fill<<<1, kLanes>>>(numbers, std::atoi(arguments[1]));
  if (cudaDeviceSynchronize() != cudaSuccess) return 3;
  return cudaFree(numbers) == cudaSuccess ? 0 : 4;
}
