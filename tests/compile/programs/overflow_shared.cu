// SPDX-License-Identifier: Apache-2.0
// Lane 37 writes one element behind a shared array, into what lies there: another shared array. Built with
// AddressSanitizer, whose report names the line.
#include <cuda_runtime.h>

#include <cstring>

__global__ void arrays(int static_shift, int dynamic_shift) {
  extern __shared__ int dynamic[];
  __shared__ int first[64], second[64];
  const int lane = static_cast<int>(threadIdx.x);
  second[lane] = 0;
  first[lane + (lane == 37 ? static_shift : 0)] = lane;     // line 13
  dynamic[lane + (lane == 37 ? dynamic_shift : 0)] = lane;  // line 14
}
template <int kCount>
__global__ void templated(int shift) {
  __shared__ int rows[kCount][16];
  const int lane = static_cast<int>(threadIdx.x);
  rows[lane / 16][lane % 16 + (lane == 63 ? shift : 0)] = lane;  // line 20
}

int main(int, char** arguments) {
  const bool in_static = std::strcmp(arguments[1], "static") == 0,
             in_dynamic = std::strcmp(arguments[1], "dynamic") == 0;
  arrays<<<1, 64, 64 * sizeof(int)>>>(in_static ? 64 - 37 : 0, in_dynamic ? 64 - 37 : 0);
  templated<4><<<1, 64>>>(std::strcmp(arguments[1], "template") == 0 ? 1 : 0);
  return cudaDeviceSynchronize() == cudaSuccess ? 0 : 3;
}
