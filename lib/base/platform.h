// SPDX-License-Identifier: Apache-2.0
// The one place that asks which compiler this is and which target the kernels are built for.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(ANYGIN_TARGET_CPU)
// The cpu target: kernels are C++ run by the SIMT engine. Host and device code are one.
#define ANYGIN_HOST_DEVICE
#define ANYGIN_DEVICE
#elif defined(__CUDACC__)
#define ANYGIN_TARGET_CUDA 1
#define ANYGIN_HOST_DEVICE __host__ __device__
// Inlined, so that a kernel's parameters stay where they came: what is passed by reference would go through memory.
#define ANYGIN_DEVICE __device__ __attribute__((always_inline))
#define ANYGIN_DEVICE_OUTLINED __device__ __noinline__
#else
// Host code that includes our headers without compiling kernels.
#define ANYGIN_HOST_ONLY 1
#define ANYGIN_HOST_DEVICE
#define ANYGIN_DEVICE
#endif

// Which sanitizer instruments this translation unit: asked of the compiler, so that it also holds for a user's
// -fsanitize.
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ANYGIN_SANITIZE_ADDRESS 1
#endif
#if __has_feature(thread_sanitizer)
#define ANYGIN_SANITIZE_THREAD 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) && !defined(ANYGIN_SANITIZE_ADDRESS)
#define ANYGIN_SANITIZE_ADDRESS 1
#endif
#if defined(__SANITIZE_THREAD__) && !defined(ANYGIN_SANITIZE_THREAD)
#define ANYGIN_SANITIZE_THREAD 1
#endif

namespace anygin {

inline constexpr size_t kCacheLine = 64;

}  // namespace anygin
