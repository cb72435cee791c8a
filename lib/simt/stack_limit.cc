// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/stack_limit.h"

#include "anygin/simt/cuda_error.h"
#include "anygin/simt/device_table.h"
#include "anygin/simt/stack_pool.h"

namespace anygin::simt {

int set_stack_limit(int device, size_t bytes) {
  if (const int error = device_error(device)) return error;
  if (bytes > StackPool::kBytesMost) return kCudaInvalidValue;
  device_table().load(device).stack_bytes.store(StackPool::size_for(bytes), std::memory_order_relaxed);
  return kCudaSuccess;
}

size_t stack_limit(int device) {
  return device_table().load(device).stack_bytes.load(std::memory_order_relaxed);
}

}  // namespace anygin::simt
