// SPDX-License-Identifier: Apache-2.0
// What the rewriter turns `kernel<<<grid, block, bytes, stream>>>(arguments)` and `__global__` functions into. C++17.
//
// A launch stays a call expression, so overloads, default arguments, deduction and conversions are the language's own:
//   (::anygin::simt::PendingLaunch(grid, block, bytes, stream), kernel(arguments))
// and every `__global__` function begins with
//   if (::anygin::simt::Kernel<static_cast<void (*)(decltype(a)...)>(&kernel), bound>::launch(a...)) return;
// On a host thread with a pending launch that statement copies the parameters, once a grid, and queues the grid; each
// lane then calls the function again with its own parameters and falls through to the body.
#pragma once

#include <memory>
#include <new>
#include <tuple>
#include <type_traits>
#include <utility>

#include "anygin/simt/device_runtime.h"

namespace anygin::simt {

// A grid's or block's size as a launch may write it: a number, {x, y, z}, or anything with x, y and z.
struct Extent {
  unsigned x = 1, y = 1, z = 1;

  Extent(unsigned x_size, unsigned y_size = 1, unsigned z_size = 1) : x(x_size), y(y_size), z(z_size) {}
  template <typename T,
            typename = decltype(std::declval<const T&>().x, std::declval<const T&>().y, std::declval<const T&>().z)>
  Extent(const T& size) : x(size.x), y(size.y), z(size.z) {}
  operator Index3() const { return {x, y, z}; }
};

// The configuration between `<<<` and `>>>`. Lives until the end of the full expression; the kernel that it precedes
// takes it. Launches in the arguments of launches nest.
class PendingLaunch {
 public:
  // On a lane this ends the grid: a kernel cannot launch kernels here.
  PendingLaunch(Extent grid, Extent block, size_t dynamic_shared_bytes = 0, void* stream = nullptr);
  // Reports a launch that no kernel took: what was called is not a `__global__` function.
  ~PendingLaunch();
  PendingLaunch(const PendingLaunch&) = delete;
  PendingLaunch& operator=(const PendingLaunch&) = delete;

  // Host threads: the innermost launch that waits for its kernel. False, and reported, if there is none: `name` was
  // called like a function.
  static bool take(const char* name, LaunchShape* shape);

 private:
  // What a host thread has pending when it has nothing pending; lanes have null, so that kernels see who calls them.
  static PendingLaunch* none();

  LaunchShape shape_;
  PendingLaunch* outer_ = nullptr;
  bool taken_ = false;
};

// `__cluster_dims__(x, y, z)`: the first thing that the kernel's lanes do.
inline void refuse_clusters(unsigned x, unsigned y = 1, unsigned z = 1) {
  if (x * y * z > 1)
    anygin_trap("__cluster_dims__ asks for clusters of several blocks, which the cpu target does not have");
}

extern "C" {
// Null on lanes. Host threads: PendingLaunch::none() except between a PendingLaunch and the kernel's first statement.
// Defined in libanygin.so.
ANYGIN_LANE_TLS PendingLaunch* anygin_pending_launch;
}

// The type of a `__restrict__` parameter as the function's type has it. g++ keeps the word in dependent types, where it
// makes another type of them.
template <typename T>
struct UnrestrictedType {
  using Type = T;
};
template <typename T>
struct UnrestrictedType<T* __restrict__> {
  using Type = T*;
};
template <typename T>
using Unrestricted = typename UnrestrictedType<std::remove_cv_t<T>>::Type;

// The name in "... [with auto kFunction = ns::k<int>]", the compiler's signature of a member of Kernel; a static
// string, the same for equal signatures.
const char* kernel_name(const char* signature);

// One `__global__` function, by address.
template <auto kFunction, int kMaxThreadsPerBlock = 0>
struct Kernel;

template <typename... Parameters, void (*kFunction)(Parameters...), int kMaxThreadsPerBlock>
struct Kernel<kFunction, kMaxThreadsPerBlock> {
  // First statement of the kernel: true on host threads, where it is a launch, which is queued now.
  template <typename... Values>
  __attribute__((always_inline)) static bool launch(Values&... parameters) {
    static_cast<void>(&kRegistered);
    if (__builtin_expect(anygin_pending_launch == nullptr, 1)) return false;
    return launch_pending(parameters...);
  }

  static BoundKernel bind(void** arguments) { return bind_each(arguments, std::index_sequence_for<Parameters...>()); }

 private:
  struct Body {
    std::tuple<std::remove_cv_t<Parameters>...> values;
    void operator()() { std::apply(kFunction, values); }
  };

  // Takes values: a reference would keep the kernel's parameters in memory for its whole body.
  __attribute__((noinline, cold)) static bool launch_pending(std::remove_cv_t<Parameters>... parameters) {
    LaunchShape shape;
    if (!PendingLaunch::take(name(), &shape)) return true;
    const BoundKernel kernel = bound(new Body{{std::move(parameters)...}});
    anygin_launch(&shape, &kernel);
    return true;
  }

  static BoundKernel bound(Body* body) {
    return {&run_lanes<Body>, body, [](void* p) { delete static_cast<Body*>(p); },
            reinterpret_cast<const void*>(kFunction), sizeof(Body)};
  }

  template <size_t... kIndex>
  static BoundKernel bind_each([[maybe_unused]] void** arguments, std::index_sequence<kIndex...>) {
    return bound(new Body{{*static_cast<std::remove_cv_t<Parameters>*>(arguments[kIndex])...}});
  }

  static const char* name() { return kernel_name(__PRETTY_FUNCTION__); }

  static bool register_kernel() {
    static const size_t sizes[] = {sizeof(Parameters)..., 0};
    static const KernelRecord record{
        reinterpret_cast<const void*>(kFunction), name(), sizeof...(Parameters), sizes, &bind, kMaxThreadsPerBlock};
    anygin_register_kernel(&record);
    return true;
  }

  static const bool kRegistered;
};

template <typename... Parameters, void (*kFunction)(Parameters...), int kMaxThreadsPerBlock>
const bool Kernel<kFunction, kMaxThreadsPerBlock>::kRegistered = Kernel::register_kernel();

// One name of a static `__shared__` declaration, an object of its own: `Declaration` is a struct with its names as
// members, which tells instantiations apart and has their alignment.
template <typename T, typename Declaration, int kMember>
T& shared_member() {
  static const char key = 0;
  return *static_cast<T*>(anygin_shared_static(&key, sizeof(T), alignof(Declaration)));
}

// `extern __shared__ T s[];`: D is T[], or T for a plain object.
template <typename D>
D& dynamic_shared() {
  return *static_cast<D*>(anygin_shared_dynamic());
}

}  // namespace anygin::simt
