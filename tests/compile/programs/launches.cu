// SPDX-License-Identifier: Apache-2.0
// Every way to write a launch, and the language's rules for the call: overloads, defaults, deduction, conversions.
#include <cuda_runtime.h>

#include <cstdio>
#include <vector>

#include "launches.h"

struct Big {
  int values[100];
};

template <int kA, int kB>
struct Pair {
  char bytes[kA + kB];
};

__global__ void overloaded(int* out) {
  *out = 1;
}
__global__ void overloaded(int* out, int value) {
  *out = value;
}
__global__ void overloaded(int* out, double value) {
  *out = static_cast<int>(value * 10);
}
__global__ void defaults(int* out, const int value = 7, const char* text = nullptr) {
  *out = value + (text ? 100 : 0);
}
__global__ void pointers(int* out, const int* in, void*, float (*f)(float) = nullptr) {
  *out = in == nullptr && !f;
}
template <typename T>
__global__ void deduced(int* __restrict__ out, T, T* const __restrict__ p) {
  *out = static_cast<int>(sizeof(T)) + (p == nullptr ? 100 : 0);
}
template <typename... Ts>
__global__ void packed(int* out, Ts... values) {
  *out = (0 + ... + values);
}
template <int... kNs, typename T>
__global__ void sums(T* out) {
  *out = (0 + ... + kNs);
}
template <typename T, std::enable_if_t<(sizeof(T) > 4), int> = 0>
__global__ void chosen(T* out) {
  *out = 8;
}
template <typename T, std::enable_if_t<(sizeof(T) <= 4), int> = 0>
__global__ void chosen(T* out) {
  *out = 4;
}
template <>
__global__ void deduced<char>(int* out, char, char*) {
  *out = 1000;
}
__global__ void by_value(int* out, const __grid_constant__ Big big, int index) {
  *out = big.values[index];
}
template <typename F>
__global__ void apply(int* out, F f) {
  *out = f(20);
}
__global__ void scale(int* out, int scale) {
  *out = scale * 2;
}
__global__ void tall(int* out) {
  if (blockIdx.y == 0 && threadIdx.y == 0) *out = static_cast<int>(gridDim.y * 10 + blockDim.y);
}
extern "C" __global__ void named(int* out) {
  *out = 77;
}

static int* out;
static void expect(const char* what, int value) {
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s %d%s\n", what, *out, error != cudaSuccess ? " error" : *out == value ? "" : " WRONG");
  *out = -1;
}

static int side_effects = 0;
static int once() {
  return ++side_effects;
}

int main() {
  if (cudaMallocManaged(reinterpret_cast<void**>(&out), sizeof(int)) != cudaSuccess) return 1;
  int* const p = out;
  *out = 0;
  LAUNCH(overloaded, 1, 1, p);
  expect("overload", 1);
  overloaded<<<1, 1>>>(p, 5);
  expect("int overload", 5);
  overloaded<<<1, 1>>>(p, 2.5);
  expect("double overload", 25);
  defaults<<<1, 1>>>(p);
  expect("default", 7);
  const double fraction = 3.9;
  defaults<<<1, 1>>>(p, fraction);
  expect("converted", 3);
  pointers<<<1, 1>>>(p, 0, NULL);
  expect("null constants", 1);
  deduced<<<1, 1>>>(p, 1.0, static_cast<double*>(nullptr));
  expect("deduced", 108);
  deduced<<<1, 1>>>(p, 'c', static_cast<char*>(nullptr));
  expect("specialised", 1000);
  packed<<<1, 1>>>(p, 1, 2, 3);
  expect("pack", 6);
  sums<1, 2, 4><<<1, 1>>>(p);
  expect("values", 7);
  chosen<<<1, 1>>>(p);
  expect("chosen", 4);
  by_value<<<1, 1>>>(p, {{1, 2, 3}}, 2);
  expect("braces", 3);
  apply<<<1, 1>>>(p, [=] __device__(int x) { return x + 1; });
  expect("lambda", 21);
  scale<<<1, 1>>>(p, 9);
  expect("shadowed name", 18);
  tall<<<dim3(1, 3), {1, 4}>>>(p);
  expect("dimensions", 34);
  // clang-format off
  named<<<1, sizeof(Pair<1, 2>) * 2, (1 << 4) >> 1, nullptr>>>(p);
  expect("shifts", 77);
  overloaded OPEN_LAUNCH 1, 1 CLOSE_LAUNCH (p, once());
  // clang-format on
  expect("evaluated once", 1);
  (overloaded)<<<1, 1>>>(p, 11);
  expect("parentheses", 11);
  void (*const pointer)(int*, int) = overloaded;
  pointer<<<1, 1>>>(p, 12);
  expect("function pointer", 12);
  std::vector<void (*)(int*, int)> table = {scale, overloaded};
  table[1]<<<1, 1>>>(p, 13);
  expect("table", 13);
  *out = 0;
  Adder<int>().run<3>(p, 5);
  expect("member template", 45);
  *out = 0;
  // clang-format off
  ::outer::add<int>
    <<<dim3(2),
       4
    >>>(p,
        2);
  // clang-format on
  expect("on many lines", 16);
  overloaded<<<1, 1>>>(p, [&] {
    scale<<<1, 1>>>(p, 4);
    cudaDeviceSynchronize();
    return *p + 1;
  }());
  expect("nested", 9);
  *out = 3;
  scale(p, 50);
  std::printf("like a function: %s\n", cudaGetErrorName(cudaGetLastError()));
  expect("untouched", 3);
  std::printf("line %d\n", __LINE__);
  return 0;
}
