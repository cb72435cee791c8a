// SPDX-License-Identifier: Apache-2.0
// Names of cuda::std in device code, and that its atomics are ours.
#include <atomic>
#include <cstdio>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/std/algorithm>
#include <cuda/std/array>
#include <cuda/std/atomic>
#include <cuda/std/bit>
#include <cuda/std/chrono>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/cstring>
#include <cuda/std/functional>
#include <cuda/std/initializer_list>
#include <cuda/std/iterator>
#include <cuda/std/limits>
#include <cuda/std/memory>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/ratio>
#include <cuda/std/string_view>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <cuda/std/variant>
namespace cs = cuda::std;
__global__ void k(float* out) {
  cs::array<int, 4> a{1, 2, 3, 4};
  auto [x, y] = cs::make_tuple(1, 2.5f);
  cs::optional<int> o = 5;
  cs::atomic<int> n{3};
  cs::variant<int, float> v = 2.0f;
  static_assert(cs::is_same_v<cs::remove_cv_t<const int>, int>);
  static_assert(!cs::is_same_v<cs::atomic<int>, std::atomic<int>>);
  static_assert(cs::is_same_v<decltype(n), cuda::atomic<int, cuda::thread_scope_system>>);
  const cs::complex<float> c(1, 1);
  out[0] = cs::accumulate(a.begin(), a.end(), 0) + x + y + *o + n.load() + cs::get<float>(v) + cs::abs(-1.5f) +
           cs::min(3, 4) + cs::numeric_limits<int>::digits + cs::max(c.real(), 0.0f);
  cs::atomic_thread_fence(cs::memory_order_seq_cst);
}
int main() {
  float* p;
  cudaMallocManaged(&p, 4);
  k<<<1, 1>>>(p);
  cudaDeviceSynchronize();
  std::printf("%g\n", *p);
}
