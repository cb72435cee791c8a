// SPDX-License-Identifier: Apache-2.0
// The proxy's operations behind the names of contract 7.11. A window's backend handle is its WindowId as a pointer.
#ifndef ANYGIN_NCCL_DEVICE_GIN_PROXY_H_
#define ANYGIN_NCCL_DEVICE_GIN_PROXY_H_

#include "../gin_device_common.h"
#include "anygin/base/mutant.h"
#include "anygin/proxy/proxy_device.h"

#if NCCL_CHECK_CUDACC
namespace anygin {
namespace gin {

NCCL_DEVICE_INLINE WindowId window_id_of(ncclGinWindow_t window) {
  return WindowId(static_cast<uint16_t>(reinterpret_cast<uintptr_t>(window)));
}

NCCL_DEVICE_INLINE DeviceContext device_context(ncclGinCtx const& ctx) {
  DeviceContext context;
  context.rank = ctx.rank;
  context.rank_count = ctx.nRanks;
  context.handle = ctx.handle;
  context.context = static_cast<uint32_t>(ctx.contextId);
  context.abort_word = ctx.abortFlag;
  return context;
}

NCCL_DEVICE_INLINE DeviceSignal device_signal(ncclGinSignalDescriptor const& descriptor, ncclGinSignalOp_t op,
                                              uint64_t argument) {
  DeviceSignal signal;
  if (descriptor.type == NCCL_GIN_SIGNAL_TYPE_NONE) return signal;
  signal.strong = descriptor.isStrong;
  signal.add = op == ncclGinSignalInc && !MUTANT(nccl_increment_by_argument) ? 1 : argument;
  if (descriptor.type == NCCL_GIN_SIGNAL_TYPE_INDEXED) {
    signal.target = SignalTarget::kIndexed;
    signal.id = descriptor.indexedSignal.signalId;
  } else {
    signal.target = SignalTarget::kWindow;
    signal.window = window_id_of(descriptor.vaSignal.signalWindow);
    signal.offset = descriptor.vaSignal.signalOffset;
  }
  return signal;
}

NCCL_DEVICE_INLINE ncclGinOffsetPtr offset_ptr(CellRef cell) {
  return {cell.cell, cell.base ? load_relaxed(cell.base) : 0};
}

}  // namespace gin
}  // namespace anygin

template <>
struct ncclGinApi_Put<NCCL_NET_DEVICE_GIN_PROXY> {
  template <typename Coop>
  NCCL_DEVICE_INLINE static void call(ncclGinCtx ctx, Coop, int peer, bool hasWins, ncclGinWindow_t dstWin,
                                      size_t dstOff, ncclGinWindow_t srcWin, size_t srcOff, size_t bytes,
                                      ncclGinSignalDescriptor signal, ncclGinSignalOp_t signalOp, uint64_t signalOpArg,
                                      bool hasCounter, ncclGinCounter_t counterId, bool, ncclGinDescriptorSmem*,
                                      cuda::thread_scope, cuda::thread_scope given, uint32_t optFlags) {
    anygin::PutRequest request;
    request.peer = peer;
    if (hasWins) {
      request.destination_window = anygin::gin::window_id_of(dstWin);
      request.destination_offset = dstOff;
      request.source_window = anygin::gin::window_id_of(srcWin);
      request.source_offset = srcOff;
      request.bytes = bytes;
    }
    request.signal = anygin::gin::device_signal(signal, signalOp, signalOpArg);
    request.has_counter = hasCounter;
    request.counter = counterId;
    request.needs_release = given != cuda::thread_scope_system;
    request.opt_flags = optFlags;
    anygin::proxy_put(anygin::gin::device_context(ctx), request);
  }
};

template <>
struct ncclGinApi_PutValue<NCCL_NET_DEVICE_GIN_PROXY> {
  template <typename Coop, typename T>
  NCCL_DEVICE_INLINE static void call(ncclGinCtx ctx, Coop, int peer, ncclGinWindow_t dstWin, size_t dstOff, T srcData,
                                      ncclGinSignalDescriptor signal, ncclGinSignalOp_t signalOp, uint64_t signalOpArg,
                                      bool, ncclGinDescriptorSmem*, cuda::thread_scope, cuda::thread_scope given,
                                      uint32_t optFlags) {
    static_assert(sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8, "1, 2, 4 or 8 bytes");
    anygin::PutRequest request;
    request.peer = peer;
    request.destination_window = anygin::gin::window_id_of(dstWin);
    request.destination_offset = dstOff;
    request.bytes = sizeof(T);
    request.is_inline = true;
    memcpy(&request.inline_value, &srcData, sizeof(T));
    request.signal = anygin::gin::device_signal(signal, signalOp, signalOpArg);
    request.needs_release = given != cuda::thread_scope_system;
    request.opt_flags = optFlags;
    anygin::proxy_put(anygin::gin::device_context(ctx), request);
  }
};

template <>
struct ncclGinApi_Get<NCCL_NET_DEVICE_GIN_PROXY> {
  template <typename Coop>
  NCCL_DEVICE_INLINE static void call(ncclGinCtx ctx, Coop coop, int peer, ncclGinWindow_t remoteWin, size_t remoteOff,
                                      ncclGinWindow_t localWin, size_t localOff, size_t bytes, bool,
                                      ncclGinDescriptorSmem*, uint32_t) {
    if (coop.thread_rank() != 0) return;
    anygin::GetRequest request;
    request.peer = peer;
    request.remote_window = anygin::gin::window_id_of(remoteWin);
    request.remote_offset = remoteOff;
    request.local_window = anygin::gin::window_id_of(localWin);
    request.local_offset = localOff;
    request.bytes = bytes;
    anygin::proxy_get(anygin::gin::device_context(ctx), request);
  }
};

template <>
struct ncclGinApi_FlushAsync<NCCL_NET_DEVICE_GIN_PROXY> {
  NCCL_DEVICE_INLINE static void call(ncclGinCtx ctx, int peer, ncclGinRequest_t* outRequest, bool,
                                      ncclGinDescriptorSmem*, uint32_t) {
    anygin::FlushRequest request;
    anygin::proxy_flush_async(anygin::gin::device_context(ctx), peer, &request);
    memcpy(outRequest, &request, sizeof(request));
  }
};

template <>
struct ncclGinApi_Wait<NCCL_NET_DEVICE_GIN_PROXY> {
  NCCL_DEVICE_INLINE static void call(ncclGinCtx ctx, ncclGinRequest_t& request, bool, ncclGinDescriptorSmem*,
                                      cuda::memory_order, uint32_t* abortFlag) {
    anygin::DeviceContext context = anygin::gin::device_context(ctx);
    if (abortFlag) context.abort_word = abortFlag;
    anygin::FlushRequest opaque;
    memcpy(&opaque, &request, sizeof(opaque));
    anygin::proxy_wait(context, opaque, anygin::kNever);
  }
};

template <>
struct ncclGinApi_Flush<NCCL_NET_DEVICE_GIN_PROXY> {
  template <typename Coop>
  NCCL_DEVICE_INLINE static void call(ncclGinCtx ctx, Coop coop, bool, ncclGinDescriptorSmem*, cuda::memory_order ord,
                                      uint32_t* abortFlag) {
    for (int peer = coop.thread_rank(); peer < ctx.nRanks; peer += coop.size()) {
      ncclGinRequest_t request;
      ncclGinApi_FlushAsync<NCCL_NET_DEVICE_GIN_PROXY>::call(ctx, peer, &request, false, nullptr, 0);
      ncclGinApi_Wait<NCCL_NET_DEVICE_GIN_PROXY>::call(ctx, request, false, nullptr, ord, abortFlag);
    }
  }
};

template <>
struct ncclGinApi_GetSignalPtr<NCCL_NET_DEVICE_GIN_PROXY> {
  NCCL_DEVICE_INLINE static ncclGinOffsetPtr call(ncclGinCtx ctx, ncclGinSignal_t id) {
    return anygin::gin::offset_ptr(anygin::proxy_signal_cell(anygin::gin::device_context(ctx), id));
  }
};
template <>
struct ncclGinApi_GetCounterPtr<NCCL_NET_DEVICE_GIN_PROXY> {
  NCCL_DEVICE_INLINE static ncclGinOffsetPtr call(ncclGinCtx ctx, ncclGinCounter_t id) {
    return anygin::gin::offset_ptr(anygin::proxy_counter_cell(anygin::gin::device_context(ctx), id));
  }
};

template <>
struct ncclGinApi_ResetSignal<NCCL_NET_DEVICE_GIN_PROXY> {
  NCCL_DEVICE_INLINE static void call(ncclGinCtx ctx, ncclGinSignalDescriptor signal) {
    if (signal.type == NCCL_GIN_SIGNAL_TYPE_INDEXED) {
      anygin::proxy_reset_signal(anygin::gin::device_context(ctx), signal.indexedSignal.signalId);
    } else if (signal.type == NCCL_GIN_SIGNAL_TYPE_VA) {
      ncclWindow_t window = signal.vaSignal.ncclWindow;
      anygin::store_relaxed(
          reinterpret_cast<uint64_t*>(window->lsaBases[window->lsaRank] + signal.vaSignal.signalOffset), uint64_t{0});
    }
  }
};
template <>
struct ncclGinApi_ResetCounter<NCCL_NET_DEVICE_GIN_PROXY> {
  NCCL_DEVICE_INLINE static void call(ncclGinCtx ctx, ncclGinCounter_t id) {
    anygin::proxy_reset_counter(anygin::gin::device_context(ctx), id);
  }
};
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_GIN_PROXY_H_
