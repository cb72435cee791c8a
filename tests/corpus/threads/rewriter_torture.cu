// SPDX-License-Identifier: Apache-2.0
// Legal code that is hard to read without a compiler: odd spacing, names that look like CUDA's, shifts beside launches,
// comments and strings with <<<, loops without braces, raw strings, digraphs, attributes in all places.
#include <string>

#include "corpus_threads.h"

// clang-format off
namespace odd {
struct gridDim {  // a name of CUDA's, as a type in a namespace
  int blockIdx = 4;
  int threadIdx() const { return blockIdx + 1; }
};
int shared_(int x) {
  return x >> 1 << 2;
}
template <int kA, int kB>
struct Shift {
  static constexpr int value = (kA << kB) >> (kB >> 1);
};
template <template <int, int> class S>
constexpr int apply() {
  return S<3, 4>::value;
}
}  // namespace odd

static __global__ void __launch_bounds__(256, 2) first(int *out) { out[0] = 1; }
extern "C" __global__ void second(int* out) { out[1] = 2; }
template <class T> [[maybe_unused]] static
__global__
void
third(T* __restrict__ out, const T value = T(3)) { out[2] = value; }
namespace { namespace deep { struct K { template <int N> static __global__ void fourth(int* out); }; } }
template <int N> __global__ void deep::K::fourth(int* out) { out[3] = N; }
__global__ void fifth(int (*out)[8], int (*)(int)) { (*out)[4] = 5; }
__global__ void sixth(int* out, int n) {
  int i = 0, total = 0;
  while (i < n) ++i;
  do total += i--; while (i > 0);
  for (;;) if (++total > 100) break; else continue;
  for (int k = 0; k < 3; k++)
    if (k == 1) for (int j = 0; j < 2; ++j) total++; else total += 2;
  out[5] = total;
}
__global__ void seventh(int* out, const char* text) {
  __shared__ struct { int a; int b[2]; } pair, other[2];
  __shared__ int (*pointers[2])(int);
  pair.a = text[0] == '<' ? 7 : 0;
  other[1].b[1] = pair.a;
  pointers[0] = nullptr;
  out[6] = other[1].b[1] + (pointers[0] == nullptr ? 0 : 1);
}
__device__ int (*pick(int which))(int);  // a function that returns a pointer
__device__ int twice(int x) { return 2 * x; }
__device__ int (*pick(int which))(int) { return which != 0 ? twice : nullptr; }
__global__ void eighth(int* out) { out[7] = pick(1)(4); }

#define EMPTY
#define ARGUMENTS(...) (__VA_ARGS__)
#define CONFIG(g, b) <<<g, b>>>
#define STRING(x) #x

int main(int argc, char** argv) {
  return run_threads(argc, argv, [](Ranks&) {
    int (*block)[8];
    CUDACHECK(cudaMallocManaged(&block, sizeof *block));
    int* out = *block;
    const std::string text = "<<<1, 1>>>(not a launch)";  // k<<<1, 1>>>(neither);
    const char* raw = R"(third<<<2,
      2>>>(out);)";
    /* second<<<9, 9>>>(out); */
    char* device_text;
    CUDACHECK(cudaMallocManaged(&device_text, 4));
    device_text[0] = text[0];
    first <<< 1 , 1 >>> ( out ) ;
    second EMPTY CONFIG(1, 1) ARGUMENTS(out);
    third<int><<<odd::Shift<1, 0>::value, (2 > 1) ? 1 : 2>>>(out);
    deep::K::fourth<(8 >> 1)><<<dim3(1, 1), dim3{1}>>>(out);
    fifth<<<1, 1>>>(block, odd::shared_);
    [&] { [&](int n) { sixth<<<1, 1, sizeof(int[4])>>>(out, n); }(4); }();
    seventh<<<1, [] { return 1; }()>>>(out, device_text), eighth<<<1, 1>>>(out);
    CUDACHECK(cudaDeviceSynchronize());
    int wrong = 0;
    for (int i = 0; i < 8; ++i) wrong += i != 5 && out[i] != i + 1;
    wrong += out[5] != 101 + 2 + 2 + 2 || odd::apply<odd::Shift>() != 12 || odd::gridDim().threadIdx() != 5;
    wrong += std::string(raw).find("<<<2") != 5 || std::string(STRING(<<<1>>>)) != "<<<1>>>" || odd::shared_(4) != 8;
    wrong += 1 << 2 << 3 != 32;
    CUDACHECK(cudaFree(device_text));
    CUDACHECK(cudaFree(block));
    return wrong;
  });
}
