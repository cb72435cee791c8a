// SPDX-License-Identifier: Apache-2.0
// libcudart: `__device__` and `__constant__` variables by name. A symbol is the address of the variable in the program;
// every call acts on the copy of the current device, or of the stream's.
#include "anygin/base/log.h"
#include "anygin/simt/device_variables.h"
#include "entry.h"

using namespace anygin::simt;
using namespace anygin::simt::face;

namespace {

// The copy of `device`; an error if the symbol is none.
int find_symbol(const void* symbol, int device, FoundVariable* found) {
  std::string why;
  if (const int error = prepare_device_variables(device, false, &why)) {
    anygin::log(anygin::LogLevel::kWarn, "symbol refused (cudaError {}): {}", error, why);
    return error;
  }
  const auto variable = device_variable_of_symbol(symbol, device);
  if (!variable) return cudaErrorInvalidSymbol;
  *found = *variable;
  return cudaSuccess;
}

// [offset, offset + bytes) of it.
int find_part(const void* symbol, int device, size_t bytes, size_t offset, char** part) {
  FoundVariable found;
  if (const int error = find_symbol(symbol, device, &found)) return error;
  if (offset > found.bytes || bytes > found.bytes - offset) return cudaErrorInvalidValue;
  *part = found.base + offset;
  return cudaSuccess;
}

bool may_be(cudaMemcpyKind kind, cudaMemcpyKind host_side) {
  return kind == host_side || kind == cudaMemcpyDeviceToDevice || kind == cudaMemcpyDefault;
}

// Calls `body(device of the stream)`; the legacy stream is the current device's.
template <typename Body>
cudaError_t with_device(cudaStream_t handle, const Body& body) {
  Stream* stream = resolve_stream(handle);
  return stream != nullptr ? body(stream_device(stream)) : answer(cudaErrorInvalidResourceHandle);
}

}  // namespace

cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* source, size_t bytes, size_t offset,
                               cudaMemcpyKind kind) {
  char* part = nullptr;
  if (!may_be(kind, cudaMemcpyHostToDevice)) return answer(cudaErrorInvalidMemcpyDirection);
  if (const int error = find_part(symbol, current_device(), bytes, offset, &part)) return answer(error);
  return cudaMemcpy(part, source, bytes, kind);
}
cudaError_t cudaMemcpyFromSymbol(void* destination, const void* symbol, size_t bytes, size_t offset,
                                 cudaMemcpyKind kind) {
  char* part = nullptr;
  if (!may_be(kind, cudaMemcpyDeviceToHost)) return answer(cudaErrorInvalidMemcpyDirection);
  if (const int error = find_part(symbol, current_device(), bytes, offset, &part)) return answer(error);
  return cudaMemcpy(destination, part, bytes, kind);
}
cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* source, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  if (!may_be(kind, cudaMemcpyHostToDevice)) return answer(cudaErrorInvalidMemcpyDirection);
  return with_device(stream, [&](int device) {
    char* part = nullptr;
    if (const int error = find_part(symbol, device, bytes, offset, &part)) return answer(error);
    return cudaMemcpyAsync(part, source, bytes, kind, stream);
  });
}
cudaError_t cudaMemcpyFromSymbolAsync(void* destination, const void* symbol, size_t bytes, size_t offset,
                                      cudaMemcpyKind kind, cudaStream_t stream) {
  if (!may_be(kind, cudaMemcpyDeviceToHost)) return answer(cudaErrorInvalidMemcpyDirection);
  return with_device(stream, [&](int device) {
    char* part = nullptr;
    if (const int error = find_part(symbol, device, bytes, offset, &part)) return answer(error);
    return cudaMemcpyAsync(destination, part, bytes, kind, stream);
  });
}
cudaError_t cudaGetSymbolAddress(void** pointer, const void* symbol) {
  if (pointer == nullptr) return answer(cudaErrorInvalidValue);
  FoundVariable found;
  if (const int error = find_symbol(symbol, current_device(), &found)) return answer(error);
  *pointer = found.base;
  return cudaSuccess;
}
cudaError_t cudaGetSymbolSize(size_t* bytes, const void* symbol) {
  if (bytes == nullptr) return answer(cudaErrorInvalidValue);
  FoundVariable found;
  if (const int error = find_symbol(symbol, current_device(), &found)) return answer(error);
  *bytes = found.bytes;
  return cudaSuccess;
}
