// SPDX-License-Identifier: Apache-2.0
// libcudart: streams, host functions, events.
#include "entry.h"

using namespace anygin::simt;
using namespace anygin::simt::face;

namespace {

cudaStream_t handle_of(Stream* stream) {
  return reinterpret_cast<cudaStream_t>(stream);
}
cudaEvent_t handle_of(Event* event) {
  return reinterpret_cast<cudaEvent_t>(event);
}
// Null for a handle that is not a live event.
Event* event_of(cudaEvent_t handle) {
  return resolve_event(handle);
}

// Device-wide streams cannot be destroyed.
bool is_special(cudaStream_t handle) {
  return handle == nullptr || handle == cudaStreamLegacy || handle == cudaStreamPerThread;
}

}  // namespace

// --- Streams ---------------------------------------------------------------------------------------------------------
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return on_device([&]() -> int {
    if (stream == nullptr || (flags & ~unsigned{cudaStreamNonBlocking}) != 0) return cudaErrorInvalidValue;
    *stream = handle_of(create_stream(current_device(), (flags & cudaStreamNonBlocking) != 0));
    return cudaSuccess;
  });
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}
// All streams have the one priority there is.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int) {
  return cudaStreamCreateWithFlags(stream, flags);
}
cudaError_t cudaStreamDestroy(cudaStream_t handle) {
  Stream* stream = is_special(handle) ? nullptr : resolve_stream(handle);
  if (stream != nullptr && refuse_while_capturing(stream) != cudaSuccess) stream->set_capture(nullptr);
  return answer(stream != nullptr ? destroy_stream(stream) : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  return on_stream(handle, [](Stream* stream) {
    const int refused = refuse_while_capturing(stream);
    return refused != cudaSuccess ? refused : synchronize_stream(stream);
  });
}
cudaError_t cudaStreamQuery(cudaStream_t handle) {
  return on_stream(handle, [](Stream* stream) {
    const int refused = refuse_while_capturing(stream);
    return refused != cudaSuccess ? refused : query_stream(stream);
  });
}
cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  return on_stream(handle, [&](Stream* stream) -> int {
    if (device == nullptr) return cudaErrorInvalidValue;
    *device = stream_device(stream);
    return cudaSuccess;
  });
}
cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event_handle, unsigned flags) {
  return on_stream(handle, [&](Stream* stream) -> int {
    if (flags != cudaEventWaitDefault && flags != cudaEventWaitExternal) return cudaErrorInvalidValue;
    Event* event = event_of(event_handle);
    return event != nullptr ? stream_wait_event(stream, event) : cudaErrorInvalidResourceHandle;
  });
}
cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* argument) {
  return on_stream(handle, [&](Stream* stream) -> int {
    if (function == nullptr) return cudaErrorInvalidValue;
    return enqueue_host_work(stream, [function, argument]() -> int {
      function(argument);
      return cudaSuccess;
    });
  });
}
// The callback is not run after an error: such a stream runs nothing more.
cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback, void* argument, unsigned flags) {
  return on_stream(handle, [&](Stream* stream) -> int {
    if (callback == nullptr || flags != 0) return cudaErrorInvalidValue;
    return enqueue_host_work(stream, [handle, callback, argument]() -> int {
      callback(handle, cudaSuccess, argument);
      return cudaSuccess;
    });
  });
}

// --- Events ----------------------------------------------------------------------------------------------------------
cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  constexpr unsigned kKnown = cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;
  return on_device([&]() -> int {
    if (event == nullptr || (flags & ~kKnown) != 0) return cudaErrorInvalidValue;
    if ((flags & cudaEventInterprocess) != 0) return cudaErrorNotSupported;
    *event = handle_of(create_event((flags & cudaEventDisableTiming) == 0));
    return cudaSuccess;
  });
}
cudaError_t cudaEventCreate(cudaEvent_t* event) {
  return cudaEventCreateWithFlags(event, cudaEventDefault);
}
cudaError_t cudaEventDestroy(cudaEvent_t handle) {
  Event* event = event_of(handle);
  if (event == nullptr) return answer(cudaErrorInvalidResourceHandle);
  destroy_event(event);
  return cudaSuccess;
}
cudaError_t cudaEventRecordWithFlags(cudaEvent_t event_handle, cudaStream_t handle, unsigned flags) {
  return on_stream(handle, [&](Stream* stream) -> int {
    if (flags != cudaEventRecordDefault && flags != cudaEventRecordExternal) return cudaErrorInvalidValue;
    Event* event = event_of(event_handle);
    return event != nullptr ? record_event(event, stream) : cudaErrorInvalidResourceHandle;
  });
}
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return cudaEventRecordWithFlags(event, stream, cudaEventRecordDefault);
}
cudaError_t cudaEventQuery(cudaEvent_t handle) {
  Event* event = event_of(handle);
  return answer(event != nullptr ? query_event(event) : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventSynchronize(cudaEvent_t handle) {
  Event* event = event_of(handle);
  return answer(event != nullptr ? synchronize_event(event) : cudaErrorInvalidResourceHandle);
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start_handle, cudaEvent_t end_handle) {
  if (milliseconds == nullptr) return answer(cudaErrorInvalidValue);
  Event* start = event_of(start_handle);
  Event* end = event_of(end_handle);
  if (start == nullptr || end == nullptr) return answer(cudaErrorInvalidResourceHandle);
  uint64_t elapsed_ns = 0;
  const int error = event_elapsed_ns(start, end, &elapsed_ns);
  if (error == cudaSuccess) *milliseconds = static_cast<float>(static_cast<int64_t>(elapsed_ns)) / 1e6f;
  return answer(error);
}
