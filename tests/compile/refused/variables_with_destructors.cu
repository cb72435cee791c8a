// SPDX-License-Identifier: Apache-2.0
// Refused: a `__device__` variable with a destructor, on a second device
// Program: variable kept[^~]*cudaErrorNotSupported
#include <cstdio>
struct Keeper {
  int value = 0;
  ~Keeper() { value = -1; }
};
__device__ Keeper kept;
__global__ void kernel() {
  ++kept.value;
}
int main() {
  for (int device = 0; device < 2; ++device) {
    cudaSetDevice(device);
    kernel<<<1, 1>>>();
    std::printf("%s\n", cudaGetErrorName(cudaGetLastError()));
    cudaDeviceSynchronize();
  }
}
