// SPDX-License-Identifier: Apache-2.0
// Streams and what is queued on them: the legacy stream is one a device, as the program counts devices; waits are known
// to the hang watchdog. Operations that are not here go to the real runtime, with its one legacy stream.
#include "anygin/base/host_threads.h"
#include "real_runtime.h"
#include "virtual_devices.h"

using anygin::BlockingCall;
using anygin::gpu::VirtualDevices;

namespace {

cudaError_t made(cudaError_t error, cudaStream_t* stream, unsigned flags) {
  VirtualDevices* devices = VirtualDevices::get();
  if (error == cudaSuccess && devices) devices->add_stream(*stream, (flags & cudaStreamNonBlocking) == 0);
  return error;
}

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
  return queue(stream, [&](cudaStream_t real) { return launch(kernel, grid, block, arguments, shared, real); });
}

cudaError_t cudaLaunchKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                             cudaStream_t stream) {
  return queue(stream, [&](cudaStream_t real) {
    return ANYGIN_REAL(cudaLaunchKernel)(function, grid, block, arguments, shared, real);
  });
}

cudaError_t cudaLaunchCooperativeKernel(const void* function, dim3 grid, dim3 block, void** arguments, size_t shared,
                                        cudaStream_t stream) {
  return queue(stream, [&](cudaStream_t real) {
    return ANYGIN_REAL(cudaLaunchCooperativeKernel)(function, grid, block, arguments, shared, real);
  });
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* config, const void* function, void** arguments) {
  return queue(config->stream, [&](cudaStream_t real) {
    cudaLaunchConfig_t real_config = *config;
    real_config.stream = real;
    return ANYGIN_REAL(cudaLaunchKernelExC)(&real_config, function, arguments);
  });
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void* argument) {
  return queue(stream, [&](cudaStream_t real) { return ANYGIN_REAL(cudaLaunchHostFunc)(real, function, argument); });
}

// --- Copies and fills ------------------------------------------------------------------------------------------------
// The addresses say where memory is: windows are host memory here, and programs call them device memory.
cudaError_t cudaMemcpyAsync(void* to, const void* from, size_t bytes, cudaMemcpyKind, cudaStream_t stream) {
  return queue(stream, [&](cudaStream_t real) {
    return ANYGIN_REAL(cudaMemcpyAsync)(to, from, bytes, cudaMemcpyDefault, real);
  });
}
cudaError_t cudaMemcpy(void* to, const void* from, size_t bytes, cudaMemcpyKind) {
  if (!VirtualDevices::get()) return ANYGIN_REAL(cudaMemcpy)(to, from, bytes, cudaMemcpyDefault);
  return queue_and_wait(
      [&](cudaStream_t real) { return ANYGIN_REAL(cudaMemcpyAsync)(to, from, bytes, cudaMemcpyDefault, real); });
}
// Peers are devices of one GPU, or of several with unified addresses.
cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, size_t bytes, cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
}
cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}

cudaError_t cudaMemsetAsync(void* at, int value, size_t bytes, cudaStream_t stream) {
  return queue(stream, [&](cudaStream_t real) { return ANYGIN_REAL(cudaMemsetAsync)(at, value, bytes, real); });
}
cudaError_t cudaMemset(void* at, int value, size_t bytes) {
  if (!VirtualDevices::get()) return ANYGIN_REAL(cudaMemset)(at, value, bytes);
  return queue_and_wait([&](cudaStream_t real) { return ANYGIN_REAL(cudaMemsetAsync)(at, value, bytes, real); });
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
