// SPDX-License-Identifier: Apache-2.0
// The runtime API's C++ forms: typed pointers, symbols by name, kernels by their type.
#pragma once

#include <memory>
#include <tuple>
#include <utility>

#include "cuda_runtime_api.h"
#ifdef ANYGIN_CUDA_DEVICE_CODE
#include "anygin/simt/device_runtime.h"
#endif

// --- Memory ----------------------------------------------------------------------------------------------------------
template <typename T>
cudaError_t cudaMalloc(T** pointer, size_t size) {
  return cudaMalloc(reinterpret_cast<void**>(pointer), size);
}
template <typename T>
cudaError_t cudaMallocPitch(T** pointer, size_t* pitch, size_t width, size_t height) {
  return cudaMallocPitch(reinterpret_cast<void**>(pointer), pitch, width, height);
}
template <typename T>
cudaError_t cudaMallocManaged(T** pointer, size_t size, unsigned flags = cudaMemAttachGlobal) {
  return cudaMallocManaged(reinterpret_cast<void**>(pointer), size, flags);
}
template <typename T>
cudaError_t cudaMallocAsync(T** pointer, size_t size, cudaStream_t stream) {
  return cudaMallocAsync(reinterpret_cast<void**>(pointer), size, stream);
}
template <typename T>
cudaError_t cudaMallocFromPoolAsync(T** pointer, size_t size, cudaMemPool_t pool, cudaStream_t stream) {
  return cudaMallocFromPoolAsync(reinterpret_cast<void**>(pointer), size, pool, stream);
}
template <typename T>
cudaError_t cudaMallocHost(T** pointer, size_t size, unsigned flags = 0) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), size, flags);
}
template <typename T>
cudaError_t cudaHostAlloc(T** pointer, size_t size, unsigned flags) {
  return cudaHostAlloc(reinterpret_cast<void**>(pointer), size, flags);
}
template <typename T>
cudaError_t cudaHostGetDevicePointer(T** device_pointer, void* host_pointer, unsigned flags) {
  return cudaHostGetDevicePointer(reinterpret_cast<void**>(device_pointer), host_pointer, flags);
}
// The form of CUDA 11: nodes that fail are named by the error.
inline cudaError_t cudaGraphInstantiate(cudaGraphExec_t* exec, cudaGraph_t graph, cudaGraphNode_t* node, char* log,
                                        size_t log_bytes) {
  if (node != nullptr) *node = nullptr;
  if (log != nullptr && log_bytes > 0) *log = 0;
  return cudaGraphInstantiate(exec, graph, 0);
}
inline cudaError_t cudaEventCreate(cudaEvent_t* event, unsigned flags) {
  return cudaEventCreateWithFlags(event, flags);
}

// --- Symbols: a variable's address in the program names it
// -----------------------------------------------------------
template <typename T>
const void* anygin_symbol_address(const T& symbol) {
  return const_cast<const void*>(static_cast<const volatile void*>(std::addressof(symbol)));
}
template <typename T>
cudaError_t cudaMemcpyToSymbol(const T& symbol, const void* source, size_t count, size_t offset = 0,
                               cudaMemcpyKind kind = cudaMemcpyHostToDevice) {
  return cudaMemcpyToSymbol(anygin_symbol_address(symbol), source, count, offset, kind);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbol(void* destination, const T& symbol, size_t count, size_t offset = 0,
                                 cudaMemcpyKind kind = cudaMemcpyDeviceToHost) {
  return cudaMemcpyFromSymbol(destination, anygin_symbol_address(symbol), count, offset, kind);
}
template <typename T>
cudaError_t cudaMemcpyToSymbolAsync(const T& symbol, const void* source, size_t count, size_t offset = 0,
                                    cudaMemcpyKind kind = cudaMemcpyHostToDevice, cudaStream_t stream = nullptr) {
  return cudaMemcpyToSymbolAsync(anygin_symbol_address(symbol), source, count, offset, kind, stream);
}
template <typename T>
cudaError_t cudaMemcpyFromSymbolAsync(void* destination, const T& symbol, size_t count, size_t offset = 0,
                                      cudaMemcpyKind kind = cudaMemcpyDeviceToHost, cudaStream_t stream = nullptr) {
  return cudaMemcpyFromSymbolAsync(destination, anygin_symbol_address(symbol), count, offset, kind, stream);
}
template <typename T>
cudaError_t cudaGetSymbolAddress(void** pointer, const T& symbol) {
  return cudaGetSymbolAddress(pointer, anygin_symbol_address(symbol));
}
template <typename T>
cudaError_t cudaGetSymbolSize(size_t* size, const T& symbol) {
  return cudaGetSymbolSize(size, anygin_symbol_address(symbol));
}

// --- Kernels ---------------------------------------------------------------------------------------------------------
template <typename T>
const void* anygin_kernel_address(T* kernel) {
  return reinterpret_cast<const void*>(kernel);
}
template <typename T>
cudaError_t cudaLaunchKernel(T* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                             cudaStream_t stream = nullptr) {
  return cudaLaunchKernel(anygin_kernel_address(kernel), grid, block, arguments, shared_bytes, stream);
}
template <typename T>
cudaError_t cudaLaunchCooperativeKernel(T* kernel, dim3 grid, dim3 block, void** arguments, size_t shared_bytes = 0,
                                        cudaStream_t stream = nullptr) {
  return cudaLaunchCooperativeKernel(anygin_kernel_address(kernel), grid, block, arguments, shared_bytes, stream);
}
// The arguments are converted to the kernel's parameter types, which live until the call returns: the launch copies.
template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments), "the kernel takes another number of arguments");
  std::tuple<std::remove_cv_t<std::remove_reference_t<Parameters>>...> values(std::forward<Arguments>(arguments)...);
  return std::apply(
      [&](auto&... value) {
        void* pointers[] = {const_cast<void*>(static_cast<const volatile void*>(std::addressof(value)))..., nullptr};
        return cudaLaunchKernelExC(config, anygin_kernel_address(kernel), pointers);
      },
      values);
}
template <typename T>
cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, T* kernel) {
  return cudaFuncGetAttributes(attributes, anygin_kernel_address(kernel));
}
template <typename T>
cudaError_t cudaFuncSetAttribute(T* kernel, cudaFuncAttribute attribute, int value) {
  return cudaFuncSetAttribute(anygin_kernel_address(kernel), attribute, value);
}
template <typename T>
cudaError_t cudaFuncSetCacheConfig(T* kernel, cudaFuncCache config) {
  return cudaFuncSetCacheConfig(anygin_kernel_address(kernel), config);
}
template <typename T>
cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, T kernel, int block_size, size_t shared_bytes) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, anygin_kernel_address(kernel), block_size, shared_bytes);
}
template <typename T>
cudaError_t cudaOccupancyMaxPotentialBlockSize(int* min_grid_size, int* block_size, T kernel, size_t shared_bytes = 0,
                                               int block_size_limit = 0) {
  int device = 0, multiprocessors = 0, largest = 0, blocks = 0;
  cudaFuncAttributes attributes;
  cudaError_t error = cudaGetDevice(&device);
  if (!error) error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (!error) error = cudaFuncGetAttributes(&attributes, anygin_kernel_address(kernel));
  if (error) return error;
  largest = attributes.maxThreadsPerBlock;
  if (block_size_limit > 0 && block_size_limit < largest) largest = block_size_limit;
  error = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, anygin_kernel_address(kernel), largest, shared_bytes);
  *block_size = largest;
  *min_grid_size = blocks * multiprocessors;
  return error;
}
