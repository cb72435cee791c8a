// SPDX-License-Identifier: Apache-2.0
// Macros that every header of nccl_device uses, and the helpers of nccl::utility that programs use (contract 1.3, 1.4).
// The macros are valid in C. NCCL_CHECK_CUDACC decides whether device code is visible: it is while a CUDA compiler or
// the driver of the cpu target compiles; predefine it to 1 to see device code in a plain compilation for the cpu
// target.
#ifndef ANYGIN_NCCL_DEVICE_UTILITY_H_
#define ANYGIN_NCCL_DEVICE_UTILITY_H_

#include <stddef.h>
#include <stdint.h>

#if !defined(NCCL_CHECK_CUDACC)
#if defined(__CUDACC__) || defined(ANYGIN_KERNEL_COMPILE)
#define NCCL_CHECK_CUDACC 1
#else
#define NCCL_CHECK_CUDACC 0
#endif
#endif

#if defined(__cplusplus)
#define NCCL_EXTERN_C extern "C"
#else
#define NCCL_EXTERN_C
#endif
#if defined(__clang_llvm_bitcode_lib__)
#define NCCL_IR_EXTERN_C extern "C"
#else
#define NCCL_IR_EXTERN_C
#endif

// On the cpu target device code is ordinary C++: the words __device__ and __host__ are not needed.
#if defined(ANYGIN_TARGET_CPU)
#define NCCL_DEVICE_INLINE inline __attribute__((always_inline))
#define NCCL_HOST_DEVICE_INLINE inline __attribute__((always_inline))
#elif defined(__clang_llvm_bitcode_lib__)
#define NCCL_DEVICE_INLINE __device__ __attribute__((always_inline))
#define NCCL_HOST_DEVICE_INLINE __host__ __device__ __attribute__((always_inline))
#elif NCCL_CHECK_CUDACC
#define NCCL_DEVICE_INLINE __device__ __forceinline__
#define NCCL_HOST_DEVICE_INLINE __host__ __device__ __forceinline__
#else
#define NCCL_DEVICE_INLINE
#define NCCL_HOST_DEVICE_INLINE inline __attribute__((always_inline))
#endif
#if !NCCL_CHECK_CUDACC && !defined(ANYGIN_TARGET_CPU) && !defined(__host__)
#define __host__
#endif

// For constructors, which are inline anyway.
#if NCCL_CHECK_CUDACC && !defined(ANYGIN_TARGET_CPU)
#define ANYGIN_NCCL_HOST_DEVICE __host__ __device__
#define ANYGIN_NCCL_DEVICE __device__
#else
#define ANYGIN_NCCL_HOST_DEVICE
#define ANYGIN_NCCL_DEVICE
#endif

#if defined(__cpp_if_constexpr)
#if __cpp_if_constexpr >= 201606
#define NCCL_IF_CONSTEXPR constexpr
#endif
#endif
#if !defined(NCCL_IF_CONSTEXPR)
#define NCCL_IF_CONSTEXPR
#endif

#define DO_PRAGMA(x) _Pragma(#x)
#if defined(__CUDA_ARCH__) && !defined(ANYGIN_TARGET_CPU)
#define NVCC_PRAGMA_UNROLL(n) DO_PRAGMA(unroll n)
#define NVCC_PRAGMA_UNROLL_AUTO DO_PRAGMA(unroll)
#define NVCC_PRAGMA_UNROLL_DISABLED DO_PRAGMA(unroll 1)
#else
#define NVCC_PRAGMA_UNROLL(n)
#define NVCC_PRAGMA_UNROLL_AUTO
#define NVCC_PRAGMA_UNROLL_DISABLED
#endif

#if defined(__cplusplus)
#include "impl/utility__funcs.h"
#endif

#endif  // ANYGIN_NCCL_DEVICE_UTILITY_H_
