// SPDX-License-Identifier: Apache-2.0
// libcudart: cudaMemcpy and cudaMemset in all their forms. Host to host, to device and back are the same copy here;
// what differs is what is checked and when the call returns. Synchronous copies return when the bytes are there;
// cudaMemset does not wait for a busy stream, as in CUDA.
#include "entry.h"
#include "transfer.h"

using namespace anygin::simt;
using namespace anygin::simt::face;

namespace {

cudaError_t copy(const Rows& destination, const Rows& source, cudaMemcpyKind kind) {
  return on_stream(cudaStreamLegacy, [&](Stream* stream) {
    const int error = check_copy(destination, source, kind);
    return error != cudaSuccess ? error : copy_now(stream, destination, source);
  });
}

cudaError_t copy_async(const Rows& destination, const Rows& source, cudaMemcpyKind kind, cudaStream_t handle) {
  return on_stream(handle, [&](Stream* stream) {
    const int error = check_copy(destination, source, kind);
    return error != cudaSuccess ? error : enqueue_copy(stream, destination, source);
  });
}

cudaError_t fill_rows(const Rows& destination, int value, cudaStream_t handle) {
  return on_stream(handle, [&](Stream* stream) {
    const int error = check_fill(destination);
    return error != cudaSuccess ? error : fill(stream, destination, value);
  });
}

Rows rows(const void* base, size_t pitch, size_t width, size_t height) {
  return Rows{static_cast<char*>(const_cast<void*>(base)), pitch, width, height};
}

// A box of linear memory is one set of rows if its planes follow each other without a gap, or if there is one plane.
bool as_rows(const cudaPitchedPtr& memory, const cudaPos& start, const cudaExtent& extent, Rows* result) {
  if (extent.depth != 1 && (memory.ysize != extent.height || start.y != 0)) return false;
  char* base = static_cast<char*>(memory.ptr) + (start.z * memory.ysize + start.y) * memory.pitch + start.x;
  *result = Rows{base, memory.pitch, extent.width, extent.height * extent.depth};
  return true;
}

}  // namespace

// --- Linear ----------------------------------------------------------------------------------------------------------
cudaError_t cudaMemcpy(void* destination, const void* source, size_t bytes, cudaMemcpyKind kind) {
  return copy(line(destination, bytes), line(source, bytes), kind);
}
cudaError_t cudaMemcpyAsync(void* destination, const void* source, size_t bytes, cudaMemcpyKind kind,
                            cudaStream_t stream) {
  return copy_async(line(destination, bytes), line(source, bytes), kind, stream);
}
cudaError_t cudaMemcpyPeer(void* destination, int destination_device, const void* source, int source_device,
                           size_t bytes) {
  if (!is_device(destination_device) || !is_device(source_device)) return answer(cudaErrorInvalidDevice);
  return cudaMemcpy(destination, source, bytes, cudaMemcpyDeviceToDevice);
}
cudaError_t cudaMemcpyPeerAsync(void* destination, int destination_device, const void* source, int source_device,
                                size_t bytes, cudaStream_t stream) {
  if (!is_device(destination_device) || !is_device(source_device)) return answer(cudaErrorInvalidDevice);
  return cudaMemcpyAsync(destination, source, bytes, cudaMemcpyDeviceToDevice, stream);
}
// Attributes are hints about where the source is read from and when it may change; reading in stream order is right
// for all of them but "during the call", which is done at once.
cudaError_t cudaMemcpyBatchAsync(const void** destinations, const void** sources, const size_t* sizes, size_t count,
                                 cudaMemcpyAttributes* attributes, size_t* first_of_attribute, size_t attribute_count,
                                 cudaStream_t stream) {
  if (count == 0 || !destinations || !sources || !sizes) return answer(cudaErrorInvalidValue);
  if (attribute_count > 0 && (!attributes || !first_of_attribute)) return answer(cudaErrorInvalidValue);
  for (size_t i = 0; i < attribute_count; ++i) {
    if (attributes[i].srcAccessOrder == cudaMemcpySrcAccessOrderDuringApiCall) return not_supported();
  }
  for (size_t i = 0; i < count; ++i) {
    void* destination = const_cast<void*>(destinations[i]);
    const cudaError_t error = cudaMemcpyAsync(destination, sources[i], sizes[i], cudaMemcpyDefault, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

// --- Rows and boxes --------------------------------------------------------------------------------------------------
cudaError_t cudaMemcpy2D(void* destination, size_t destination_pitch, const void* source, size_t source_pitch,
                         size_t width, size_t height, cudaMemcpyKind kind) {
  return copy(rows(destination, destination_pitch, width, height), rows(source, source_pitch, width, height), kind);
}
cudaError_t cudaMemcpy2DAsync(void* destination, size_t destination_pitch, const void* source, size_t source_pitch,
                              size_t width, size_t height, cudaMemcpyKind kind, cudaStream_t stream) {
  return copy_async(rows(destination, destination_pitch, width, height), rows(source, source_pitch, width, height),
                    kind, stream);
}
static cudaError_t box_rows(const cudaMemcpy3DParms* box, Rows* destination, Rows* source) {
  if (box == nullptr) return answer(cudaErrorInvalidValue);
  if (box->srcArray != nullptr || box->dstArray != nullptr) return not_supported();
  const bool simple = as_rows(box->dstPtr, box->dstPos, box->extent, destination) &&
                      as_rows(box->srcPtr, box->srcPos, box->extent, source);
  return simple ? cudaSuccess : not_supported();
}
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* box) {
  Rows destination, source;
  const cudaError_t error = box_rows(box, &destination, &source);
  return error != cudaSuccess ? error : copy(destination, source, box->kind);
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* box, cudaStream_t stream) {
  Rows destination, source;
  const cudaError_t error = box_rows(box, &destination, &source);
  return error != cudaSuccess ? error : copy_async(destination, source, box->kind, stream);
}

// --- Fills -----------------------------------------------------------------------------------------------------------
cudaError_t cudaMemset(void* destination, int value, size_t bytes) {
  return fill_rows(line(destination, bytes), value, cudaStreamLegacy);
}
cudaError_t cudaMemsetAsync(void* destination, int value, size_t bytes, cudaStream_t stream) {
  return fill_rows(line(destination, bytes), value, stream);
}
cudaError_t cudaMemset2D(void* destination, size_t pitch, int value, size_t width, size_t height) {
  return fill_rows(rows(destination, pitch, width, height), value, cudaStreamLegacy);
}
cudaError_t cudaMemset2DAsync(void* destination, size_t pitch, int value, size_t width, size_t height,
                              cudaStream_t stream) {
  return fill_rows(rows(destination, pitch, width, height), value, stream);
}
