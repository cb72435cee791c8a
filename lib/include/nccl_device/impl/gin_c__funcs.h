// SPDX-License-Identifier: Apache-2.0
// GIN without templates, over the same plain calls as ncclGin. Contract 7.10.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_GIN_C__FUNCS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_GIN_C__FUNCS_H_

#include "../gin_c.h"
#include "gin__funcs.h"

#if NCCL_CHECK_CUDACC
NCCL_DEVICE_INLINE ncclGin_C::ncclGin_C(ncclDevComm const& devComm, unsigned mask, int contextIndex,
                                        ncclGinResourceSharingMode sharing)
    : comm(devComm), resourceSharingMode(sharing), backendMask(mask) {
  const anygin::gin::Place place = anygin::gin::place_of(devComm, contextIndex, ANYGIN_CALL_SITE());
  nConnections = place.connections & 0xffu;
  connectionId = place.connection & 0xffu;
  _ginBackend = place.backend & 0xffu;
  contextId = place.context;
  _ginHandle = place.handle;
  _signalShadows = place.shadows;
}
NCCL_DEVICE_INLINE ncclGinCtx ncclGin_C::_makeCtx() const {
  ncclGinCtx ctx;
  ncclGinInitContext(ctx, comm, backendMask, _ginBackend, _ginHandle, contextId, resourceSharingMode);
  return ctx;
}

namespace anygin {
namespace gin {

// The same context as the class sees it.
NCCL_DEVICE_INLINE ncclGin object_of(ncclGin_C const* net) {
  const uint32_t index = net->contextId * net->nConnections + net->connectionId;
  return ncclGin(net->comm, static_cast<int>(index), net->resourceSharingMode);
}

struct SignalOfC {
  bool present;
  ncclGinSignal_t id;
  ncclGinSignalOp_t op;
  uint64_t argument;
};
NCCL_DEVICE_INLINE void set_signal(PutCall& put, ncclGin_C const* net, SignalOfC signal) {
  if (!signal.present) return;
  put.signal = indexed_signal(signal.id, legacy_is_strong(net->comm));
  put.signal_op = signal.op;
  put.signal_argument = signal.argument;
}

NCCL_DEVICE_INLINE void set_order(PutCall& put, cuda::thread_scope given, uint32_t opt_flags) {
  put.request.needs_release = given != cuda::thread_scope_system;
  put.request.opt_flags = opt_flags;
}

}  // namespace gin
}  // namespace anygin

NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGin_C_initWithResourceSharingMode(ncclGin_C* net, unsigned backendMask,
                                                                               ncclDevComm const& comm,
                                                                               int contextIndex,
                                                                               ncclGinResourceSharingMode mode) {
  ::new (static_cast<void*>(net)) ncclGin_C(comm, backendMask, contextIndex, mode);
}
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGin_C_init(ncclGin_C* net, unsigned backendMask, ncclDevComm const& comm,
                                                        int contextIndex) {
  ncclGin_C_initWithResourceSharingMode(net, backendMask, comm, contextIndex, NCCL_GIN_RESOURCE_SHARING_GPU);
}

NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinPut_v2(ncclGin_C* net, ncclTeam team, int peer, ncclWindow_t dstWin,
                                                       size_t dstOffset, ncclWindow_t srcWin, size_t srcOffset,
                                                       size_t bytes, bool isSignal, ncclGinSignal_t signalId,
                                                       ncclGinSignalOp_t signalOp, uint64_t signalOpArg, bool isCounter,
                                                       ncclGinCounter_t counterId, ncclCoopAny coop, bool,
                                                       ncclGinDescriptorSmem*, cuda::thread_scope givenRelease,
                                                       cuda::thread_scope, uint32_t optFlags) {
  coop.sync();
  if (coop.thread_rank() == 0) {
    anygin::gin::PutCall put;
    put.destination = dstWin;
    put.source = srcWin;
    put.request.destination_offset = dstOffset;
    put.request.source_offset = srcOffset;
    put.request.bytes = bytes;
    put.request.has_counter = isCounter;
    put.request.counter = counterId;
    anygin::gin::set_order(put, givenRelease, optFlags);
    anygin::gin::set_signal(put, net, {isSignal, signalId, signalOp, signalOpArg});
    anygin::gin::post_put(anygin::gin::call_of(*net, anygin::DeviceCall::kPut, ANYGIN_CALL_SITE()), team, peer, put);
  }
  anygin::gin::meet(coop, anygin::gin::object_of(net).comm);
}
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinPut(ncclGin_C* net, ncclTeam team, int peer, ncclWindow_t dstWin,
                                                    size_t dstOffset, ncclWindow_t srcWin, size_t srcOffset,
                                                    size_t bytes, bool isSignal, ncclGinSignal_t signalId,
                                                    ncclGinSignalOp_t signalOp, uint64_t signalOpArg, bool isCounter,
                                                    ncclGinCounter_t counterId, ncclCoopAny coop, bool isDescriptor,
                                                    ncclGinDescriptorSmem* descriptor, cuda::thread_scope givenRelease,
                                                    cuda::thread_scope requiredRelease) {
  ncclGinPut_v2(net, team, peer, dstWin, dstOffset, srcWin, srcOffset, bytes, isSignal, signalId, signalOp, signalOpArg,
                isCounter, counterId, coop, isDescriptor, descriptor, givenRelease, requiredRelease,
                ncclGinOptFlagsDefault);
}

NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinPutValue_v2(
    ncclGin_C* net, ncclTeam team, int peer, ncclWindow_t dstWin, size_t dstOffset, uint64_t value, size_t size,
    bool isSignal, ncclGinSignal_t signalId, ncclGinSignalOp_t signalOp, uint64_t signalOpArg, ncclCoopAny coop, bool,
    ncclGinDescriptorSmem*, cuda::thread_scope givenRelease, cuda::thread_scope, uint32_t optFlags) {
  coop.sync();
  if (coop.thread_rank() == 0) {
    anygin::gin::PutCall put;
    put.destination = dstWin;
    put.request.destination_offset = dstOffset;
    put.request.bytes = size == 1 || size == 2 || size == 4 ? size : 8;
    put.request.inline_value = value;
    anygin::gin::set_order(put, givenRelease, optFlags);
    anygin::gin::set_signal(put, net, {isSignal, signalId, signalOp, signalOpArg});
    anygin::gin::post_value(anygin::gin::call_of(*net, anygin::DeviceCall::kPutValue, ANYGIN_CALL_SITE()), team, peer,
                            put);
  }
  anygin::gin::meet(coop, anygin::gin::object_of(net).comm);
}
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinPutValue(ncclGin_C* net, ncclTeam team, int peer, ncclWindow_t dstWin,
                                                         size_t dstOffset, uint64_t value, size_t size, bool isSignal,
                                                         ncclGinSignal_t signalId, ncclGinSignalOp_t signalOp,
                                                         uint64_t signalOpArg, ncclCoopAny coop, bool isDescriptor,
                                                         ncclGinDescriptorSmem* descriptor,
                                                         cuda::thread_scope givenRelease,
                                                         cuda::thread_scope requiredRelease) {
  ncclGinPutValue_v2(net, team, peer, dstWin, dstOffset, value, size, isSignal, signalId, signalOp, signalOpArg, coop,
                     isDescriptor, descriptor, givenRelease, requiredRelease, ncclGinOptFlagsDefault);
}

NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinSignal_v2(ncclGin_C* net, ncclTeam team, int peer, bool isSignal,
                                                          ncclGinSignal_t signalId, ncclGinSignalOp_t signalOp,
                                                          uint64_t signalOpArg, ncclCoopAny coop, bool,
                                                          ncclGinDescriptorSmem*, cuda::thread_scope givenRelease,
                                                          cuda::thread_scope, uint32_t optFlags) {
  coop.sync();
  if (coop.thread_rank() == 0) {
    anygin::gin::PutCall put;
    anygin::gin::set_order(put, givenRelease, optFlags);
    anygin::gin::set_signal(put, net, {isSignal, signalId, signalOp, signalOpArg});
    anygin::gin::post_put(anygin::gin::call_of(*net, anygin::DeviceCall::kSignal, ANYGIN_CALL_SITE()), team, peer, put);
  }
  anygin::gin::meet(coop, anygin::gin::object_of(net).comm);
}
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinSignal(ncclGin_C* net, ncclTeam team, int peer, bool isSignal,
                                                       ncclGinSignal_t signalId, ncclGinSignalOp_t signalOp,
                                                       uint64_t signalOpArg, ncclCoopAny coop, bool isDescriptor,
                                                       ncclGinDescriptorSmem* descriptor,
                                                       cuda::thread_scope givenRelease,
                                                       cuda::thread_scope requiredRelease) {
  ncclGinSignal_v2(net, team, peer, isSignal, signalId, signalOp, signalOpArg, coop, isDescriptor, descriptor,
                   givenRelease, requiredRelease, ncclGinOptFlagsDefault);
}

NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinGet(ncclGin_C* net, ncclTeam team, int peer, ncclWindow_t remoteWnd,
                                                    size_t remoteOffset, ncclWindow_t localWnd, size_t localOffset,
                                                    size_t bytes, ncclCoopAny coop, bool, ncclGinDescriptorSmem*,
                                                    uint32_t optFlags) {
  anygin::gin::object_of(net).get(team, peer, remoteWnd, remoteOffset, localWnd, localOffset, bytes, coop,
                                  ncclGin_None{}, optFlags);
}
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinFlush(ncclGin_C* net, ncclCoopAny coop, cuda::memory_order ord) {
  anygin::gin::object_of(net).flush(coop, ord);
}
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE uint64_t ncclGinReadCounter(ncclGin_C* net, ncclGinCounter_t counter, int bits,
                                                                cuda::memory_order ord) {
  return anygin::gin::object_of(net).readCounter(counter, bits, ord);
}
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinWaitCounter(ncclGin_C* net, ncclCoopAny coop, ncclGinCounter_t counter,
                                                            uint64_t least, int bits, cuda::memory_order ord) {
  anygin::gin::object_of(net).waitCounter(coop, counter, least, bits, ord);
}
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE uint64_t ncclGinReadSignal(ncclGin_C* net, ncclGinSignal_t signal, int bits,
                                                               cuda::memory_order ord) {
  return anygin::gin::object_of(net).readSignal(signal, bits, ord);
}
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinWaitSignal(ncclGin_C* net, ncclCoopAny coop, ncclGinSignal_t signal,
                                                           uint64_t least, int bits, cuda::memory_order ord) {
  anygin::gin::object_of(net).waitSignal(coop, signal, least, bits, ord);
}
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinResetCounter(ncclGin_C* net, ncclGinCounter_t counter) {
  anygin::gin::object_of(net).resetCounter(counter);
}
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinResetSignal(ncclGin_C* net, ncclGinSignal_t signal) {
  anygin::gin::object_of(net).resetSignal(signal);
}
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE uint64_t* ncclGinGetSignalShadowPtr(ncclGin_C* net, ncclGinSignal_t signal) {
  return anygin::gin::object_of(net).getSignalShadowPtr(signal);
}
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_GIN_C__FUNCS_H_
