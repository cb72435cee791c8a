// SPDX-License-Identifier: Apache-2.0
// libcudart: launches by address, through the record that the rewriter emits for every kernel; attributes, occupancy.
#include <algorithm>

#include "anygin/base/log.h"
#include "anygin/simt/device_runtime.h"
#include "device_attribute.h"
#include "entry.h"

using namespace anygin::simt;
using namespace anygin::simt::face;

namespace {

Index3 index(dim3 size) {
  return {size.x, size.y, size.z};
}

int launch(const void* function, const LaunchShape& shape, void** arguments) {
  const KernelRecord* kernel = anygin_find_kernel(function);
  if (kernel == nullptr) return cudaErrorInvalidDeviceFunction;
  if (kernel->parameter_count > 0 && arguments == nullptr) return cudaErrorInvalidValue;
  const BoundKernel bound = kernel->bind(arguments);
  return anygin_launch(&shape, &bound);
}

// Puts one attribute of a launch into its shape. Hints about placement and overlap are right to ignore: grids of a
// stream follow each other here.
int apply_attribute(const cudaLaunchAttribute& attribute, LaunchShape* shape) {
  const auto& cluster = attribute.val.clusterDim;
  switch (attribute.id) {
    case cudaLaunchAttributeCooperative:
      shape->cooperative = attribute.val.cooperative != 0;
      return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
      return cluster.x <= 1 && cluster.y <= 1 && cluster.z <= 1 ? cudaSuccess : cudaErrorNotSupported;
    case cudaLaunchAttributeProgrammaticEvent:
    case cudaLaunchAttributeLaunchCompletionEvent:
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
      return cudaErrorNotSupported;
    default:
      return cudaSuccess;
  }
}

}  // namespace

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared_bytes,
                             cudaStream_t stream) {
  return answer(launch(function, LaunchShape{index(grid), index(block), shared_bytes, stream, false}, arguments));
}
cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments,
                                        size_t shared_bytes, cudaStream_t stream) {
  return answer(launch(function, LaunchShape{index(grid), index(block), shared_bytes, stream, true}, arguments));
}
cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  if (config == nullptr || (config->numAttrs > 0 && config->attrs == nullptr)) return answer(cudaErrorInvalidValue);
  LaunchShape shape{index(config->gridDim), index(config->blockDim), config->dynamicSmemBytes, config->stream, false};
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    const int error = apply_attribute(config->attrs[i], &shape);
    if (error != cudaSuccess) return answer(error);
  }
  return answer(launch(function, shape, arguments));
}

// --- Questions about a kernel ----------------------------------------------------------------------------------------
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void* function) {
  if (attributes == nullptr) return answer(cudaErrorInvalidValue);
  const KernelRecord* kernel = anygin_find_kernel(function);
  if (kernel == nullptr) return answer(cudaErrorInvalidDeviceFunction);
  const DeviceProperties device = device_properties(current_device());
  *attributes = cudaFuncAttributes{};
  attributes->maxThreadsPerBlock =
      kernel->max_threads_per_block > 0 ? kernel->max_threads_per_block : device.threads_per_block;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(device.shared_bytes_optin);
  attributes->ptxVersion = attributes->binaryVersion = 90;
  return cudaSuccess;
}
cudaError_t cudaFuncGetName(const char** name, const void* function) {
  if (name == nullptr) return answer(cudaErrorInvalidValue);
  const KernelRecord* kernel = anygin_find_kernel(function);
  if (kernel == nullptr) return answer(cudaErrorInvalidDeviceFunction);
  *name = kernel->name;
  return cudaSuccess;
}
// Every kernel may use the opt-in amount of shared memory: the attribute is checked, and needs no keeping.
cudaError_t cudaFuncSetAttribute(const void* function, cudaFuncAttribute attribute, int value) {
  if (anygin_find_kernel(function) == nullptr) return answer(cudaErrorInvalidDeviceFunction);
  const int most = static_cast<int>(device_properties(current_device()).shared_bytes_optin);
  switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
      return answer(value >= 0 && value <= most ? cudaSuccess : cudaErrorInvalidValue);
    case cudaFuncAttributePreferredSharedMemoryCarveout:
      return answer(value >= -1 && value <= 100 ? cudaSuccess : cudaErrorInvalidValue);
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
      return cudaSuccess;
    default:
      return not_supported();
  }
}
cudaError_t cudaFuncSetCacheConfig(const void* function, cudaFuncCache) {
  return answer(anygin_find_kernel(function) != nullptr ? cudaSuccess : cudaErrorInvalidDeviceFunction);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* function, int block_size,
                                                                   size_t shared_bytes, unsigned) {
  if (blocks == nullptr || block_size <= 0) return answer(cudaErrorInvalidValue);
  const KernelRecord* kernel = anygin_find_kernel(function);
  if (kernel == nullptr) return answer(cudaErrorInvalidDeviceFunction);
  const DeviceProperties device = device_properties(current_device());
  int most = 0;
  device_attribute(cudaDevAttrMaxBlocksPerMultiprocessor, current_device(), &most);
  const int limit = kernel->max_threads_per_block > 0 ? kernel->max_threads_per_block : device.threads_per_block;
  if (block_size > limit || shared_bytes > device.shared_bytes_optin) {
    *blocks = 0;
    return cudaSuccess;
  }
  const int threads = (block_size + 31) / 32 * 32;
  *blocks = std::min(most, device.threads_per_multiprocessor / threads);
  if (shared_bytes > 0) *blocks = std::min(*blocks, static_cast<int>(device.shared_bytes_optin / shared_bytes));
  return cudaSuccess;
}
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* function, int block_size,
                                                          size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(blocks, function, block_size, shared_bytes, 0);
}
