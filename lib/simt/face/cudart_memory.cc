// SPDX-License-Identifier: Apache-2.0
// libcudart: allocation and what is known of a pointer. Device, pinned and managed memory come from world().heap.
#include "anygin/base/log.h"
#include "anygin/base/world.h"
#include "device_attribute.h"
#include "entry.h"
#include "memory_place.h"

using namespace anygin::simt;
using namespace anygin::simt::face;
using anygin::world;

namespace {

int allocate(void** pointer, size_t bytes, int device) {
  if (pointer == nullptr) return cudaErrorInvalidValue;
  *pointer = nullptr;
  if (bytes == 0) return cudaSuccess;
  auto allocated = world().heap.allocate(bytes, device);
  if (!allocated.ok()) {
    anygin::log(anygin::LogLevel::kWarn, "cudaMalloc: {}", allocated.status().message());
    return cudaErrorMemoryAllocation;
  }
  *pointer = *allocated;
  return cudaSuccess;
}

// A damaged red zone is a write out of bounds that nothing caught earlier.
int release(void* pointer) {
  const anygin::Status status = world().heap.free(pointer);
  if (status.ok()) return cudaSuccess;
  anygin::log(anygin::LogLevel::kWarn, "cudaFree: {}", status.message());
  return status.code() == anygin::Code::kInvalidArgument ? cudaErrorInvalidValue : cudaErrorIllegalAddress;
}

bool starts_allocation(const PlaceOf& place, const void* pointer) {
  return place.base != nullptr && place.base == pointer;
}

// Kernels of the owner may still use the memory: CUDA waits for them, so do we.
int wait_for_users(const PlaceOf& place) {
  return synchronize_device(place.place == Place::kDevice ? place.device : current_device());
}

}  // namespace

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  return on_device([&] { return allocate(pointer, bytes, current_device()); });
}
cudaError_t cudaMallocPitch(void** pointer, size_t* pitch, size_t width, size_t height) {
  constexpr size_t kPitch = 512;
  return on_device([&]() -> int {
    if (pitch == nullptr) return cudaErrorInvalidValue;
    *pitch = (width + kPitch - 1) / kPitch * kPitch;
    return allocate(pointer, *pitch * height, current_device());
  });
}
cudaError_t cudaMalloc3D(cudaPitchedPtr* memory, cudaExtent extent) {
  if (memory == nullptr) return answer(cudaErrorInvalidValue);
  void* pointer = nullptr;
  size_t pitch = 0;
  const cudaError_t error = cudaMallocPitch(&pointer, &pitch, extent.width, extent.height * extent.depth);
  if (error == cudaSuccess) *memory = cudaPitchedPtr{pointer, pitch, extent.width, extent.height};
  return error;
}
cudaError_t cudaMallocManaged(void** pointer, size_t bytes, unsigned flags) {
  return on_device([&]() -> int {
    if (flags != cudaMemAttachGlobal && flags != cudaMemAttachHost) return cudaErrorInvalidValue;
    if (bytes == 0) return cudaErrorInvalidValue;
    return allocate(pointer, bytes, kManagedOwner);
  });
}
// Taken at once: earlier than stream order asks for.
cudaError_t cudaMallocAsync(void** pointer, size_t bytes, cudaStream_t stream) {
  return on_stream(stream, [&](Stream* s) { return allocate(pointer, bytes, stream_device(s)); });
}
cudaError_t cudaFree(void* pointer) {
  return on_device([&]() -> int {
    if (pointer == nullptr) return cudaSuccess;
    const PlaceOf place = place_of(pointer);
    if (!starts_allocation(place, pointer) || place.place == Place::kPinned) return cudaErrorInvalidValue;
    const int error = wait_for_users(place);
    return error != cudaSuccess ? error : release(pointer);
  });
}
cudaError_t cudaFreeAsync(void* pointer, cudaStream_t stream) {
  return on_stream(stream, [&](Stream* s) -> int {
    if (pointer == nullptr) return cudaSuccess;
    const PlaceOf place = place_of(pointer);
    if (!starts_allocation(place, pointer) || place.place != Place::kDevice) return cudaErrorInvalidValue;
    if (s->capture()) return cudaSuccess;  // the graph uses it as often as it is launched: it stays
    return enqueue_host_work(s, [pointer] { return release(pointer); });
  });
}

// --- Pinned host memory ----------------------------------------------------------------------------------------------
cudaError_t cudaHostAlloc(void** pointer, size_t bytes, unsigned flags) {
  constexpr unsigned kKnown = cudaHostAllocPortable | cudaHostAllocMapped | cudaHostAllocWriteCombined;
  return on_device([&]() -> int {
    return (flags & ~kKnown) != 0 ? static_cast<int>(cudaErrorInvalidValue) : allocate(pointer, bytes, kPinnedOwner);
  });
}
cudaError_t cudaMallocHost(void** pointer, size_t bytes) {
  return cudaHostAlloc(pointer, bytes, cudaHostAllocDefault);
}
cudaError_t cudaFreeHost(void* pointer) {
  return on_device([&]() -> int {
    if (pointer == nullptr) return cudaSuccess;
    const PlaceOf place = place_of(pointer);
    if (!starts_allocation(place, pointer) || place.place != Place::kPinned) return cudaErrorInvalidValue;
    const int error = wait_for_users(place);
    return error != cudaSuccess ? error : release(pointer);
  });
}
cudaError_t cudaHostGetDevicePointer(void** device_pointer, void* host_pointer, unsigned flags) {
  return on_device([&]() -> int {
    if (device_pointer == nullptr || flags != 0) return cudaErrorInvalidValue;
    const Place place = place_of(host_pointer).place;
    if (place != Place::kPinned && place != Place::kManaged) return cudaErrorInvalidValue;
    *device_pointer = host_pointer;
    return cudaSuccess;
  });
}
cudaError_t cudaHostGetFlags(unsigned* flags, void* host_pointer) {
  if (flags == nullptr || place_of(host_pointer).place != Place::kPinned) return answer(cudaErrorInvalidValue);
  *flags = cudaHostAllocPortable | cudaHostAllocMapped;
  return cudaSuccess;
}

// --- Questions -------------------------------------------------------------------------------------------------------
cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  if (attributes == nullptr) return answer(cudaErrorInvalidValue);
  const PlaceOf place = place_of(pointer);
  void* address = const_cast<void*>(pointer);
  *attributes = cudaPointerAttributes{};
  switch (place.place) {
    case Place::kDevice:
      attributes->type = cudaMemoryTypeDevice;
      attributes->device = place.device >= 0 ? place.device : current_device();
      attributes->devicePointer = address;
      break;
    case Place::kPinned:
    case Place::kManaged:
      attributes->type = place.place == Place::kPinned ? cudaMemoryTypeHost : cudaMemoryTypeManaged;
      attributes->device = current_device();
      attributes->devicePointer = attributes->hostPointer = address;
      break;
    default:
      attributes->type = cudaMemoryTypeUnregistered;
      attributes->device = cudaInvalidDeviceId;
      attributes->hostPointer = address;
  }
  return cudaSuccess;
}
cudaError_t cudaMemGetInfo(size_t* free, size_t* total) {
  return on_device([&]() -> int {
    if (free == nullptr || total == nullptr) return cudaErrorInvalidValue;
    *total = device_memory_bytes(current_device());
    const size_t used = world().heap.allocated();
    *free = used < *total ? *total - used : 0;
    return cudaSuccess;
  });
}
