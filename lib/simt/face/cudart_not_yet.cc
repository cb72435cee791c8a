// SPDX-License-Identifier: Apache-2.0
// libcudart: what answers cudaErrorNotSupported, listed in docs/cuda-on-cpu.md: graphs and capture, memory shared by
// IPC handles, registration of host memory, libraries of device code.
#include "entry.h"

using namespace anygin::simt;
using namespace anygin::simt::face;

// No stream ever captures, which is an answer.
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status) {
  return on_stream(stream, [&](Stream*) -> int {
    if (status == nullptr) return cudaErrorInvalidValue;
    *status = cudaStreamCaptureStatusNone;
    return cudaSuccess;
  });
}
cudaError_t cudaStreamBeginCapture(cudaStream_t, cudaStreamCaptureMode) {
  return not_supported();
}
cudaError_t cudaStreamEndCapture(cudaStream_t, cudaGraph_t*) {
  return not_supported();
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) {
  return not_supported();
}
cudaError_t cudaGraphCreate(cudaGraph_t*, unsigned) {
  return not_supported();
}
cudaError_t cudaGraphDestroy(cudaGraph_t) {
  return not_supported();
}
cudaError_t cudaGraphInstantiate(cudaGraphExec_t*, cudaGraph_t, unsigned long long) {
  return not_supported();
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t, cudaStream_t) {
  return not_supported();
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t) {
  return not_supported();
}
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
