// SPDX-License-Identifier: Apache-2.0
// The answers about a device. Numbers that programs size their launches by come from the engine's DeviceProperties;
// the compute capability is the one that kernels are compiled for (9.0).
#include "device_attribute.h"

#include <climits>
#include <cstdio>
#include <cstring>

#include "anygin/base/world.h"
#include "anygin/simt/device.h"

namespace anygin::simt::face {
namespace {

constexpr int kWarpSize = 32;
constexpr int kMaxBlockDimZ = 64;
constexpr int kMaxGridDimYZ = 65535;
constexpr int kConstantBytes = 64 * 1024;
constexpr int kRegisters = 64 * 1024;  // of a block; nothing counts registers here
constexpr int kBlocksPerMultiprocessor = 32;
constexpr int kMajor = 9;

// Attributes that follow from what was measured or configured.
bool sized_attribute(cudaDeviceAttr attribute, const DeviceProperties& device, int* value) {
  switch (attribute) {
    case cudaDevAttrMaxThreadsPerBlock:
    case cudaDevAttrMaxBlockDimX:
    case cudaDevAttrMaxBlockDimY:
      *value = device.threads_per_block;
      return true;
    case cudaDevAttrMultiProcessorCount:
      *value = device.multiprocessors;
      return true;
    case cudaDevAttrMaxThreadsPerMultiProcessor:
      *value = device.threads_per_multiprocessor;
      return true;
    case cudaDevAttrMaxSharedMemoryPerBlock:
      *value = static_cast<int>(device.shared_bytes_per_block);
      return true;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
    case cudaDevAttrMaxSharedMemoryPerMultiprocessor:
      *value = static_cast<int>(device.shared_bytes_optin);
      return true;
    default:
      return false;
  }
}

// Attributes that are the same for every device. -1: not known.
int fixed_attribute(cudaDeviceAttr attribute) {
  switch (attribute) {
    case cudaDevAttrMaxBlockDimZ:
      return kMaxBlockDimZ;
    case cudaDevAttrMaxGridDimX:
    case cudaDevAttrMaxPitch:
      return INT_MAX;
    case cudaDevAttrMaxGridDimY:
    case cudaDevAttrMaxGridDimZ:
      return kMaxGridDimYZ;
    case cudaDevAttrTotalConstantMemory:
      return kConstantBytes;
    case cudaDevAttrWarpSize:
      return kWarpSize;
    case cudaDevAttrMaxRegistersPerBlock:
    case cudaDevAttrMaxRegistersPerMultiprocessor:
      return kRegisters;
    case cudaDevAttrClockRate:
      return 1'000'000;  // kHz: clock64() counts nanoseconds
    case cudaDevAttrMaxBlocksPerMultiprocessor:
      return kBlocksPerMultiprocessor;
    case cudaDevAttrComputeCapabilityMajor:
      return kMajor;
    case cudaDevAttrGpuOverlap:
    case cudaDevAttrCanMapHostMemory:
    case cudaDevAttrConcurrentKernels:
    case cudaDevAttrAsyncEngineCount:
    case cudaDevAttrUnifiedAddressing:
    case cudaDevAttrManagedMemory:
    case cudaDevAttrConcurrentManagedAccess:
    case cudaDevAttrHostNativeAtomicSupported:
    case cudaDevAttrPageableMemoryAccess:
    case cudaDevAttrPageableMemoryAccessUsesHostPageTables:
    case cudaDevAttrDirectManagedMemAccessFromHost:
    case cudaDevAttrCooperativeLaunch:
    case cudaDevAttrCanUseHostPointerForRegisteredMem:
    case cudaDevAttrHostRegisterSupported:
    case cudaDevAttrMemoryPoolsSupported:
    case cudaDevAttrIntegrated:
      return 1;
    case cudaDevAttrComputeCapabilityMinor:
    case cudaDevAttrTextureAlignment:
    case cudaDevAttrKernelExecTimeout:
    case cudaDevAttrComputeMode:
    case cudaDevAttrEccEnabled:
    case cudaDevAttrPciDeviceId:
    case cudaDevAttrPciDomainId:
    case cudaDevAttrTccDriver:
    case cudaDevAttrMemoryClockRate:
    case cudaDevAttrGlobalMemoryBusWidth:
    case cudaDevAttrL2CacheSize:
    case cudaDevAttrStreamPrioritiesSupported:
    case cudaDevAttrComputePreemptionSupported:
    case cudaDevAttrCanFlushRemoteWrites:
    case cudaDevAttrReservedSharedMemoryPerBlock:
    case cudaDevAttrGPUDirectRDMASupported:
    case cudaDevAttrClusterLaunch:
      return 0;
    default:
      return -1;
  }
}

}  // namespace

bool device_attribute(int attribute, int device, int* value) {
  const auto which = static_cast<cudaDeviceAttr>(attribute);
  if (which == cudaDevAttrPciBusId) {
    *value = device + 1;
    return true;
  }
  if (sized_attribute(which, device_properties(device), value)) return true;
  const int fixed = fixed_attribute(which);
  if (fixed < 0) return false;
  *value = fixed;
  return true;
}

const char* device_name() {
  return "AnyGIN CPU device";
}

size_t device_memory_bytes(int device) {
  const size_t configured = device_properties(device).memory_bytes;
  return configured != 0 ? configured : world().heap.capacity();
}

void fill_properties(int device, cudaDeviceProp* properties) {
  const DeviceProperties known = device_properties(device);
  *properties = cudaDeviceProp{};
  std::snprintf(properties->name, sizeof(properties->name), "%s", device_name());
  std::snprintf(properties->uuid.bytes, sizeof(properties->uuid.bytes), "anygin-cpu-%d", device);
  properties->totalGlobalMem = device_memory_bytes(device);
  properties->sharedMemPerBlock = known.shared_bytes_per_block;
  properties->sharedMemPerBlockOptin = known.shared_bytes_optin;
  properties->sharedMemPerMultiprocessor = known.shared_bytes_optin;
  properties->regsPerBlock = kRegisters;
  properties->regsPerMultiprocessor = kRegisters;
  properties->warpSize = kWarpSize;
  properties->memPitch = INT_MAX;
  properties->maxThreadsPerBlock = known.threads_per_block;
  properties->maxThreadsDim[0] = properties->maxThreadsDim[1] = known.threads_per_block;
  properties->maxThreadsDim[2] = kMaxBlockDimZ;
  properties->maxGridSize[0] = INT_MAX;
  properties->maxGridSize[1] = properties->maxGridSize[2] = kMaxGridDimYZ;
  properties->totalConstMem = kConstantBytes;
  properties->major = kMajor;
  properties->multiProcessorCount = known.multiprocessors;
  properties->maxThreadsPerMultiProcessor = known.threads_per_multiprocessor;
  properties->maxBlocksPerMultiProcessor = kBlocksPerMultiprocessor;
  properties->pciBusID = device + 1;
  properties->integrated = 1;
  properties->canMapHostMemory = 1;
  properties->concurrentKernels = 1;
  properties->asyncEngineCount = 1;
  properties->unifiedAddressing = 1;
  properties->managedMemory = 1;
  properties->concurrentManagedAccess = 1;
  properties->directManagedMemAccessFromHost = 1;
  properties->hostNativeAtomicSupported = 1;
  properties->pageableMemoryAccess = 1;
  properties->pageableMemoryAccessUsesHostPageTables = 1;
  properties->cooperativeLaunch = 1;
  properties->canUseHostPointerForRegisteredMem = 1;
  properties->hostRegisterSupported = 1;
  properties->memoryPoolsSupported = 1;
  properties->unifiedFunctionPointers = 1;
}

}  // namespace anygin::simt::face
