// SPDX-License-Identifier: Apache-2.0
// libcudart: what answers cudaErrorNotSupported, listed in docs/cuda-on-cpu.md: memory shared by IPC handles,
// registration of host memory, libraries of device code.
#include "entry.h"

using namespace anygin::simt;
using namespace anygin::simt::face;

cudaError_t cudaIpcGetMemHandle(cudaIpcMemHandle_t*, void*) {
  return not_supported();
}
cudaError_t cudaIpcOpenMemHandle(void**, cudaIpcMemHandle_t, unsigned) {
  return not_supported();
}
cudaError_t cudaIpcCloseMemHandle(void*) {
  return not_supported();
}
cudaError_t cudaHostRegister(void*, size_t, unsigned) {
  return not_supported();
}
cudaError_t cudaHostUnregister(void*) {
  return not_supported();
}
cudaError_t cudaLibraryUnload(cudaLibrary_t) {
  return not_supported();
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t*, cudaLibrary_t, const char*) {
  return not_supported();
}
