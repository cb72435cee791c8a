// SPDX-License-Identifier: Apache-2.0
// libcudart: pools. Memory comes from the device's heap and goes back to it: a pool is a device with attributes.
#include "anygin/base/log.h"
#include "anygin/base/world.h"
#include "anygin/simt/host_memory.h"
#include "entry.h"

using namespace anygin::simt;
using namespace anygin::simt::face;

namespace {

cudaMemPool_t handle(PoolHandle pool) {
  return static_cast<cudaMemPool_t>(pool);
}

// Reuse policies are ints, sizes are 64 bits.
bool is_policy(cudaMemPoolAttr attribute) {
  return attribute >= cudaMemPoolReuseFollowEventDependencies && attribute <= cudaMemPoolReuseAllowInternalDependencies;
}

bool is_known(cudaMemPoolAttr attribute) {
  return attribute >= cudaMemPoolReuseFollowEventDependencies && attribute <= cudaMemPoolAttrUsedMemHigh;
}

}  // namespace

cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t* pool, int device) {
  if (pool == nullptr) return answer(cudaErrorInvalidValue);
  if (!is_device(device)) return answer(cudaErrorInvalidDevice);
  *pool = handle(default_pool(device));
  return cudaSuccess;
}
cudaError_t cudaDeviceGetMemPool(cudaMemPool_t* pool, int device) {
  if (pool == nullptr) return answer(cudaErrorInvalidValue);
  if (!is_device(device)) return answer(cudaErrorInvalidDevice);
  *pool = handle(current_pool(device));
  return cudaSuccess;
}
cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool) {
  if (!is_device(device)) return answer(cudaErrorInvalidDevice);
  return answer(set_current_pool(device, pool) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* properties) {
  if (pool == nullptr || properties == nullptr) return answer(cudaErrorInvalidValue);
  if (properties->allocType != cudaMemAllocationTypePinned || properties->location.type != cudaMemLocationTypeDevice) {
    return answer(cudaErrorInvalidValue);
  }
  if (!is_device(properties->location.id)) return answer(cudaErrorInvalidDevice);
  if (properties->handleTypes != cudaMemHandleTypeNone) return not_supported();
  *pool = handle(create_pool(properties->location.id));
  return cudaSuccess;
}
cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool) {
  return answer(destroy_pool(pool) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  if (value == nullptr || !is_known(attribute)) return answer(cudaErrorInvalidValue);
  const uint64_t wanted =
      is_policy(attribute) ? static_cast<uint64_t>(*static_cast<int*>(value)) : *static_cast<uint64_t*>(value);
  return answer(set_pool_attribute(pool, attribute, wanted) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr attribute, void* value) {
  uint64_t found = 0;
  if (value == nullptr || !is_known(attribute) || !pool_attribute(pool, attribute, &found)) {
    return answer(cudaErrorInvalidValue);
  }
  if (is_policy(attribute)) {
    *static_cast<int*>(value) = static_cast<int>(found);
  } else {
    *static_cast<uint64_t*>(value) = found;
  }
  return cudaSuccess;
}
// Nothing is kept back, so there is nothing to trim.
cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t) {
  return answer(pool_device(pool) ? cudaSuccess : cudaErrorInvalidValue);
}
// Every device reaches every pool.
cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const cudaMemAccessDesc* rights, size_t count) {
  return answer(pool_device(pool) && rights != nullptr && count > 0 ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaMallocFromPoolAsync(void** pointer, size_t bytes, cudaMemPool_t pool, cudaStream_t stream) {
  return on_stream(stream, [&](Stream*) -> int {
    const auto device = pool_device(pool);
    if (pointer == nullptr || !device) return cudaErrorInvalidValue;
    *pointer = nullptr;
    if (bytes == 0) return cudaSuccess;
    auto allocated = anygin::world().heap.allocate(bytes, *device);
    if (!allocated.ok()) return cudaErrorMemoryAllocation;
    *pointer = *allocated;
    return cudaSuccess;
  });
}
