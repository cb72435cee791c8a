// SPDX-License-Identifier: Apache-2.0
// libcudart: cudaMemcpy and cudaMemset in all their forms. Host to host, to device and back are the same copy here;
// what differs is what is checked and when the call returns. Synchronous copies return when the bytes are there;
// cudaMemset does not wait for a busy stream, as in CUDA.
#include <cstring>
#include <memory>
#include <vector>

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

// The planes of a box, each a set of rows.
Rows plane_rows(const cudaPitchedPtr& memory, const cudaPos& start, const cudaExtent& extent, size_t plane) {
  char* base = static_cast<char*>(memory.ptr) + ((start.z + plane) * memory.ysize + start.y) * memory.pitch + start.x;
  return Rows{base, memory.pitch, extent.width, extent.height};
}

// Calls `body(destination, source)` for every plane until one fails.
template <typename Body>
cudaError_t each_plane(const cudaMemcpy3DParms* box, const Body& body) {
  if (box == nullptr) return answer(cudaErrorInvalidValue);
  if (box->srcArray != nullptr || box->dstArray != nullptr) return not_supported();
  const cudaExtent& extent = box->extent;
  const bool higher = extent.depth > 1 && (box->dstPtr.ysize < extent.height || box->srcPtr.ysize < extent.height);
  if (higher) return answer(cudaErrorInvalidValue);  // planes would lie in each other
  for (size_t plane = 0; plane < extent.depth; ++plane) {
    const cudaError_t error =
        body(plane_rows(box->dstPtr, box->dstPos, extent, plane), plane_rows(box->srcPtr, box->srcPos, extent, plane));
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}

// The source is read now, the destination written when the stream comes to it.
cudaError_t copy_staged(void* destination, const void* source, size_t bytes, cudaStream_t handle) {
  return on_stream(handle, [&](Stream* stream) -> int {
    const int error = check_copy(line(destination, bytes), line(source, bytes), cudaMemcpyDefault);
    if (error != cudaSuccess || bytes == 0) return error;
    const auto* from = static_cast<const char*>(source);
    const auto staged = std::make_shared<std::vector<char>>(from, from + bytes);
    return enqueue_host_work(stream, [destination, staged]() -> int {
      std::memcpy(destination, staged->data(), staged->size());
      return cudaSuccess;
    });
  });
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
// for all of them but "during the call". An attribute holds from its first copy to the next attribute's.
cudaError_t cudaMemcpyBatchAsync(const void** destinations, const void** sources, const size_t* sizes, size_t count,
                                 cudaMemcpyAttributes* attributes, size_t* first_of_attribute, size_t attribute_count,
                                 cudaStream_t stream) {
  if (count == 0 || !destinations || !sources || !sizes) return answer(cudaErrorInvalidValue);
  if (attribute_count > 0 && (!attributes || !first_of_attribute)) return answer(cudaErrorInvalidValue);
  bool at_once = false;
  for (size_t i = 0, next = 0; i < count; ++i) {
    for (; next < attribute_count && first_of_attribute[next] <= i; ++next) {
      at_once = attributes[next].srcAccessOrder == cudaMemcpySrcAccessOrderDuringApiCall;
    }
    void* destination = const_cast<void*>(destinations[i]);
    const cudaError_t error = at_once ? copy_staged(destination, sources[i], sizes[i], stream)
                                      : cudaMemcpyAsync(destination, sources[i], sizes[i], cudaMemcpyDefault, stream);
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
cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms* box) {
  return each_plane(box, [&](const Rows& to, const Rows& from) { return copy(to, from, box->kind); });
}
cudaError_t cudaMemcpy3DAsync(const cudaMemcpy3DParms* box, cudaStream_t stream) {
  return each_plane(box, [&](const Rows& to, const Rows& from) { return copy_async(to, from, box->kind, stream); });
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
cudaError_t cudaMemset3DAsync(cudaPitchedPtr memory, int value, cudaExtent extent, cudaStream_t stream) {
  if (extent.depth > 1 && memory.ysize < extent.height) return answer(cudaErrorInvalidValue);
  for (size_t plane = 0; plane < extent.depth; ++plane) {
    const cudaError_t error = fill_rows(plane_rows(memory, cudaPos{}, extent, plane), value, stream);
    if (error != cudaSuccess) return error;
  }
  return cudaSuccess;
}
cudaError_t cudaMemset3D(cudaPitchedPtr memory, int value, cudaExtent extent) {
  return cudaMemset3DAsync(memory, value, extent, cudaStreamLegacy);
}
