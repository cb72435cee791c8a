// SPDX-License-Identifier: Apache-2.0
// For editors only: clangd reads .cu files with it (.clangd adds it), in clang's CUDA mode, which parses <<<...>>>. Host
// and device code are one on the cpu target, so CUDA's words say nothing here. Compilers never include this file:
// there the words are tokens for the rewriter.
#pragma once

#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 900
#endif

#include <cstdlib>

// clang's own wrapper of <new> wants the real meaning, once.
#define __device__ __attribute__((device))
#include <new>
#undef __device__

#define __host__
#define __device__
#define __global__
#define __shared__
#define __constant__
#define __managed__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __maxnreg__(count)
#define __forceinline__ inline
#define __align__(bytes) __attribute__((aligned(bytes)))

#include "cuda_runtime.h"

// What clang makes of <<<...>>>.
extern "C" int cudaConfigureCall(dim3 grid, dim3 block, size_t bytes = 0, void* stream = nullptr);
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t bytes = 0, void* stream = nullptr);
