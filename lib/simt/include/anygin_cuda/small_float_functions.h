// SPDX-License-Identifier: Apache-2.0
// All functions of __half and __nv_bfloat16.
#pragma once

#include "anygin_cuda/small_float_arithmetic.h"
#include "anygin_cuda/small_float_compare.h"
#include "anygin_cuda/small_float_math.h"
