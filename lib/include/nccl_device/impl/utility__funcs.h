// SPDX-License-Identifier: Apache-2.0
// nccl::utility: integer and order helpers that device code and programs use. Contract 1.4.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_UTILITY__FUNCS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_UTILITY__FUNCS_H_

#include <new>
#include <type_traits>
#include <utility>

#include "../utility.h"
#include "anygin/base/platform.h"

#if NCCL_CHECK_CUDACC
#include <cuda_runtime.h>

#include <cuda/atomic>
#endif

namespace nccl {
namespace utility {

// --- Integers --------------------------------------------------------------------------------------------------------
template <typename X, typename Y>
NCCL_HOST_DEVICE_INLINE constexpr auto divUp(X x, Y y) -> decltype(x + y) {
  return (x + y - 1) / y;
}
template <typename X, typename Y>
NCCL_HOST_DEVICE_INLINE constexpr auto roundUp(X x, Y y) -> decltype(x + y) {
  return (x + y - 1) - (x + y - 1) % y;
}
template <typename X, typename Y>
NCCL_HOST_DEVICE_INLINE constexpr auto roundDown(X x, Y y) -> decltype(x + y) {
  return x - x % y;
}
// `a` is a power of two.
template <typename X>
NCCL_HOST_DEVICE_INLINE constexpr X alignUp(X x, size_t a) {
  return static_cast<X>((static_cast<uint64_t>(x) + a - 1) & ~static_cast<uint64_t>(a - 1));
}
template <typename X>
NCCL_HOST_DEVICE_INLINE constexpr X alignDown(X x, size_t a) {
  return static_cast<X>(static_cast<uint64_t>(x) & ~static_cast<uint64_t>(a - 1));
}
template <typename T>
NCCL_HOST_DEVICE_INLINE T* alignUp(T* p, size_t a) {
  return reinterpret_cast<T*>(alignUp(reinterpret_cast<uintptr_t>(p), a));
}
template <typename T>
NCCL_HOST_DEVICE_INLINE T* alignDown(T* p, size_t a) {
  return reinterpret_cast<T*>(alignDown(reinterpret_cast<uintptr_t>(p), a));
}
template <typename Int>
NCCL_HOST_DEVICE_INLINE constexpr bool isPow2(Int x) {
  return (x & (x - 1)) == 0;
}
// base + n * 2^32.
template <typename T>
NCCL_HOST_DEVICE_INLINE T add4G(T base, int n) {
  static_assert(sizeof(T) == 8, "add4G: a 64-bit integer or pointer");
  return (T)((uint64_t)base + ((uint64_t)(int64_t)n << 32));
}

NCCL_HOST_DEVICE_INLINE constexpr uint32_t mul32hi(uint32_t a, uint32_t b) {
  return static_cast<uint32_t>((uint64_t{a} * b) >> 32);
}
NCCL_HOST_DEVICE_INLINE constexpr uint64_t mul64hi(uint64_t a, uint64_t b) {
  const uint64_t a_low = a & 0xffffffffu, a_high = a >> 32, b_low = b & 0xffffffffu, b_high = b >> 32;
  const uint64_t middle = a_high * b_low + ((a_low * b_low) >> 32);
  const uint64_t middle2 = a_low * b_high + (middle & 0xffffffffu);
  return a_high * b_high + (middle >> 32) + (middle2 >> 32);
}

// Reciprocals for dividing by a multiplication: 2^32 / x and 2^64 / x rounded down, 0 for x = 1.
NCCL_HOST_DEVICE_INLINE constexpr uint32_t idivRcp32(uint32_t x) {
  return static_cast<uint32_t>(0xffffffffu / x + (isPow2(x) ? 1u : 0u));
}
NCCL_HOST_DEVICE_INLINE constexpr uint64_t idivRcp64(uint64_t x) {
  return ~uint64_t{0} / x + (isPow2(x) ? 1u : 0u);
}
// The reciprocal of x * y from the factors and their reciprocals.
NCCL_HOST_DEVICE_INLINE constexpr uint32_t imulRcp32(uint32_t x, uint32_t, uint32_t y, uint32_t) {
  return idivRcp32(x * y);
}
NCCL_HOST_DEVICE_INLINE constexpr uint64_t imulRcp64(uint64_t x, uint64_t, uint64_t y, uint64_t) {
  return idivRcp64(x * y);
}
// x / y and x % y, given y's reciprocal. The product estimates the quotient and is at most one too small.
NCCL_HOST_DEVICE_INLINE constexpr void idivmodFast32(uint32_t* quotient, uint32_t* remainder, uint32_t x, uint32_t y,
                                                     uint32_t yrcp) {
  uint32_t q = yrcp == 0 ? x : mul32hi(x, yrcp);
  uint32_t r = x - q * y;
  if (r >= y) {
    q += 1;
    r -= y;
  }
  *quotient = q;
  *remainder = r;
}
NCCL_HOST_DEVICE_INLINE constexpr void idivmodFast64(uint64_t* quotient, uint64_t* remainder, uint64_t x, uint64_t y,
                                                     uint64_t yrcp) {
  uint64_t q = yrcp == 0 ? x : mul64hi(x, yrcp);
  uint64_t r = x - q * y;
  if (r >= y) {
    q += 1;
    r -= y;
  }
  *quotient = q;
  *remainder = r;
}
NCCL_HOST_DEVICE_INLINE constexpr uint32_t idivFast32(uint32_t x, uint32_t y, uint32_t yrcp) {
  uint32_t q = 0, r = 0;
  idivmodFast32(&q, &r, x, y, yrcp);
  return q;
}
NCCL_HOST_DEVICE_INLINE constexpr uint32_t imodFast32(uint32_t x, uint32_t y, uint32_t yrcp) {
  uint32_t q = 0, r = 0;
  idivmodFast32(&q, &r, x, y, yrcp);
  return r;
}
// Returns all 64 bits (contract A.21).
NCCL_HOST_DEVICE_INLINE constexpr uint64_t idivFast64(uint64_t x, uint64_t y, uint64_t yrcp) {
  uint64_t q = 0, r = 0;
  idivmodFast64(&q, &r, x, y, yrcp);
  return q;
}
NCCL_HOST_DEVICE_INLINE constexpr uint64_t imodFast64(uint64_t x, uint64_t y, uint64_t yrcp) {
  uint64_t q = 0, r = 0;
  idivmodFast64(&q, &r, x, y, yrcp);
  return r;
}

// Rolling comparison of nBits-bit numbers: a <= b while they are less than half the range apart.
template <typename Uint>
NCCL_HOST_DEVICE_INLINE constexpr bool rollingLessEq(Uint a, Uint b, int nBits = 8 * sizeof(Uint)) {
  static_assert(std::is_unsigned<Uint>::value, "rollingLessEq: an unsigned type");
  const Uint m = static_cast<Uint>(static_cast<Uint>(~Uint{0}) >> (8 * static_cast<int>(sizeof(Uint)) - nBits));
  return static_cast<Uint>(static_cast<Uint>(b - a) & m) <= static_cast<Uint>(m >> 1);
}
template <typename Uint>
NCCL_HOST_DEVICE_INLINE constexpr bool rollingLessThan(Uint a, Uint b, int nBits = 8 * sizeof(Uint)) {
  return !rollingLessEq(b, a, nBits);
}

// --- Types -----------------------------------------------------------------------------------------------------------
template <typename T>
T&& declval() noexcept;
template <typename...>
struct always_false {
  static constexpr bool value = false;
};
template <typename T, T Value>
struct ValueAsType {
  static constexpr T value = Value;
};

#if NCCL_CHECK_CUDACC
// --- Orders, loads and stores (device) -------------------------------------------------------------------------------
// The acquire part of an order, and the release part; seq_cst and relaxed are their own.
NCCL_HOST_DEVICE_INLINE constexpr cuda::memory_order acquireOrderOf(cuda::memory_order order) {
  return order == cuda::memory_order_release   ? cuda::memory_order_relaxed
         : order == cuda::memory_order_acq_rel ? cuda::memory_order_acquire
                                               : order;
}
NCCL_HOST_DEVICE_INLINE constexpr cuda::memory_order releaseOrderOf(cuda::memory_order order) {
  return order == cuda::memory_order_acquire   ? cuda::memory_order_relaxed
         : order == cuda::memory_order_acq_rel ? cuda::memory_order_release
                                               : order;
}
template <typename T>
NCCL_DEVICE_INLINE T atomicLoad(T* p, cuda::memory_order order, cuda::thread_scope scope) {
  switch (scope) {
    case cuda::thread_scope_thread:
    case cuda::thread_scope_block:
      return cuda::atomic_ref<T, cuda::thread_scope_block>(*p).load(order);
    case cuda::thread_scope_device:
      return cuda::atomic_ref<T, cuda::thread_scope_device>(*p).load(order);
    default:
      return cuda::atomic_ref<T, cuda::thread_scope_system>(*p).load(order);
  }
}
template <typename T>
NCCL_DEVICE_INLINE void atomicStore(T* p, T value, cuda::memory_order order, cuda::thread_scope scope) {
  switch (scope) {
    case cuda::thread_scope_thread:
    case cuda::thread_scope_block:
      return cuda::atomic_ref<T, cuda::thread_scope_block>(*p).store(value, order);
    case cuda::thread_scope_device:
      return cuda::atomic_ref<T, cuda::thread_scope_device>(*p).store(value, order);
    default:
      return cuda::atomic_ref<T, cuda::thread_scope_system>(*p).store(value, order);
  }
}
// Looks at the abort word every 10,000th call only: true once it is set.
NCCL_DEVICE_INLINE bool testAbort(uint32_t* flag, uint32_t& steps) {
  if (++steps < 10000) return false;
  steps = 0;
  return flag != nullptr && atomicLoad(flag, cuda::memory_order_relaxed, cuda::thread_scope_system) != 0;
}
// The source does not change while kernels run.
template <typename T>
NCCL_DEVICE_INLINE T loadConst(const T* p) {
#if defined(ANYGIN_TARGET_CPU)
  return *p;
#else
  return __ldg(p);
#endif
}

// --- Lanes (device) --------------------------------------------------------------------------------------------------
NCCL_DEVICE_INLINE int lane() {
#if defined(ANYGIN_TARGET_CPU)
  return static_cast<int>(::anygin::simt::anygin_linear_thread % 32);
#else
  int id;
  asm("mov.u32 %0, %%laneid;" : "=r"(id));
  return id;
#endif
}
NCCL_DEVICE_INLINE uint32_t lanemask_lt() {
  return (1u << lane()) - 1;
}
// Reciprocals of 1..64.
NCCL_DEVICE_INLINE uint64_t idivRcp64_upto64(int x) {
  return idivRcp64(static_cast<uint64_t>(x));
}
NCCL_DEVICE_INLINE uint32_t idivRcp32_upto64(int x) {
  return idivRcp32(static_cast<uint32_t>(x));
}
// A zero that the compiler knows nothing about.
NCCL_DEVICE_INLINE int opaqueZero() {
  int zero = 0;
  asm volatile("" : "+r"(zero));
  return zero;
}

// --- Optional --------------------------------------------------------------------------------------------------------
struct Absent {};
// References to constructor arguments; used within the full expression that makes it.
template <typename... Arg>
struct Present;
template <>
struct Present<> {};
template <typename Arg0, typename... Args>
struct Present<Arg0, Args...> {
  Arg0&& arg;
  Present<Args...> rest;
};
NCCL_DEVICE_INLINE Present<> present() {
  return {};
}
template <typename Arg0, typename... Args>
NCCL_DEVICE_INLINE Present<Arg0, Args...> present(Arg0&& arg, Args&&... args) {
  return {static_cast<Arg0&&>(arg), nccl::utility::present(static_cast<Args&&>(args)...)};
}

// Storage for a T that may be absent; made in place, neither copied nor moved.
template <typename T>
class Optional {
 public:
  NCCL_DEVICE_INLINE Optional(Absent) {}
  template <typename... Args>
  NCCL_DEVICE_INLINE Optional(Present<Args...> arguments) : is_present_(true) {
    make(arguments);
  }
  NCCL_DEVICE_INLINE ~Optional() {
    if (is_present_) value().~T();
  }
  Optional(const Optional&) = delete;
  Optional& operator=(const Optional&) = delete;

  NCCL_DEVICE_INLINE bool present() const { return is_present_; }
  NCCL_DEVICE_INLINE T& value() { return *reinterpret_cast<T*>(space_); }

 private:
  template <typename... Made>
  NCCL_DEVICE_INLINE void make(const Present<>&, Made&&... made) {
    ::new (static_cast<void*>(space_)) T(static_cast<Made&&>(made)...);
  }
  template <typename Arg0, typename... Args, typename... Made>
  NCCL_DEVICE_INLINE void make(const Present<Arg0, Args...>& arguments, Made&&... made) {
    make(arguments.rest, static_cast<Made&&>(made)..., static_cast<Arg0&&>(arguments.arg));
  }

#if defined(ANYGIN_SANITIZE_ADDRESS)
  alignas(T) char space_[sizeof(T)] = {};  // g++ does not follow is_present_ there, and warns of parts that are absent
#else
  alignas(T) char space_[sizeof(T)];
#endif
  bool is_present_ = false;
};
#endif  // NCCL_CHECK_CUDACC

}  // namespace utility
}  // namespace nccl

#endif  // ANYGIN_NCCL_DEVICE_IMPL_UTILITY__FUNCS_H_
