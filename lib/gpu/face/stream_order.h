// SPDX-License-Identifier: Apache-2.0
// Operations on a stream of the program: on the real stream behind it, in the order that legacy and blocking streams
// keep.
#pragma once

#include "anygin/base/host_threads.h"
#include "anygin/gpu/placement.h"
#include "real_runtime.h"
#include "virtual_devices.h"

namespace anygin::gpu {

// Queues `operation(real stream)` in the order that the legacy and blocking streams keep.
template <typename Operation>
cudaError_t queue(cudaStream_t stream, const Operation& operation) {
  VirtualDevices* devices = VirtualDevices::get();
  if (!devices) return operation(stream);
  devices->before(stream);
  const cudaError_t error = operation(devices->resolve(stream));
  devices->after(stream);
  return error;
}

// Before a kernel or a fill. Queued behind work of its own stream that is under way, it would keep the GPU from
// starting what other streams have, among them what that work waits for; behind a host function it does not
// (docs/decisions/0025-ranks-as-threads-of-one-gpu-queue-no-kernel-behind-another.md).
inline void leave_room_for_others(cudaStream_t real) {
  static const bool needed = ranks_may_be_threads();
  if (!needed) return;
  cudaStreamCaptureStatus capture = cudaStreamCaptureStatusNone;
  if (ANYGIN_REAL(cudaStreamIsCapturing)(real, &capture) != cudaSuccess || capture != cudaStreamCaptureStatusNone)
    return;
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;  // other threads may capture what they will
  (void)ANYGIN_REAL(cudaThreadExchangeStreamCaptureMode)(&mode);
  if (ANYGIN_REAL(cudaStreamQuery)(real) == cudaErrorNotReady) {
    (void)ANYGIN_REAL(cudaLaunchHostFunc)(
        real, [](void*) {}, nullptr);
  }
  (void)ANYGIN_REAL(cudaThreadExchangeStreamCaptureMode)(&mode);
}

// The same for what the GPU's multiprocessors run.
template <typename Operation>
cudaError_t queue_kernel(cudaStream_t stream, const Operation& operation) {
  return queue(stream, [&](cudaStream_t real) {
    leave_room_for_others(real);
    return operation(real);
  });
}

// As queue(), on the legacy stream, and waits for it.
template <typename Operation>
cudaError_t queue_and_wait(const Operation& operation) {
  const cudaError_t error = queue(nullptr, operation);
  if (error != cudaSuccess) return error;
  const BlockingCall blocking;
  return ANYGIN_REAL(cudaStreamSynchronize)(VirtualDevices::get()->resolve(nullptr));
}

}  // namespace anygin::gpu
