// SPDX-License-Identifier: Apache-2.0
// CUDA's keywords for translation units that no CUDA compiler sees: a host file may include a header with
// __host__ __device__ functions. In device code they stay tokens for the rewriter.
// __noinline__ stays undefined: libstdc++ 12 spells an attribute that way.
#pragma once

#include "anygin_cuda/cuda_mode.h"

#if !defined(ANYGIN_CUDA_DEVICE_CODE) && !defined(ANYGIN_KERNEL_COMPILE)
#define __host__
#define __device__
#define __global__
#define __constant__
#define __managed__
#define __grid_constant__
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(bytes) __attribute__((aligned(bytes)))
#define __launch_bounds__(...)
#endif
