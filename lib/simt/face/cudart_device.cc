// SPDX-License-Identifier: Apache-2.0
// libcudart: devices, versions, errors.
#include <cstdio>
#include <cstring>

#include "anygin/base/world.h"
#include "anygin/simt/stack_limit.h"
#include "device_attribute.h"
#include "entry.h"
#include "error_text.h"

using namespace anygin::simt;
using namespace anygin::simt::face;

// --- Which device ----------------------------------------------------------------------------------------------------
cudaError_t cudaGetDeviceCount(int* count) {
  if (count == nullptr) return answer(cudaErrorInvalidValue);
  *count = device_count();
  return cudaSuccess;
}
cudaError_t cudaSetDevice(int device) {
  return answer(set_current_device(device));
}
cudaError_t cudaGetDevice(int* device) {
  if (device == nullptr) return answer(cudaErrorInvalidValue);
  *device = current_device();
  return cudaSuccess;
}
cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  return answer(is_device(device) ? cudaSuccess : cudaErrorInvalidDevice);
}
// Flags choose how a host thread waits on a GPU. Here it always polls, then sleeps.
cudaError_t cudaSetDeviceFlags(unsigned) {
  return cudaSuccess;
}
cudaError_t cudaGetDeviceFlags(unsigned* flags) {
  if (flags == nullptr) return answer(cudaErrorInvalidValue);
  *flags = cudaDeviceMapHost;
  return cudaSuccess;
}

// --- What it is ------------------------------------------------------------------------------------------------------
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (value == nullptr) return answer(cudaErrorInvalidValue);
  if (!is_device(device)) return answer(cudaErrorInvalidDevice);
  return answer(device_attribute(static_cast<int>(attribute), device, value) ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (properties == nullptr) return answer(cudaErrorInvalidValue);
  if (!is_device(device)) return answer(cudaErrorInvalidDevice);
  fill_properties(device, properties);
  return cudaSuccess;
}
cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (text == nullptr || length <= 0) return answer(cudaErrorInvalidValue);
  if (!is_device(device)) return answer(cudaErrorInvalidDevice);
  const int wanted = std::snprintf(text, static_cast<size_t>(length), "0000:%02X:00.0", device + 1);
  return answer(wanted < length ? cudaSuccess : cudaErrorInvalidValue);
}
cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  unsigned bus = 0;
  if (device == nullptr || text == nullptr) return answer(cudaErrorInvalidValue);
  if (std::sscanf(text, "%*x:%x:", &bus) != 1 || !is_device(static_cast<int>(bus) - 1)) {
    return answer(cudaErrorInvalidDevice);
  }
  *device = static_cast<int>(bus) - 1;
  return cudaSuccess;
}
cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = 0;
  return cudaSuccess;
}
// The other limits belong to things that are not here.
cudaError_t cudaDeviceGetLimit(size_t* value, cudaLimit limit) {
  if (value == nullptr) return answer(cudaErrorInvalidValue);
  if (limit != cudaLimitStackSize) return answer(cudaErrorUnsupportedLimit);
  *value = stack_limit(current_device());
  return cudaSuccess;
}
cudaError_t cudaDeviceSetLimit(cudaLimit limit, size_t value) {
  if (limit == cudaLimitStackSize) return answer(set_stack_limit(current_device(), value));
  // Sizes of buffers that are not needed here: printf writes at once, kernels use the host's malloc.
  if (limit == cudaLimitPrintfFifoSize || limit == cudaLimitMallocHeapSize) return cudaSuccess;
  return answer(cudaErrorUnsupportedLimit);
}
cudaError_t cudaDeviceSetCacheConfig(cudaFuncCache) {
  return cudaSuccess;
}

// --- Peers: all devices of the process lie in one heap ---------------------------------------------------------------
cudaError_t cudaDeviceCanAccessPeer(int* can_access, int device, int peer) {
  if (can_access == nullptr) return answer(cudaErrorInvalidValue);
  if (!is_device(device) || !is_device(peer)) return answer(cudaErrorInvalidDevice);
  *can_access = device != peer;
  return cudaSuccess;
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (flags != 0) return answer(cudaErrorInvalidValue);
  return answer(is_device(peer) && peer != current_device() ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  return answer(is_device(peer) && peer != current_device() ? cudaSuccess : cudaErrorInvalidDevice);
}
cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int source, int destination) {
  if (value == nullptr) return answer(cudaErrorInvalidValue);
  if (!is_device(source) || !is_device(destination) || source == destination) return answer(cudaErrorInvalidDevice);
  switch (attribute) {
    case cudaDevP2PAttrPerformanceRank:
      *value = 0;
      return cudaSuccess;
    case cudaDevP2PAttrAccessSupported:
    case cudaDevP2PAttrNativeAtomicSupported:
      *value = 1;
      return cudaSuccess;
    case cudaDevP2PAttrCudaArrayAccessSupported:
      *value = 0;
      return cudaSuccess;
  }
  return answer(cudaErrorInvalidValue);
}

// --- Whole-device calls ----------------------------------------------------------------------------------------------
cudaError_t cudaDeviceSynchronize() {
  return on_device([] {
    const int refused = refuse_device_while_capturing(current_device());
    return refused != cudaSuccess ? refused : synchronize_device(current_device());
  });
}
cudaError_t cudaDeviceReset() {
  reset_device(current_device());
  return cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  if (version == nullptr) return answer(cudaErrorInvalidValue);
  *version = CUDA_VERSION;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  if (version == nullptr) return answer(cudaErrorInvalidValue);
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaProfilerStart() {
  return cudaSuccess;
}
cudaError_t cudaProfilerStop() {
  return cudaSuccess;
}

// --- Errors ----------------------------------------------------------------------------------------------------------
// A lost device's error stays until cudaDeviceReset.
static cudaError_t last(bool reset) {
  const int of_thread = last_error(reset);
  const int lost = device_error(current_device());
  return static_cast<cudaError_t>(lost != cudaSuccess ? lost : of_thread);
}
cudaError_t cudaGetLastError() {
  return last(true);
}
cudaError_t cudaPeekAtLastError() {
  return last(false);
}
const char* cudaGetErrorName(cudaError_t error) {
  const ErrorText* known = error_text(error);
  return known != nullptr ? known->name : "unrecognized error code";
}
const char* cudaGetErrorString(cudaError_t error) {
  const ErrorText* known = error_text(error);
  return known != nullptr ? known->text : "unrecognized error code";
}
