// SPDX-License-Identifier: Apache-2.0
// Devices as the program counts them: ANYGIN_DEVICES of them.
#include "anygin/base/host_threads.h"
#include "real_runtime.h"
#include "virtual_devices.h"

using anygin::gpu::VirtualDevice;
using anygin::gpu::VirtualDevices;

namespace {

bool is_device(const VirtualDevices& devices, int number) {
  return number >= 0 && number < devices.count();
}

// The GPU behind a device number; an invalid number stays invalid.
int real_device(int number) {
  VirtualDevices* devices = VirtualDevices::get();
  if (!devices) return number;
  return is_device(*devices, number) ? devices->device(number).real : -1;
}

}  // namespace

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  VirtualDevices* devices = VirtualDevices::get();
  if (!devices) return ANYGIN_REAL(cudaGetDeviceCount)(count);
  if (!count) return cudaErrorInvalidValue;
  *count = devices->count();
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  VirtualDevices* devices = VirtualDevices::get();
  if (!devices) return ANYGIN_REAL(cudaGetDevice)(device);
  if (!device) return cudaErrorInvalidValue;
  *device = devices->current().number;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) {
  VirtualDevices* devices = VirtualDevices::get();
  return devices ? devices->set_current(device) : ANYGIN_REAL(cudaSetDevice)(device);
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  return ANYGIN_REAL(cudaGetDeviceProperties)(properties, real_device(device));
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  return ANYGIN_REAL(cudaDeviceGetAttribute)(value, attribute, real_device(device));
}

cudaError_t cudaDeviceGetPCIBusId(char* id, int bytes, int device) {
  return ANYGIN_REAL(cudaDeviceGetPCIBusId)(id, bytes, real_device(device));
}

// Devices on one GPU reach each other's memory as it is.
cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  VirtualDevices* devices = VirtualDevices::get();
  if (!devices || real_device(device) != real_device(peer)) {
    return ANYGIN_REAL(cudaDeviceCanAccessPeer)(can, real_device(device), real_device(peer));
  }
  if (!can || !is_device(*devices, device) || !is_device(*devices, peer)) return cudaErrorInvalidValue;
  *can = device != peer ? 1 : 0;
  return cudaSuccess;
}

cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  VirtualDevices* devices = VirtualDevices::get();
  if (!devices || (is_device(*devices, peer) && devices->current().real != devices->device(peer).real)) {
    return ANYGIN_REAL(cudaDeviceEnablePeerAccess)(real_device(peer), flags);
  }
  return is_device(*devices, peer) ? cudaSuccess : cudaErrorInvalidDevice;
}

cudaError_t cudaDeviceSynchronize(void) {
  VirtualDevices* devices = VirtualDevices::get();
  const anygin::BlockingCall blocking;
  return devices ? devices->synchronize(devices->current()) : ANYGIN_REAL(cudaDeviceSynchronize)();
}

cudaError_t cudaPointerGetAttributes(cudaPointerAttributes* attributes, const void* pointer) {
  const cudaError_t error = ANYGIN_REAL(cudaPointerGetAttributes)(attributes, pointer);
  VirtualDevices* devices = VirtualDevices::get();
  if (error != cudaSuccess || !devices) return error;
  const int owner = devices->owner_of(pointer);
  if (owner >= 0) attributes->device = owner;
  return cudaSuccess;
}

cudaError_t cudaMalloc(void** pointer, size_t bytes) {
  VirtualDevices* devices = VirtualDevices::get();
  if (!devices) return ANYGIN_REAL(cudaMalloc)(pointer, bytes);
  return pointer ? devices->malloc(pointer, bytes) : cudaErrorInvalidValue;
}

cudaError_t cudaFree(void* pointer) {
  VirtualDevices* devices = VirtualDevices::get();
  return devices ? devices->free(pointer) : ANYGIN_REAL(cudaFree)(pointer);
}

}  // extern "C"
