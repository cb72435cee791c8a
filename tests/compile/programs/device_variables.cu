// SPDX-License-Identifier: Apache-2.0
// `__device__` and `__constant__` variables have a copy a device, in every form that programs write, and names that
// only look like them are left alone.
#include <cuda_runtime.h>

#include <cstdio>
#include <cuda/atomic>

enum class Mode { kIdle, kBusy };
struct Point {
  int x, y;
  __device__ int sum() const { return x + y; }
};
using Function = int (*)(int);

__device__ int twice(int value) {
  return 2 * value;
}
__device__ int thrice(int value) {
  return 3 * value;
}

__device__ int hits;
__device__ int start = 5, table[4] = {1, 2, 3, 4}, *cursor = &table[2];
__device__ volatile unsigned flag{7};
static __device__ Mode mode = Mode::kIdle;
__constant__ float weights[2][2];
__device__ Point point = {3, 4};
__device__ Function function = twice;
__device__ static const Function functions[] = {twice, thrice};
__device__ static const int kOffset = 100;
__device__ constexpr int kSize = 3;
__device__ cuda::atomic<int, cuda::thread_scope_device> counter;
__managed__ int managed = 1;
__device__ int (*raw)(int) = thrice;
extern __device__ int later;
namespace deep {
namespace {
__device__ long long hidden = 11;
}
inline namespace v1 {
__device__ int versioned = 13;
}
}  // namespace deep
template <typename T>
__device__ T generic = T(17);
namespace alias = deep::v1;
struct Holder {
  static __device__ int member;
  inline static __device__ int inside = 23;
  int hits = 1000;  // hides the variable
  __device__ int table() const { return 2000; }
  __device__ int use() { return hits + table() + member; }
};
__device__ int Holder::member = 19;

__device__ int bump() {
  static int calls = 0;
  return ++calls;
}

__device__ int shadows(int start) {
  int total = start;
  for (int hits = 0; hits < 2; ++hits) total += hits;
  if (int* cursor = &total; *cursor > 0) *cursor += 1;
  int other = 1, flag = 2;
  auto lambda = [&](int mode) { return mode + flag + other; };
  struct Local {
    int point;
  } local{4};
  const auto& [a, function] = Point{5, 6};
  return total + lambda(1) + local.point + a + function + sizeof(table) / sizeof(int);
}

__global__ void touch(int* out) {
  int buffer[kSize] = {};
  int* const hit = &hits;
  atomicAdd(&hits, 1);
  ++*hit;
  hits += start++;
  table[1] += 10;
  *cursor *= 2;
  cursor = cursor == &table[2] ? cursor + 1 : &table[2];
  flag = flag + 1;
  mode = mode == Mode::kIdle ? Mode::kBusy : Mode::kIdle;
  point.x += 1;
  counter.fetch_add(3);
  ++managed;
  deep::hidden += 1;
  deep::versioned++;
  alias::versioned++;
  {
    using namespace deep;
    versioned++;
  }
  ++::later;
  generic<int> += 1;
  generic<double> += 0.5;
  Holder::member += 1;
  Holder::inside += 1;
  bump();
  Holder holder;
  out[0] = hits;
  out[1] = start;
  out[2] = table[1] * 1000 + table[2];
  out[3] = *cursor;
  out[4] = static_cast<int>(flag);
  out[5] = static_cast<int>(mode);
  out[6] = point.sum();
  out[7] = function(10) + functions[1](10) + raw(1) + kOffset + buffer[0];
  out[8] = counter;
  out[9] = static_cast<int>(deep::hidden) * 100 + deep::versioned;
  out[10] = later;
  out[11] = generic<int> * 100 + static_cast<int>(generic<double> * 2);
  out[12] = holder.use();
  out[13] = bump();
  out[14] = shadows(1);
  out[15] = static_cast<int>(weights[1][0] * 10) + Holder::inside * 1000;
}
__device__ int later = 29;

static int* out;
static void show(int device) {
  std::printf("%d:", device);
  for (int i = 0; i < 16; ++i) std::printf(" %d", out[i]);
  std::printf("\n");
}
static void run(int device) {
  cudaSetDevice(device);
  touch<<<1, 1>>>(out);
  const cudaError_t error = cudaDeviceSynchronize();
  if (error != cudaSuccess) std::printf("%s\n", cudaGetErrorString(error));
  show(device);
}

int main() {
  cudaMallocManaged(&out, 16 * sizeof(int));
  const float values[2][2] = {{0, 0}, {4, 0}};
  cudaSetDevice(2);
  cudaMemcpyToSymbol(weights, values, sizeof values);
  cudaSetDevice(1);
  const float more = 6;
  cudaMemcpyToSymbol(weights, &more, sizeof more, 2 * sizeof(float));
  run(0);
  run(1);
  run(1);
  run(2);
  run(0);

  int there = 0;
  int* address[2] = {};
  for (int device = 0; device < 2; ++device) {
    cudaSetDevice(device);
    cudaMemcpyFromSymbol(&there, start, sizeof there);
    cudaGetSymbolAddress(reinterpret_cast<void**>(&address[device]), start);
    int again = 0;
    cudaPointerAttributes attributes;
    cudaMemcpy(&again, address[device], sizeof again, cudaMemcpyDeviceToHost);
    cudaPointerGetAttributes(&attributes, address[device]);
    std::printf("%d %d %d %d\n", there, again, attributes.device, static_cast<int>(attributes.type));
  }
  size_t bytes = 0;
  cudaGetSymbolSize(&bytes, table);
  Function table_of_device[2] = {};
  const cudaError_t read = cudaMemcpyFromSymbol(table_of_device, functions, sizeof table_of_device);
  std::printf("%d %zu %d %d\n", address[0] != address[1], bytes, static_cast<int>(read), table_of_device[1] == thrice);
  std::printf("%d %d %d\n", static_cast<int>(cudaMemcpyToSymbol(bytes, &bytes, sizeof bytes)),
              static_cast<int>(cudaMemcpyToSymbol(start, &bytes, sizeof bytes)), managed);
  cudaGetLastError();
  cudaSetDevice(1);
  cudaDeviceReset();
  run(1);
  return 0;
}
