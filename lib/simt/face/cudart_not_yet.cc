// SPDX-License-Identifier: Apache-2.0
// libcudart: what cannot be on a CPU answers cudaErrorNotSupported: libraries of device code are loaded from images
// that hold machine code of a GPU. Events are a process's own.
#include "entry.h"

using namespace anygin::simt::face;

cudaError_t cudaLibraryLoadData(cudaLibrary_t*, const void*, cudaJitOption*, void**, unsigned, cudaLibraryOption*,
                                void**, unsigned) {
  return not_supported();
}
cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t*, const char*, cudaJitOption*, void**, unsigned, cudaLibraryOption*,
                                    void**, unsigned) {
  return not_supported();
}
cudaError_t cudaLibraryUnload(cudaLibrary_t) {
  return not_supported();
}
cudaError_t cudaLibraryGetKernel(cudaKernel_t*, cudaLibrary_t, const char*) {
  return not_supported();
}
cudaError_t cudaLibraryGetGlobal(void**, size_t*, cudaLibrary_t, const char*) {
  return not_supported();
}
cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t*, cudaEvent_t) {
  return not_supported();
}
cudaError_t cudaIpcOpenEventHandle(cudaEvent_t*, cudaIpcEventHandle_t) {
  return not_supported();
}
