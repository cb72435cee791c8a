// SPDX-License-Identifier: Apache-2.0
// What every entry point of libcudart does around its work. A failure becomes the calling thread's last error, except
// cudaErrorNotReady, which is an answer. A lost device (poison_device) answers its error to every later call.
#pragma once

#include "anygin/simt/capture.h"
#include "anygin/simt/device.h"
#include "cuda_runtime_api.h"

namespace anygin::simt::face {

inline cudaError_t answer(int error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) set_last_error(error);
  return static_cast<cudaError_t>(error);
}

// Runs `body` (returns an error code) unless the current device is lost.
template <typename Body>
cudaError_t on_device(const Body& body) {
  const int lost = device_error(current_device());
  return answer(lost != cudaSuccess ? lost : body());
}

// Runs `body(Stream*)` unless the handle is no stream, the stream's device is lost, or it is the legacy
// stream and would wait for one that captures.
template <typename Body>
cudaError_t on_stream(cudaStream_t handle, const Body& body) {
  Stream* stream = resolve_stream(handle);
  if (stream == nullptr) return answer(cudaErrorInvalidResourceHandle);
  const int lost = device_error(stream_device(stream));
  if (lost != cudaSuccess) return answer(lost);
  const int refused = refuse_legacy_while_capturing(stream);
  return answer(refused != cudaSuccess ? refused : body(stream));
}

inline bool is_device(int device) {
  return device >= 0 && device < device_count();
}

inline cudaError_t not_supported() {
  return answer(cudaErrorNotSupported);
}

}  // namespace anygin::simt::face
