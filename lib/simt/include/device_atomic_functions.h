// SPDX-License-Identifier: Apache-2.0
// CUDA's name for the atomics' header.
#pragma once

#include "anygin_cuda/cuda_mode.h"
#ifdef ANYGIN_CUDA_DEVICE_CODE
#include "anygin_cuda/cuda_atomics.h"
#endif
