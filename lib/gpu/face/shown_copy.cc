// SPDX-License-Identifier: Apache-2.0
// Copies. Windows are host memory here, so that the program's word for the direction does not count, and a copy between
// two places of host memory is the host's: the real runtime does it in the calling thread, after all that the stream
// has, and other threads' copies may have to wait for it, before kernels that this stream waits for.
#include <cstdlib>
#include <cstring>

#include "anygin/gpu/window_memory.h"
#include "stream_order.h"

using anygin::gpu::is_window_memory;
using anygin::gpu::queue;
using anygin::gpu::VirtualDevices;

namespace {

// Where an address lies, as far as copies care.
enum class Place { kWindow, kPageable, kElsewhere };

Place place_of(const void* address) {
  if (is_window_memory(address)) return Place::kWindow;
  cudaPointerAttributes attributes{};
  const cudaError_t error = ANYGIN_REAL(cudaPointerGetAttributes)(&attributes, address);
  if (error != cudaSuccess) (void)ANYGIN_REAL(cudaGetLastError)();
  return error == cudaSuccess && attributes.type == cudaMemoryTypeUnregistered ? Place::kPageable : Place::kElsewhere;
}

struct HostCopy {
  void* to = nullptr;
  const void* from = nullptr;
  size_t bytes = 0;
  void* staged = nullptr;  // owned: the source's bytes as they were at the call
};

void run_host_copy(void* argument) {
  auto* copy = static_cast<HostCopy*>(argument);
  std::memcpy(copy->to, copy->staged ? copy->staged : copy->from, copy->bytes);
  std::free(copy->staged);
  delete copy;
}

// In the stream's order. Of pageable memory the bytes of now are meant.
cudaError_t copy_on_host(void* to, const void* from, size_t bytes, bool stage, cudaStream_t real) {
  auto* copy = new HostCopy{to, from, bytes, nullptr};
  if (stage) {
    copy->staged = std::malloc(bytes);
    std::memcpy(copy->staged, from, bytes);
  }
  const cudaError_t error = ANYGIN_REAL(cudaLaunchHostFunc)(real, run_host_copy, copy);
  if (error != cudaSuccess) {
    std::free(copy->staged);
    delete copy;
  }
  return error;
}

cudaError_t wait_for(cudaStream_t stream) {
  const anygin::BlockingCall blocking;
  VirtualDevices* devices = VirtualDevices::get();
  return ANYGIN_REAL(cudaStreamSynchronize)(devices ? devices->resolve(stream) : stream);
}

cudaError_t copy_async(void* to, const void* from, size_t bytes, cudaStream_t stream) {
  const Place target = place_of(to), source = place_of(from);
  const bool of_host = target != Place::kElsewhere && source != Place::kElsewhere;
  if (!of_host && target == Place::kPageable) {
    // The call would wait for the stream in any case, and keep other threads from copying meanwhile.
    const cudaError_t error = queue(stream, [](cudaStream_t) { return cudaSuccess; });
    if (error != cudaSuccess) return error;
    if (const cudaError_t waited = wait_for(stream); waited != cudaSuccess) return waited;
  }
  if (!of_host || bytes == 0) {
    return queue(stream, [&](cudaStream_t real) {
      return ANYGIN_REAL(cudaMemcpyAsync)(to, from, bytes, cudaMemcpyDefault, real);
    });
  }
  const cudaError_t error =
      queue(stream, [&](cudaStream_t real) { return copy_on_host(to, from, bytes, source == Place::kPageable, real); });
  // Into pageable memory a copy is done when the call returns.
  if (error != cudaSuccess || target != Place::kPageable) return error;
  return wait_for(stream);
}

}  // namespace

extern "C" {

cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  return copy_async(to, from, bytes, stream);
}

cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  const cudaError_t error = copy_async(to, from, bytes, nullptr);
  return error == cudaSuccess ? wait_for(nullptr) : error;
}

// Peers are devices of one GPU, or of several with unified addresses.
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t stream) {
  return copy_async(to, from, bytes, stream);
}

cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}

}  // extern "C"
