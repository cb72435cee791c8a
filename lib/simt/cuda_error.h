// SPDX-License-Identifier: Apache-2.0
// The cudaError_t values that the engine returns (contract: CUDA 13). The face gives them their CUDA names.
#pragma once

namespace anygin::simt {

enum CudaError : int {
  kCudaSuccess = 0,
  kCudaInvalidValue = 1,
  kCudaMemoryAllocation = 2,
  kCudaInvalidConfiguration = 9,
  kCudaInvalidDevice = 101,
  kCudaDeviceUninitialized = 201,
  kCudaMapBufferObjectFailed = 205,
  kCudaInvalidResourceHandle = 400,
  kCudaIllegalState = 401,
  kCudaNotReady = 600,
  kCudaLaunchOutOfResources = 701,
  kCudaHostMemoryAlreadyRegistered = 712,
  kCudaHostMemoryNotRegistered = 713,
  kCudaLaunchFailure = 719,
  kCudaCooperativeLaunchTooLarge = 720,
  kCudaNotSupported = 801,
  kCudaStreamCaptureUnsupported = 900,
  kCudaStreamCaptureInvalidated = 901,
  kCudaStreamCaptureMerge = 902,
  kCudaStreamCaptureUnmatched = 903,
  kCudaStreamCaptureUnjoined = 904,
  kCudaStreamCaptureIsolation = 905,
  kCudaStreamCaptureImplicit = 906,
  kCudaCapturedEvent = 907,
  kCudaStreamCaptureWrongThread = 908,
};

}  // namespace anygin::simt
