// SPDX-License-Identifier: Apache-2.0
// Operations on a stream of the program: on the real stream behind it, in the order that legacy and blocking streams
// keep.
#pragma once

#include "anygin/base/host_threads.h"
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

// The same on the legacy stream, and waits for it.
template <typename Operation>
cudaError_t queue_and_wait(const Operation& operation) {
  const cudaError_t error = queue(nullptr, operation);
  if (error != cudaSuccess) return error;
  const BlockingCall blocking;
  return ANYGIN_REAL(cudaStreamSynchronize)(VirtualDevices::get()->resolve(nullptr));
}

}  // namespace anygin::gpu
