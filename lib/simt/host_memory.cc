// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/host_memory.h"

#include <array>
#include <map>
#include <mutex>

#include "anygin/simt/cuda_error.h"
#include "anygin/simt/device.h"

namespace anygin::simt {
namespace {

struct Pool {
  int device = 0;
  bool is_default = false;
  std::array<uint64_t, kPoolAttributes> attributes{};
};

struct Table {
  std::mutex mutex;
  std::map<char*, size_t> registered;             // by start; do not overlap
  std::map<int, std::unique_ptr<Pool>> defaults;  // by device
  std::map<void*, std::unique_ptr<Pool>> pools;   // by handle: looked up, never walked
  std::map<int, Pool*> current;                   // by device, if it is not the default one

  Pool* default_of(int device) {
    std::unique_ptr<Pool>& pool = defaults[device];
    if (!pool) pool = std::make_unique<Pool>(Pool{device, true, {1, 1, 1, 1}});
    return pool.get();
  }
  Pool* find(void* handle) {
    for (const auto& [device, pool] : defaults) {
      if (pool.get() == handle) return pool.get();
    }
    const auto found = pools.find(handle);
    return found == pools.end() ? nullptr : found->second.get();
  }
};

Table& table() {
  static Table& one = *new Table;
  return one;
}

}  // namespace

int register_host_memory(void* base, size_t bytes) {
  auto* start = static_cast<char*>(base);
  if (start == nullptr || bytes == 0) return kCudaInvalidValue;
  const std::lock_guard lock(table().mutex);
  auto next = table().registered.lower_bound(start);
  if (next != table().registered.end() && next->first < start + bytes) return kCudaHostMemoryAlreadyRegistered;
  if (next != table().registered.begin() && std::prev(next)->first + std::prev(next)->second > start) {
    return kCudaHostMemoryAlreadyRegistered;
  }
  table().registered[start] = bytes;
  return kCudaSuccess;
}

int unregister_host_memory(void* base) {
  const std::lock_guard lock(table().mutex);
  return table().registered.erase(static_cast<char*>(base)) != 0 ? kCudaSuccess : kCudaHostMemoryNotRegistered;
}

std::optional<HostRange> find_registered_memory(const void* address) {
  const std::lock_guard lock(table().mutex);
  auto after = table().registered.upper_bound(static_cast<char*>(const_cast<void*>(address)));
  if (after == table().registered.begin()) return std::nullopt;
  const auto& [base, bytes] = *std::prev(after);
  if (static_cast<const char*>(address) >= base + bytes) return std::nullopt;
  return HostRange{base, bytes};
}

PoolHandle default_pool(int device) {
  const std::lock_guard lock(table().mutex);
  return table().default_of(device);
}

PoolHandle create_pool(int device) {
  auto pool = std::make_unique<Pool>(Pool{device, false, {1, 1, 1, 1}});
  const std::lock_guard lock(table().mutex);
  void* handle = pool.get();
  table().pools[handle] = std::move(pool);
  return handle;
}

bool destroy_pool(PoolHandle handle) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().pools.find(handle);
  if (found == table().pools.end()) return false;
  std::erase_if(table().current, [&](const auto& one) { return one.second == handle; });
  table().pools.erase(found);
  return true;
}

std::optional<int> pool_device(PoolHandle handle) {
  const std::lock_guard lock(table().mutex);
  const Pool* pool = table().find(handle);
  return pool == nullptr ? std::nullopt : std::optional(pool->device);
}

PoolHandle current_pool(int device) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().current.find(device);
  return found == table().current.end() ? table().default_of(device) : found->second;
}

bool set_current_pool(int device, PoolHandle handle) {
  const std::lock_guard lock(table().mutex);
  Pool* pool = table().find(handle);
  if (pool == nullptr || pool->device != device) return false;
  table().current[device] = pool;
  return true;
}

bool pool_attribute(PoolHandle handle, int attribute, uint64_t* value) {
  const std::lock_guard lock(table().mutex);
  const Pool* pool = table().find(handle);
  if (pool == nullptr || attribute < 1 || attribute >= kPoolAttributes) return false;
  *value = pool->attributes[static_cast<size_t>(attribute)];
  return true;
}

bool set_pool_attribute(PoolHandle handle, int attribute, uint64_t value) {
  const std::lock_guard lock(table().mutex);
  Pool* pool = table().find(handle);
  if (pool == nullptr || attribute < 1 || attribute >= kPoolAttributes) return false;
  pool->attributes[static_cast<size_t>(attribute)] = value;
  return true;
}

}  // namespace anygin::simt
