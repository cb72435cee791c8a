// SPDX-License-Identifier: Apache-2.0
// The CUDA runtime in C++: the C API with its typed forms, and in device code the builtins. The driver includes it
// first in every translation unit that it rewrites.
#pragma once

#include "cuda_runtime_api.h"
#include "device_launch_parameters.h"
#include "driver_functions.h"
#include "vector_functions.h"

#ifdef ANYGIN_CUDA_DEVICE_CODE
#include <cstring>

#include "anygin_cuda/cuda_atomics.h"
#include "anygin_cuda/cuda_bits.h"
#include "anygin_cuda/cuda_block.h"
#include "anygin_cuda/cuda_conversions.h"
#include "anygin_cuda/cuda_loads.h"
#include "anygin_cuda/cuda_math.h"
#include "anygin_cuda/cuda_warp.h"
#endif

#ifdef __cplusplus
#include "anygin_cuda/cuda_typed_api.h"
#endif
