// SPDX-License-Identifier: Apache-2.0
// Every place in an expression where a __device__ variable may stand, and names that hide one: the same on two devices.
#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <new>
struct Point {
  int x, y;
  __device__ Point(int a, int b) : x(a), y(b) {}
  Point() = default;
};
struct Pair {
  int a, b;
};
__device__ int hits = 2, start = 3, table[4] = {1, 2, 3, 4};
__device__ Pair pair = {5, 6};
__device__ float scale = 1.5f;
__device__ Point* chain[2];
__device__ int f(int a, int b = 1) {
  return a + b;
}
template <typename T>
__device__ T g(T v) {
  return v + T(hits);
}
enum Kind { kA = 2, kB };
__device__ Kind kind = kA;
__device__ int acc(const int (&t)[4]) {
  int s = 0;
  for (int v : t) s += v;
  for (const auto& v : table) s += v;
  return s;
}
struct Functor {
  int bias;
  __device__ int operator()(int x) const { return x + bias + start; }
};
class Base {
 protected:
  int start = 100;
};
class Derived : public Base {
 public:
  __device__ int get() { return start; }
};
__global__ void k(int* out) {
  int n = 0;
  switch (kind) {
    case kA:
      n += hits;
      break;
    default:
      n = -hits;
  }
  for (; hits < 5; hits++) n += hits;
  n += hits ? start : table[0];
  auto lam = [&] { return hits + start; };
  n += lam() + acc(table) + (int)sizeof table + (int)sizeof(table);
  auto& r = hits;
  int(&ref)[4] = table;
  auto [px, py] = pair;
  r += ref[1] + px + py;
  decltype(hits) copy = hits;
  auto v = hits;
  n += copy + v;
  n += std::min(hits, 3) + std::max<int>(start, 1) + static_cast<int>((float)hits * scale) + (int)scale;
  *(int*)&hits += 1;
  reinterpret_cast<char*>(&table)[0] = 9;
  n += -hits + *&hits + ~start;
  if (!hits) n = 0;
  if ((hits && start) || table[2]) ++n;
  Pair p{hits, start};
  int local[4] = {hits, start, table[3], int(scale)};
  n += p.a + local[3];
  chain[0] = new (out + 8) Point{hits, start};
  n += chain[0]->x + f(hits) + f(1, start) + g(2) + g<long>(hits);
  n += Functor{hits}(start) + Derived().get();
  const int hold = hits, more = start;
  n += hold + more;
  asm volatile("add.s32 %0, %0, %1;" : "+r"(hits) : "r"(start));
  {
    int hits = 1000;
    n += hits;
    struct In {
      int start;
    } in{7};
    n += in.start;
  }
  n += [](int table) { return table; }(4) + [h = hits] { return h; }();
  while (start > 0) {
    if (start-- == 2) break;
  }
  do {
    n++;
  } while (start++ < 3);
  out[0] = n;
  out[1] = hits;
  out[2] = start;
}
int main() {
  int* out = nullptr;
  cudaMallocManaged(&out, 16 * sizeof(int));
  for (int device = 0; device < 2; ++device) {
    cudaSetDevice(device);
    k<<<1, 1>>>(out);
    std::printf("%d %s: ", device, cudaGetErrorString(cudaDeviceSynchronize()));
    std::printf("%d %d %d\n", out[0], out[1], out[2]);
  }
  return 0;
}
