// SPDX-License-Identifier: Apache-2.0
// threadIdx, blockIdx, blockDim, gridDim, warpSize: the lane words of lib/simt/device_runtime.h under CUDA's names.
// Plain thread-local objects, so that a member called gridDim stays legal and gdb prints them. Not const: one frame of
// a kernel runs many lanes after each other, and the compiler must look again.
#pragma once

#include "anygin_cuda/cuda_mode.h"
#include "vector_types.h"

#ifdef ANYGIN_CUDA_DEVICE_CODE
#define ANYGIN_CUDA_LANE_WORD extern __thread __attribute__((tls_model("initial-exec")))
ANYGIN_CUDA_LANE_WORD uint3 threadIdx __asm__("anygin_thread_idx");
ANYGIN_CUDA_LANE_WORD uint3 blockIdx __asm__("anygin_block_idx");
ANYGIN_CUDA_LANE_WORD dim3 blockDim __asm__("anygin_block_dim");
ANYGIN_CUDA_LANE_WORD dim3 gridDim __asm__("anygin_grid_dim");
#undef ANYGIN_CUDA_LANE_WORD

inline constexpr int warpSize = 32;
#endif
