// SPDX-License-Identifier: Apache-2.0
// ncclGin: coops and actions resolved into plain calls. Contract 7.5: the coop syncs, its first thread works, it syncs.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_GIN__FUNCS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_GIN__FUNCS_H_

#include "../gin.h"
#include "anygin/base/mutant.h"
#include "gin__call.h"
#include "gin__types.h"
#include "ptr__funcs.h"

#if NCCL_CHECK_CUDACC
namespace anygin {
namespace gin {

template <typename Gin>
NCCL_DEVICE_INLINE Call call_of(Gin const& gin, DeviceCall name, const void* call_site) {
  return {&gin.comm, gin._makeCtx(), gin.contextId * gin.nConnections + gin.connectionId, name, call_site};
}

template <typename Gin, typename RemoteAction>
NCCL_DEVICE_INLINE void set_signal(PutCall& put, Gin const& gin, RemoteAction action) {
  put.signal = ncclGin_getSignalDescriptor(gin, action);
  put.signal_op = ncclGin_getSignalOp(action);
  put.signal_argument = ncclGin_getSignalOpArg(action);
}

// The index of a context beyond the grant comes back modulo, and is reported once a communicator.
ANYGIN_NCCL_OUTLINED uint32_t granted_context(ncclDevComm const& comm, uint32_t index, const void* call_site) {
  const anyginDevCommView* view = comm.resourceWindow_inlined.view;
  if (view && view->contextReported && load_relaxed(view->contextReported) == 0 &&
      claim(view->contextReported, uint32_t{1}) == 0) {
    Misuse note;
    note.kind = MisuseKind::kContextIndex;
    note.call = DeviceCall::kConstructor;
    note.rank = comm.rank;
    note.value = index;
    note.limit = comm.ginContextCount;
    note.call_site = call_site;
    report_nonportable(note);
  }
  return index % comm.ginContextCount;
}

// Backend, handle and shadows of one context; all null without GIN: the first operation says so.
struct Place {
  uint32_t connections = 0, connection = 0, backend = 0, context = 0;
  void* handle = nullptr;
  uint64_t* shadows = nullptr;
};
NCCL_DEVICE_INLINE Place place_of(ncclDevComm const& comm, int contextIndex, const void* call_site) {
  Place place;
  if (comm.ginConnectionCount == 0 || comm.ginContextCount == 0) return place;
  uint32_t index = static_cast<uint32_t>(contextIndex);
  if (index >= comm.ginContextCount) index = granted_context(comm, index, call_site);
  place.connections = comm.ginConnectionCount;
  place.connection = index % place.connections;
  place.context = index / place.connections;
  place.backend = comm.ginNetDeviceTypes[place.connection];
  place.handle = comm.ginHandles[place.connection];
  place.shadows = comm.ginSignalShadows + uint64_t{index} * static_cast<uint32_t>(comm.ginSignalCount);
  return place;
}

}  // namespace gin
}  // namespace anygin

NCCL_DEVICE_INLINE void ncclGinInitContext(ncclGinCtx& ctx, ncclDevComm const& comm, unsigned backendMask,
                                           uint32_t backend, void* handle, uint32_t contextId,
                                           ncclGinResourceSharingMode sharing) {
  ctx.backendMask = backendMask;
  ctx.backend = static_cast<ncclNetDeviceType>(backend);
  ctx.rank = comm.ginConnectionsRailed ? comm.rank / comm.lsaSize : comm.rank;
  ctx.nRanks = comm.ginConnectionsRailed ? comm.nRanks / comm.lsaSize : comm.nRanks;
  ctx.handle = handle;
  ctx.contextId = static_cast<int>(contextId);
  ctx.resourceSharingMode = sharing;
  ctx.abortFlag = comm.abortFlag;
}

template <unsigned backendMask>
NCCL_DEVICE_INLINE ncclGin_BackendMask<backendMask>::ncclGin_BackendMask(ncclDevComm const& devComm, int contextIndex,
                                                                         ncclGinResourceSharingMode sharing)
    : comm(devComm), resourceSharingMode(sharing) {
  static_assert((backendMask & (1u << NCCL_NET_DEVICE_GIN_PROXY)) != 0,
                "not yet: a GIN backend other than the proxy (docs/api-coverage.md)");
  const anygin::gin::Place place = anygin::gin::place_of(devComm, contextIndex, ANYGIN_CALL_SITE());
  nConnections = place.connections & 0xffu;
  connectionId = place.connection & 0xffu;
  _ginBackend = place.backend & 0xffu;
  contextId = place.context;
  _ginHandle = place.handle;
  _signalShadows = place.shadows;
}

template <unsigned backendMask>
NCCL_DEVICE_INLINE ncclGinCtx_M<backendMask> ncclGin_BackendMask<backendMask>::_makeCtx() const {
  ncclGinCtx_M<backendMask> ctx;
  ncclGinInitContext(ctx, comm, backendMask, _ginBackend, _ginHandle, contextId, resourceSharingMode);
  return ctx;
}

// --- Operations ------------------------------------------------------------------------------------------------------
template <unsigned backendMask>
template <typename RemoteAction, typename LocalAction, typename Coop, typename DescriptorSmem, typename SegmentType>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::put(
    ncclTeam team, int peer, ncclWindow_t dstWnd, size_t dstOffset, ncclWindow_t srcWnd, size_t srcOffset, size_t bytes,
    RemoteAction remoteAction, LocalAction localAction, Coop coop, DescriptorSmem descriptor,
    cuda::thread_scope givenRelease, cuda::thread_scope requiredRelease, uint32_t optFlags, SegmentType bufType) const {
  (void)ncclGin_getDescriptor(descriptor);
  (void)requiredRelease;
  coop.sync();
  if (coop.thread_rank() == 0) {
    anygin::gin::PutCall put;
    put.destination = dstWnd;
    put.source = srcWnd;
    put.request.destination_offset = dstOffset;
    put.request.source_offset = srcOffset;
    put.request.bytes = bytes;
    put.request.has_counter = ncclGin_isCounter(localAction);
    put.request.counter = ncclGin_getCounterId(*this, localAction);
    put.request.needs_release = givenRelease != cuda::thread_scope_system;
    put.request.opt_flags = optFlags;
    put.device_only = ncclGin_isDeviceOnly(bufType);
    anygin::gin::set_signal(put, *this, remoteAction);
    anygin::gin::post_put(anygin::gin::call_of(*this, anygin::DeviceCall::kPut, ANYGIN_CALL_SITE()), team, peer, put);
  }
  anygin::gin::meet(coop, comm);
}

template <unsigned backendMask>
template <typename T, typename RemoteAction, typename LocalAction, typename Coop, typename DescriptorSmem,
          typename SegmentType>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::put(
    ncclTeam team, int peer, ncclSymPtr<T> dstElts, ncclSymPtr<T> srcElts, size_t nElts, RemoteAction remoteAction,
    LocalAction localAction, Coop coop, DescriptorSmem descriptor, cuda::thread_scope givenRelease,
    cuda::thread_scope requiredRelease, uint32_t optFlags, SegmentType bufType) const {
  put(team, peer, dstElts.window, dstElts.offset, srcElts.window, srcElts.offset, nElts * sizeof(T), remoteAction,
      localAction, coop, descriptor, givenRelease, requiredRelease, optFlags, bufType);
}

template <unsigned backendMask>
template <typename RemoteAction, typename LocalAction, typename Coop, typename DescriptorSmem, typename SegmentType,
          typename>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::put(
    ncclTeam team, int peer, ncclWindow_t dstWnd, size_t dstOffset, ncclWindow_t srcWnd, size_t srcOffset, size_t bytes,
    RemoteAction remoteAction, LocalAction localAction, Coop coop, DescriptorSmem descriptor,
    cuda::thread_scope givenRelease, cuda::thread_scope requiredRelease, SegmentType bufType) const {
  if (MUTANT(nccl_tag_behind_scopes_lost)) {
    put(team, peer, dstWnd, dstOffset, srcWnd, srcOffset, bytes, remoteAction, localAction, coop, descriptor,
        givenRelease, requiredRelease, uint32_t{ncclGinOptFlagsDefault}, ncclGin_SegmentMixed{});
    return;
  }
  put(team, peer, dstWnd, dstOffset, srcWnd, srcOffset, bytes, remoteAction, localAction, coop, descriptor,
      givenRelease, requiredRelease, uint32_t{ncclGinOptFlagsDefault}, bufType);
}

template <unsigned backendMask>
template <typename T, typename RemoteAction, typename LocalAction, typename Coop, typename DescriptorSmem,
          typename SegmentType, typename>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::put(
    ncclTeam team, int peer, ncclSymPtr<T> dstElts, ncclSymPtr<T> srcElts, size_t nElts, RemoteAction remoteAction,
    LocalAction localAction, Coop coop, DescriptorSmem descriptor, cuda::thread_scope givenRelease,
    cuda::thread_scope requiredRelease, SegmentType bufType) const {
  put(team, peer, dstElts, srcElts, nElts, remoteAction, localAction, coop, descriptor, givenRelease, requiredRelease,
      uint32_t{ncclGinOptFlagsDefault}, bufType);
}

template <unsigned backendMask>
template <typename T, typename RemoteAction, typename Coop, typename DescriptorSmem>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::putValue(ncclTeam team, int peer, ncclWindow_t dstWnd,
                                                                   size_t dstOffset, T value, RemoteAction remoteAction,
                                                                   Coop coop, DescriptorSmem descriptor,
                                                                   cuda::thread_scope givenRelease,
                                                                   cuda::thread_scope requiredRelease,
                                                                   uint32_t optFlags) const {
  static_assert(sizeof(T) <= 8, "ncclGin::putValue: a value of at most 8 bytes");
  static_assert(std::is_trivially_copyable<T>::value, "ncclGin::putValue: a trivially copyable value");
  (void)ncclGin_getDescriptor(descriptor);
  (void)requiredRelease;
  coop.sync();
  if (coop.thread_rank() == 0) {
    anygin::gin::PutCall put;
    put.destination = dstWnd;
    put.request.destination_offset = dstOffset;
    put.request.bytes = sizeof(T);
    memcpy(&put.request.inline_value, &value, sizeof(T));
    put.request.needs_release = givenRelease != cuda::thread_scope_system;
    put.request.opt_flags = optFlags;
    anygin::gin::set_signal(put, *this, remoteAction);
    anygin::gin::post_value(anygin::gin::call_of(*this, anygin::DeviceCall::kPutValue, ANYGIN_CALL_SITE()), team, peer,
                            put);
  }
  anygin::gin::meet(coop, comm);
}

template <unsigned backendMask>
template <typename T, typename RemoteAction, typename Coop, typename DescriptorSmem>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::putValue(ncclTeam team, int peer, ncclSymPtr<T> dst, T value,
                                                                   RemoteAction remoteAction, Coop coop,
                                                                   DescriptorSmem descriptor,
                                                                   cuda::thread_scope givenRelease,
                                                                   cuda::thread_scope requiredRelease,
                                                                   uint32_t optFlags) const {
  putValue(team, peer, dst.window, dst.offset, value, remoteAction, coop, descriptor, givenRelease, requiredRelease,
           optFlags);
}

template <unsigned backendMask>
template <typename Coop, typename DescriptorSmem, typename SegmentType>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::get(ncclTeam team, int peer, ncclWindow_t remoteWnd,
                                                              size_t remoteOffset, ncclWindow_t localWnd,
                                                              size_t localOffset, size_t bytes, Coop coop,
                                                              DescriptorSmem descriptor, uint32_t optFlags,
                                                              SegmentType bufType) const {
  (void)ncclGin_getDescriptor(descriptor);
  (void)optFlags;
  coop.sync();
  if (coop.thread_rank() == 0) {
    anygin::gin::GetCall get;
    get.remote = remoteWnd;
    get.local = localWnd;
    get.request.remote_offset = remoteOffset;
    get.request.local_offset = localOffset;
    get.request.bytes = bytes;
    get.device_only = ncclGin_isDeviceOnly(bufType);
    anygin::gin::post_get(anygin::gin::call_of(*this, anygin::DeviceCall::kGet, ANYGIN_CALL_SITE()), team, peer, get);
  }
  anygin::gin::meet(coop, comm);
}

template <unsigned backendMask>
template <typename RemoteAction, typename Coop, typename DescriptorSmem>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::signal(ncclTeam team, int peer, RemoteAction remoteAction,
                                                                 Coop coop, DescriptorSmem descriptor,
                                                                 cuda::thread_scope givenRelease,
                                                                 cuda::thread_scope requiredRelease,
                                                                 uint32_t optFlags) const {
  static_assert(!std::is_same<RemoteAction, ncclGin_None>::value, "ncclGin::signal: the action is a signal");
  (void)ncclGin_getDescriptor(descriptor);
  (void)requiredRelease;
  coop.sync();
  if (coop.thread_rank() == 0) {
    anygin::gin::PutCall put;
    put.request.needs_release = givenRelease != cuda::thread_scope_system;
    put.request.opt_flags = optFlags;
    anygin::gin::set_signal(put, *this, remoteAction);
    anygin::gin::post_put(anygin::gin::call_of(*this, anygin::DeviceCall::kSignal, ANYGIN_CALL_SITE()), team, peer,
                          put);
  }
  anygin::gin::meet(coop, comm);
}

// --- Completion ------------------------------------------------------------------------------------------------------
namespace anygin {
namespace gin {

// Each thread of the coop drains its share of the peers; ncclTimeout for the threads whose share took too long.
template <typename Coop>
NCCL_DEVICE_INLINE ncclResult_t flush_all(const Call& call, Coop coop, uint64_t timeout_cycles) {
  require_communicator(call);
  ncclResult_t result = ncclSuccess;
  coop.sync();
  for (int peer = coop.thread_rank(); peer < call.ctx.nRanks; peer += coop.size()) {
    if (flush_peer(call, peer, timeout_cycles) == WaitOutcome::kDeadline) result = ncclTimeout;
  }
  meet(coop, *call.comm);
  return result;
}

NCCL_DEVICE_INLINE ncclResult_t wait_request(const Call& call, ncclGinRequest_t const& request,
                                             uint64_t timeout_cycles) {
  require_communicator(call);
  if (MUTANT(nccl_request_unawaited)) return ncclSuccess;
  FlushRequest opaque;
  memcpy(&opaque, &request, sizeof(opaque));
  const WaitOutcome outcome = proxy_wait(device_context(call.ctx), opaque, deadline_after(timeout_cycles));
  return outcome == WaitOutcome::kDeadline ? ncclTimeout : ncclSuccess;
}

}  // namespace gin
}  // namespace anygin

template <unsigned backendMask>
template <typename Coop, typename DescriptorSmem>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::flush(Coop coop, cuda::memory_order ord,
                                                                DescriptorSmem descriptor) const {
  (void)ncclGin_getDescriptor(descriptor);
  (void)ord;  // the wait always acquires
  anygin::gin::flush_all(anygin::gin::call_of(*this, anygin::DeviceCall::kFlush, ANYGIN_CALL_SITE()), coop,
                         anygin::gin::kNoTimeout);
}

template <unsigned backendMask>
template <typename Coop, typename DescriptorSmem>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::flushAsync(ncclTeam team, uint32_t peer,
                                                                     ncclGinRequest_t* outRequest, Coop coop,
                                                                     uint32_t optFlags,
                                                                     DescriptorSmem descriptor) const {
  (void)ncclGin_getDescriptor(descriptor);
  (void)optFlags;
  coop.sync();
  if (coop.thread_rank() == 0) {
    const anygin::gin::Call call = anygin::gin::call_of(*this, anygin::DeviceCall::kFlushAsync, ANYGIN_CALL_SITE());
    const int world = ncclTeamRankToWorld(comm, team, static_cast<int>(peer));
    anygin::gin::require(
        call,
        [&](const auto& fail) {
          anygin::gin::check_asked_communicator(call, fail);
          anygin::gin::check_peer(call, team, static_cast<int>(peer), world, fail);
        },
        [&](const auto& fail) {
          anygin::gin::check_stored_communicator(call, fail);
          anygin::gin::check_stored_peer(call, world, fail);
        });
    anygin::FlushRequest request;
    anygin::proxy_flush_async(anygin::gin::device_context(call.ctx), anygin::gin::backend_peer(comm, world), &request);
    memcpy(outRequest, &request, sizeof(request));
  }
  anygin::gin::meet(coop, comm);
}

template <unsigned backendMask>
template <typename Coop, typename DescriptorSmem>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::wait(ncclGinRequest_t& request, Coop coop,
                                                               DescriptorSmem descriptor,
                                                               cuda::memory_order ord) const {
  (void)ncclGin_getDescriptor(descriptor);
  (void)ord;
  coop.sync();
  if (coop.thread_rank() == 0) {
    anygin::gin::wait_request(anygin::gin::call_of(*this, anygin::DeviceCall::kWait, ANYGIN_CALL_SITE()), request,
                              anygin::gin::kNoTimeout);
  }
  anygin::gin::meet(coop, comm);
}

#include "gin_cells__funcs.h"
#if NCCL_VERSION_CODE >= 23100
#include "gin_timed__funcs.h"
#endif
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_GIN__FUNCS_H_
