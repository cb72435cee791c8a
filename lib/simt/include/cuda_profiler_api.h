// SPDX-License-Identifier: Apache-2.0
// CUDA's name for the header of cudaProfilerStart and cudaProfilerStop.
#pragma once

#include "cuda_runtime_api.h"
