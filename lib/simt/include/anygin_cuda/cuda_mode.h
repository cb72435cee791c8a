// SPDX-License-Identifier: Apache-2.0
// What the CUDA face's headers are compiled for. They are the cpu target's: a machine with g++ and no CUDA uses them.
//   ANYGIN_CUDA_DEVICE_CODE  the translation unit goes through the rewriter: lanes, builtins, launches. The driver
//                            defines __CUDACC__; our own .cc files may ask with ANYGIN_KERNEL_COMPILE.
//   neither                  host code under a plain compiler: types and the runtime API, nothing of libanygin.so.
// __global__, __device__, __shared__ ... survive preprocessing in device code: they are the rewriter's tokens.
#pragma once

#define CUDART_VERSION 13000
#define CUDA_VERSION 13000

#ifndef ANYGIN_TARGET_CPU
#define ANYGIN_TARGET_CPU 1
#endif

#if defined(__cplusplus) && (defined(__CUDACC__) || defined(ANYGIN_KERNEL_COMPILE))
#define ANYGIN_CUDA_DEVICE_CODE 1
#endif

#ifdef __cplusplus
#define ANYGIN_CUDA_DEFAULT(value) = value
#else
#define ANYGIN_CUDA_DEFAULT(value)
#endif
