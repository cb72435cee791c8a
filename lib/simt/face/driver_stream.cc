// SPDX-License-Identifier: Apache-2.0
// libcuda: streams, events, copies and fills. The same objects as the runtime API's; no error is kept.
#include <algorithm>

#include "anygin/simt/capture.h"
#include "anygin/simt/device.h"
#include "cuda.h"
#include "memory_place.h"
#include "transfer.h"

using namespace anygin::simt;
using namespace anygin::simt::face;

namespace {

CUresult result(int error) {
  return static_cast<CUresult>(error);
}

// Calls `body(Stream*)` unless the handle is no stream or its device is lost.
template <typename Body>
CUresult on_stream(CUstream handle, const Body& body) {
  Stream* stream = resolve_stream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  const int lost = device_error(stream_device(stream));
  return result(lost != 0 ? lost : body(stream));
}

// The same for an event.
template <typename Body>
CUresult on_event(CUevent handle, const Body& body) {
  Event* event = resolve_event(handle);
  return event != nullptr ? result(body(event)) : CUDA_ERROR_INVALID_HANDLE;
}

const void* pointer(CUdeviceptr address) {
  return reinterpret_cast<const void*>(address);
}

CUresult copy(const void* to, const void* from, size_t bytes, cudaMemcpyKind kind) {
  return on_stream(CU_STREAM_LEGACY, [&](Stream* stream) {
    const int error = check_copy(line(to, bytes), line(from, bytes), kind);
    return error != 0 ? error : copy_now(stream, line(to, bytes), line(from, bytes));
  });
}
CUresult copy_async(const void* to, const void* from, size_t bytes, cudaMemcpyKind kind, CUstream handle) {
  return on_stream(handle, [&](Stream* stream) {
    const int error = check_copy(line(to, bytes), line(from, bytes), kind);
    return error != 0 ? error : enqueue_copy(stream, line(to, bytes), line(from, bytes));
  });
}

// Words of 32 bits, as many as fit a piece at a time.
int fill_words(Stream* stream, CUdeviceptr address, unsigned value, size_t count) {
  constexpr size_t kPiece = size_t{1} << 18;
  if (address % 4 != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const int error = check_fill(line(pointer(address), 4 * count))) return error;
  auto* words = reinterpret_cast<unsigned*>(address);
  for (size_t at = 0; at < count; at += kPiece) {
    const size_t piece = std::min(kPiece, count - at);
    const int error = enqueue_host_work(stream, [words, at, piece, value]() -> int {
      std::fill_n(words + at, piece, value);
      return 0;
    });
    if (error != 0) return error;
  }
  return 0;
}

}  // namespace

// --- Streams ---------------------------------------------------------------------------------------------------------
CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  if (stream == nullptr || flags > CU_STREAM_NON_BLOCKING) return CUDA_ERROR_INVALID_VALUE;
  if (const int lost = device_error(current_device())) return result(lost);
  *stream = reinterpret_cast<CUstream>(create_stream(current_device(), flags == CU_STREAM_NON_BLOCKING));
  return CUDA_SUCCESS;
}
CUresult cuStreamDestroy(CUstream handle) {
  const bool special = handle == nullptr || handle == CU_STREAM_LEGACY || handle == CU_STREAM_PER_THREAD;
  Stream* stream = special ? nullptr : resolve_stream(handle);
  return stream != nullptr ? result(destroy_stream(stream)) : CUDA_ERROR_INVALID_HANDLE;
}
CUresult cuStreamSynchronize(CUstream handle) {
  return on_stream(handle, [](Stream* stream) {
    const int refused = refuse_while_capturing(stream);
    return refused != 0 ? refused : synchronize_stream(stream);
  });
}
CUresult cuStreamQuery(CUstream handle) {
  return on_stream(handle, [](Stream* stream) {
    const int refused = refuse_while_capturing(stream);
    return refused != 0 ? refused : query_stream(stream);
  });
}
CUresult cuStreamWaitEvent(CUstream handle, CUevent event, unsigned) {
  return on_stream(handle, [&](Stream* stream) -> int {
    Event* found = resolve_event(event);
    return found != nullptr ? stream_wait_event(stream, found) : CUDA_ERROR_INVALID_HANDLE;
  });
}

// --- Events ----------------------------------------------------------------------------------------------------------
CUresult cuEventCreate(CUevent* event, unsigned flags) {
  constexpr unsigned kKnown = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
  if (event == nullptr || (flags & ~kKnown) != 0) return CUDA_ERROR_INVALID_VALUE;
  *event = reinterpret_cast<CUevent>(create_event((flags & CU_EVENT_DISABLE_TIMING) == 0));
  return CUDA_SUCCESS;
}
CUresult cuEventDestroy(CUevent handle) {
  return on_event(handle, [](Event* event) {
    destroy_event(event);
    return 0;
  });
}
CUresult cuEventRecord(CUevent handle, CUstream stream_handle) {
  return on_event(handle, [&](Event* event) {
    return on_stream(stream_handle, [&](Stream* stream) { return record_event(event, stream); });
  });
}
CUresult cuEventQuery(CUevent handle) {
  return on_event(handle, [](Event* event) { return query_event(event); });
}
CUresult cuEventSynchronize(CUevent handle) {
  return on_event(handle, [](Event* event) { return synchronize_event(event); });
}
CUresult cuEventElapsedTime(float* milliseconds, CUevent start, CUevent end) {
  Event* from = resolve_event(start);
  Event* to = resolve_event(end);
  if (milliseconds == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (from == nullptr || to == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  uint64_t elapsed_ns = 0;
  const int error = event_elapsed_ns(from, to, &elapsed_ns);
  if (error == 0) *milliseconds = static_cast<float>(static_cast<int64_t>(elapsed_ns)) / 1e6f;
  return result(error);
}

// --- Copies and fills ------------------------------------------------------------------------------------------------
CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDefault);
}
CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy_async(pointer(to), pointer(from), bytes, cudaMemcpyDefault, stream);
}
CUresult cuMemcpyHtoD(CUdeviceptr to, const void* from, size_t bytes) {
  return copy(pointer(to), from, bytes, cudaMemcpyHostToDevice);
}
CUresult cuMemcpyHtoDAsync(CUdeviceptr to, const void* from, size_t bytes, CUstream stream) {
  return copy_async(pointer(to), from, bytes, cudaMemcpyHostToDevice, stream);
}
CUresult cuMemcpyDtoH(void* to, CUdeviceptr from, size_t bytes) {
  return copy(to, pointer(from), bytes, cudaMemcpyDeviceToHost);
}
CUresult cuMemcpyDtoHAsync(void* to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy_async(to, pointer(from), bytes, cudaMemcpyDeviceToHost, stream);
}
CUresult cuMemcpyDtoD(CUdeviceptr to, CUdeviceptr from, size_t bytes) {
  return copy(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice);
}
CUresult cuMemcpyDtoDAsync(CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream stream) {
  return copy_async(pointer(to), pointer(from), bytes, cudaMemcpyDeviceToDevice, stream);
}
CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t count, CUstream handle) {
  return on_stream(handle, [&](Stream* stream) {
    const int error = check_fill(line(pointer(to), count));
    return error != 0 ? error : fill(stream, line(pointer(to), count), value);
  });
}
CUresult cuMemsetD8(CUdeviceptr to, unsigned char value, size_t count) {
  return cuMemsetD8Async(to, value, count, CU_STREAM_LEGACY);
}
CUresult cuMemsetD32Async(CUdeviceptr to, unsigned value, size_t count, CUstream handle) {
  return on_stream(handle, [&](Stream* stream) { return fill_words(stream, to, value, count); });
}
CUresult cuMemsetD32(CUdeviceptr to, unsigned value, size_t count) {
  return cuMemsetD32Async(to, value, count, CU_STREAM_LEGACY);
}
