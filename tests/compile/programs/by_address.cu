// SPDX-License-Identifier: Apache-2.0
// Kernels launched by address before they were ever launched by name; the records of overloads and instantiations.
#include <cuda_runtime.h>

#include <cstdio>

__global__ void k(int* out, short value) {
  *out = value;
}
__global__ void k(int* out, double value, char c) {
  *out = static_cast<int>(value) + c;
}
template <typename T, int kN>
__global__ void __launch_bounds__(kN) t(int* out, T value) {
  *out = static_cast<int>(sizeof(T)) * 100 + static_cast<int>(value);
}
struct Odd {
  char c[3];
};
__global__ void odd(Odd a, int* out, Odd b) {
  *out = a.c[2] * 10 + b.c[0];
}

template <typename... Arguments>
static void launch(const char* name, const void* function, Arguments... arguments) {
  void* list[] = {&arguments...};
  const cudaError_t error = cudaLaunchKernel(function, dim3(1), dim3(1), list, 0, nullptr);
  const cudaError_t after = cudaDeviceSynchronize();
  std::printf("%s: %d %d\n", name, static_cast<int>(error), static_cast<int>(after));
}

int main() {
  int* out = nullptr;
  if (cudaMallocManaged(reinterpret_cast<void**>(&out), sizeof(int)) != cudaSuccess) return 1;
  launch("short", reinterpret_cast<const void*>(static_cast<void (*)(int*, short)>(k)), out, short{-3});
  std::printf("%d\n", *out);
  launch("double", reinterpret_cast<const void*>(static_cast<void (*)(int*, double, char)>(k)), out, 40.5, char{2});
  std::printf("%d\n", *out);
  launch("template", reinterpret_cast<const void*>(t<double, 64>), out, 5.0);
  std::printf("%d\n", *out);
  launch("template", reinterpret_cast<const void*>(t<char, 64>), out, char{6});
  std::printf("%d\n", *out);
  launch("odd sizes", reinterpret_cast<const void*>(odd), Odd{{1, 2, 3}}, out, Odd{{4, 5, 6}});
  std::printf("%d\n", *out);
  return 0;
}
