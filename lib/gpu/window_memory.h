// SPDX-License-Identifier: Apache-2.0
// Host memory that kernels reach: what ncclMemAlloc gives here, though programs call it device memory.
#pragma once

namespace anygin::gpu {

// Does `address` lie in it? Any thread.
bool is_window_memory(const void* address);

}  // namespace anygin::gpu
