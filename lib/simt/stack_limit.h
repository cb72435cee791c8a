// SPDX-License-Identifier: Apache-2.0
// cudaLimitStackSize: how much stack the lanes of a device have. Any thread; errors are cudaError_t values.
#pragma once

#include <cstddef>

namespace anygin::simt {

// Lanes of grids that are launched on `device` from now on have stacks of at least `bytes`. kCudaInvalidValue beyond
// StackPool::kBytesMost.
int set_stack_limit(int device, size_t bytes);
// What they have: a power of two.
size_t stack_limit(int device);

}  // namespace anygin::simt
