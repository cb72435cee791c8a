// SPDX-License-Identifier: Apache-2.0
// Streams and what is queued on them: the legacy stream is one a device, as the program counts devices; waits are known
// to the hang watchdog. Operations that are not here go to the real runtime, with its one legacy stream.
#include "anygin/base/host_threads.h"
#include "stream_order.h"

using anygin::BlockingCall;
using anygin::gpu::leave_room_for_others;
using anygin::gpu::queue;
using anygin::gpu::queue_and_wait;
using anygin::gpu::queue_kernel;
using anygin::gpu::VirtualDevices;

namespace {

cudaError_t made(cudaError_t error, cudaStream_t* stream, unsigned flags) {
  VirtualDevices* devices = VirtualDevices::get();
  if (error == cudaSuccess && devices) devices->add_stream(*stream, (flags & cudaStreamNonBlocking) == 0);
  return error;
}

}  // namespace

extern "C" {

// --- Streams and events ----------------------------------------------------------------------------------------------
// Blocking streams are made as non-blocking ones: the real legacy stream, which others use too, is no concern of
// theirs.
cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  const unsigned real_flags = VirtualDevices::get() ? flags | cudaStreamNonBlocking : flags;
  return made(ANYGIN_REAL(cudaStreamCreateWithPriority)(stream, real_flags, priority), stream, flags);
}
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  const unsigned real_flags = VirtualDevices::get() ? flags | cudaStreamNonBlocking : flags;
  return made(ANYGIN_REAL(cudaStreamCreateWithFlags)(stream, real_flags), stream, flags);
}
cudaError_t cudaStreamCreate(cudaStream_t* stream) {
  return cudaStreamCreateWithFlags(stream, cudaStreamDefault);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  if (VirtualDevices* devices = VirtualDevices::get()) devices->remove_stream(stream);
  return ANYGIN_REAL(cudaStreamDestroy)(stream);
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream) {
  VirtualDevices* devices = VirtualDevices::get();
  const BlockingCall blocking;
  return ANYGIN_REAL(cudaStreamSynchronize)(devices ? devices->resolve(stream) : stream);
}

cudaError_t cudaStreamQuery(cudaStream_t stream) {
  VirtualDevices* devices = VirtualDevices::get();
  return ANYGIN_REAL(cudaStreamQuery)(devices ? devices->resolve(stream) : stream);
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags) {
  return queue(stream, [&](cudaStream_t real) { return ANYGIN_REAL(cudaStreamWaitEvent)(real, event, flags); });
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream) {
  return queue(stream, [&](cudaStream_t real) { return ANYGIN_REAL(cudaEventRecord)(event, real); });
}

cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  const BlockingCall blocking;
  return ANYGIN_REAL(cudaEventSynchronize)(event);
}

// --- Kernels ---------------------------------------------------------------------------------------------------------
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, const void** arguments, size_t shared,
                               cudaStream_t stream) {
  using Launch = cudaError_t(cudaKernel_t, dim3, dim3, const void**, size_t, cudaStream_t);
  static Launch* const launch = reinterpret_cast<Launch*>(anygin::gpu::find_in_runtime("__cudaLaunchKernel"));
  return queue_kernel(stream, [&](cudaStream_t real) { return launch(kernel, grid, block, arguments, shared, real); });
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t stream) {
  return queue_kernel(stream, [&](cudaStream_t real) {
    return ANYGIN_REAL(cudaLaunchKernel)(function, grid, block, arguments, shared, real);
  });
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                                        cudaStream_t stream) {
  return queue_kernel(stream, [&](cudaStream_t real) {
    return ANYGIN_REAL(cudaLaunchCooperativeKernel)(function, grid, block, arguments, shared, real);
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return queue_kernel(config->stream, [&](cudaStream_t real) {
    cudaLaunchConfig_t real_config = *config;
    real_config.stream = real;
    return ANYGIN_REAL(cudaLaunchKernelExC)(&real_config, function, arguments);
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument) {
  return queue(stream, [&](cudaStream_t real) { return ANYGIN_REAL(cudaLaunchHostFunc)(real, function, argument); });
}

// --- Fills and copies of symbols -------------------------------------------------------------------------------------
cudaError_t cudaMemsetAsync(void* at, int value, size_t bytes, cudaStream_t stream) {
  return queue_kernel(stream, [&](cudaStream_t real) { return ANYGIN_REAL(cudaMemsetAsync)(at, value, bytes, real); });
}
cudaError_t cudaMemset(void* at, int value, size_t bytes) {
  if (!VirtualDevices::get()) return ANYGIN_REAL(cudaMemset)(at, value, bytes);
  return queue_and_wait([&](cudaStream_t real) {
    leave_room_for_others(real);
    return ANYGIN_REAL(cudaMemsetAsync)(at, value, bytes, real);
  });
}

cudaError_t cudaMemcpyToSymbolAsync(const void* symbol, const void* from, size_t bytes, size_t offset,
                                    cudaMemcpyKind kind, cudaStream_t stream) {
  return queue(stream, [&](cudaStream_t real) {
    return ANYGIN_REAL(cudaMemcpyToSymbolAsync)(symbol, from, bytes, offset, kind, real);
  });
}
cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  if (!VirtualDevices::get()) return ANYGIN_REAL(cudaMemcpyToSymbol)(symbol, from, bytes, offset, kind);
  return queue_and_wait(
      [&](cudaStream_t real) { return ANYGIN_REAL(cudaMemcpyToSymbolAsync)(symbol, from, bytes, offset, kind, real); });
}
cudaError_t cudaMemcpyFromSymbolAsync(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind,
                                      cudaStream_t stream) {
  return queue(stream, [&](cudaStream_t real) {
    return ANYGIN_REAL(cudaMemcpyFromSymbolAsync)(to, symbol, bytes, offset, kind, real);
  });
}
cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, size_t bytes, size_t offset, cudaMemcpyKind kind) {
  if (!VirtualDevices::get()) return ANYGIN_REAL(cudaMemcpyFromSymbol)(to, symbol, bytes, offset, kind);
  return queue_and_wait(
      [&](cudaStream_t real) { return ANYGIN_REAL(cudaMemcpyFromSymbolAsync)(to, symbol, bytes, offset, kind, real); });
}

}  // extern "C"
