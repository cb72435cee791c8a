// SPDX-License-Identifier: Apache-2.0
// libcudart: device memory of other processes of this host.
#include <cstring>

#include "anygin/simt/virtual_memory.h"
#include "entry.h"

using namespace anygin::simt;
using namespace anygin::simt::face;

static_assert(sizeof(IpcHandle) == sizeof(cudaIpcMemHandle_t));

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t* handle, void* pointer) {
  return on_device([&]() -> int {
    IpcHandle made;
    if (handle == nullptr) return cudaErrorInvalidValue;
    const int error = make_ipc_handle(pointer, &made);
    if (error == cudaSuccess) std::memcpy(handle, &made, sizeof made);
    return error;
  });
}
cudaError_t cudaIpcOpenMemHandle(void** pointer, cudaIpcMemHandle_t handle, unsigned flags) {
  return on_device([&]() -> int {
    IpcHandle given;
    char* base = nullptr;
    if (pointer == nullptr || flags != cudaIpcMemLazyEnablePeerAccess) return cudaErrorInvalidValue;
    std::memcpy(&given, &handle, sizeof given);
    const int error = open_ipc_handle(given, &base);
    *pointer = base;
    return error;
  });
}
// Kernels may still use it: they are waited for.
cudaError_t cudaIpcCloseMemHandle(void* pointer) {
  return on_device([&]() -> int {
    const int error = synchronize_device(current_device());
    return error != cudaSuccess ? error : close_ipc_handle(pointer);
  });
}
