// SPDX-License-Identifier: Apache-2.0
// libcudart: what has a simple answer here: hints about managed memory, properties of streams, registered memory, the
// driver's functions by name.
#include <dlfcn.h>

#include "anygin/simt/host_memory.h"
#include "entry.h"
#include "memory_place.h"

using namespace anygin::simt;
using namespace anygin::simt::face;

// --- Registered host memory ------------------------------------------------------------------------------------------
cudaError_t cudaHostRegister(void* pointer, size_t bytes, unsigned flags) {
  constexpr unsigned kKnown =
      cudaHostRegisterPortable | cudaHostRegisterMapped | cudaHostRegisterIoMemory | cudaHostRegisterReadOnly;
  return on_device([&]() -> int {
    if ((flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    const Place place = place_of(pointer).place;
    if (place == Place::kPinned) return cudaErrorHostMemoryAlreadyRegistered;
    if (place == Place::kDevice || place == Place::kManaged) return cudaErrorInvalidValue;
    return register_host_memory(pointer, bytes);
  });
}
// Kernels may still use it: they are waited for.
cudaError_t cudaHostUnregister(void* pointer) {
  return on_device([&]() -> int {
    const int error = synchronize_device(current_device());
    return error != cudaSuccess ? error : unregister_host_memory(pointer);
  });
}

// --- Hints about managed memory: it is where it is -------------------------------------------------------------------
cudaError_t cudaMemPrefetchAsync(const void* pointer, size_t bytes, cudaMemLocation, unsigned flags,
                                 cudaStream_t stream) {
  return on_stream(stream, [&](Stream*) -> int {
    return flags == 0 && is_range(pointer, bytes) ? cudaSuccess : cudaErrorInvalidValue;
  });
}
cudaError_t cudaMemAdvise(const void* pointer, size_t bytes, cudaMemoryAdvise, cudaMemLocation) {
  return answer(is_range(pointer, bytes) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void* pointer, size_t, unsigned) {
  return on_stream(stream, [&](Stream*) -> int { return pointer != nullptr ? cudaSuccess : cudaErrorInvalidValue; });
}

// --- Streams ---------------------------------------------------------------------------------------------------------
cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  return on_stream(handle, [&](Stream*) -> int {
    if (priority == nullptr) return cudaErrorInvalidValue;
    *priority = 0;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  return on_stream(handle, [&](Stream* stream) -> int {
    if (flags == nullptr) return cudaErrorInvalidValue;
    *flags = stream->kind() == Stream::Kind::kNonBlocking ? cudaStreamNonBlocking : cudaStreamDefault;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  return on_stream(handle, [&](Stream* stream) -> int {
    if (id == nullptr) return cudaErrorInvalidValue;
    *id = stream->id();
    return cudaSuccess;
  });
}

// --- Devices ---------------------------------------------------------------------------------------------------------
// All devices are alike: the first one fits as well as any.
cudaError_t cudaChooseDevice(int* device, const cudaDeviceProp* properties) {
  if (device == nullptr || properties == nullptr) return answer(cudaErrorInvalidValue);
  *device = 0;
  return cudaSuccess;
}
// Writes of other devices are visible at once.
cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(cudaFlushGPUDirectRDMAWritesTarget, cudaFlushGPUDirectRDMAWritesScope) {
  return cudaSuccess;
}
cudaError_t cudaDeviceGetCacheConfig(cudaFuncCache* config) {
  if (config == nullptr) return answer(cudaErrorInvalidValue);
  *config = cudaFuncCachePreferNone;
  return cudaSuccess;
}
cudaError_t cudaCtxResetPersistingL2Cache() {
  return cudaSuccess;
}

// --- The driver by name ----------------------------------------------------------------------------------------------
cudaError_t cudaGetDriverEntryPointByVersion(const char* symbol, void** function, unsigned version, unsigned long long,
                                             cudaDriverEntryPointQueryResult* status) {
  if (symbol == nullptr || function == nullptr) return answer(cudaErrorInvalidValue);
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  *function = driver != nullptr ? dlsym(driver, symbol) : nullptr;
  const bool too_new = version > CUDART_VERSION;
  if (too_new) *function = nullptr;
  if (status != nullptr) {
    *status = *function != nullptr ? cudaDriverEntryPointSuccess
              : too_new            ? cudaDriverEntryPointVersionNotSufficent
                                   : cudaDriverEntryPointSymbolNotFound;
  }
  return cudaSuccess;
}
cudaError_t cudaGetDriverEntryPoint(const char* symbol, void** function, unsigned long long flags,
                                    cudaDriverEntryPointQueryResult* status) {
  return cudaGetDriverEntryPointByVersion(symbol, function, CUDART_VERSION, flags, status);
}
