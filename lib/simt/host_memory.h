// SPDX-License-Identifier: Apache-2.0
// Ordinary host memory that the program registered, and pools of device memory. Host threads; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace anygin::simt {

struct HostRange {
  char* base = nullptr;
  size_t bytes = 0;
};
// cudaError_t values. Kernels reach all host memory anyway: registering makes it pinned memory for the API's questions.
int register_host_memory(void* base, size_t bytes);
int unregister_host_memory(void* base);
std::optional<HostRange> find_registered_memory(const void* address);

// A pool hands out memory of one device. It keeps none back: attributes are kept and mean nothing.
constexpr int kPoolAttributes = 16;
using PoolHandle = void*;  // cudaMemPool_t
PoolHandle default_pool(int device);
PoolHandle create_pool(int device);
bool destroy_pool(PoolHandle pool);  // false for the default ones and for what is no pool
std::optional<int> pool_device(PoolHandle pool);
// The pool that cudaMallocAsync uses on the device.
PoolHandle current_pool(int device);
bool set_current_pool(int device, PoolHandle pool);
// False for what is no pool or attribute.
bool pool_attribute(PoolHandle pool, int attribute, uint64_t* value);
bool set_pool_attribute(PoolHandle pool, int attribute, uint64_t value);

}  // namespace anygin::simt
