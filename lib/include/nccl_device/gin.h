// SPDX-License-Identifier: Apache-2.0
// GIN: one-sided operations that a kernel asks of the network. Contract 7; promises and freedoms: docs/semantics.md.
#ifndef ANYGIN_NCCL_DEVICE_GIN_H_
#define ANYGIN_NCCL_DEVICE_GIN_H_

#include "comm.h"
#include "coop.h"
#include "gin/gin_device_host_common.h"
#include "ptr.h"

#if NCCL_CHECK_CUDACC
#include <cuda/atomic>
#include <type_traits>

template <unsigned backendMask>
struct ncclGin_BackendMask;
struct ncclGinCtx;
template <unsigned backendMask>
struct ncclGinCtx_M;
template <ncclNetDeviceType backend>
using ncclGin_BackendOne = ncclGin_BackendMask<(1u << static_cast<int>(backend))>;
// Not for the signature of a kernel: the mask differs between nvcc's host and device passes.
using ncclGin = ncclGin_BackendMask<NCCL_GIN_BACKEND_MASK_ALL>;

// --- Actions ---------------------------------------------------------------------------------------------------------
// No action; no descriptor.
struct ncclGin_None {};
// Remote actions: add to a signal at the peer, by id or by place. Strong: when the signal is seen, all earlier puts and
// signals of this rank and context to that peer are visible, too; weak: only the put it comes with. The names without
// a strength take it from ncclDevComm::ginStrongLegacySignals and are deprecated.
struct ncclGin_StrongSignalInc {
  ncclGinSignal_t signal;
};
struct ncclGin_WeakSignalInc {
  ncclGinSignal_t signal;
};
struct ncclGin_SignalInc {
  ncclGinSignal_t signal;
};
struct ncclGin_StrongSignalAdd {
  ncclGinSignal_t signal;
  uint64_t value;
};
struct ncclGin_WeakSignalAdd {
  ncclGinSignal_t signal;
  uint64_t value;
};
struct ncclGin_SignalAdd {
  ncclGinSignal_t signal;
  uint64_t value;
};
// The place is 8-byte aligned, in a window registered with NCCL_WIN_STRICT_ORDERING.
struct ncclGin_StrongVASignalInc {
  ncclWindow_t signalWindow;
  size_t signalOffset;
};
struct ncclGin_WeakVASignalInc {
  ncclWindow_t signalWindow;
  size_t signalOffset;
};
struct ncclGin_VASignalInc {
  ncclWindow_t signalWindow;
  size_t signalOffset;
};
struct ncclGin_StrongVASignalAdd {
  ncclWindow_t signalWindow;
  size_t signalOffset;
  uint64_t value;
};
struct ncclGin_WeakVASignalAdd {
  ncclWindow_t signalWindow;
  size_t signalOffset;
  uint64_t value;
};
struct ncclGin_VASignalAdd {
  ncclWindow_t signalWindow;
  size_t signalOffset;
  uint64_t value;
};
// Local action: adds one to a counter of this rank once the put's source may be changed.
struct ncclGin_WeakCounterInc {
  ncclGinCounter_t counter;
};
struct ncclGin_CounterInc {
  ncclGinCounter_t counter;
};

// Scratch for a descriptor in shared memory: an optimization that the proxy does not need.
struct ncclGinDescriptorSmem {
  alignas(16) char space[64];
};
struct ncclGin_DescriptorSmem {
  ncclGinDescriptorSmem* descriptor;
};

// What the two buffers are made of: device memory only, both kinds, host memory of one NUMA node.
struct ncclGin_SegmentDevice {};
struct ncclGin_SegmentMixed {};
struct ncclGin_SegmentHostNuma {};

namespace anygin {
namespace gin {
template <typename T>
struct IsSegment {
  static constexpr bool value = std::is_same<T, ncclGin_SegmentDevice>::value ||
                                std::is_same<T, ncclGin_SegmentMixed>::value ||
                                std::is_same<T, ncclGin_SegmentHostNuma>::value;
};
}  // namespace gin
}  // namespace anygin

// --- The object ------------------------------------------------------------------------------------------------------
// One context of a device communicator, which outlives the object. Cheap to make and to copy. Ranks talk only between
// contexts of equal index; contexts are unordered with each other. An index beyond ginContextCount is taken modulo.
//
// put, putValue, signal, get, flushAsync, wait and the waits are collective over `coop`, which syncs before and after.
// read*, getSignalShadowPtr, increaseSignalShadow and reset* are for a single thread. Offsets and sizes are bytes,
// offsets from each rank's own registered pointer. Peers, windows, ranges and ids are checked: a misuse is reported and
// the thread leaves the kernel.
template <unsigned backendMask>
struct ncclGin_BackendMask {
  ncclDevComm const& comm;
  uint32_t nConnections : 8, connectionId : 8, _ginBackend : 8;
  uint32_t contextId;  // within the connection
  ncclGinResourceSharingMode resourceSharingMode;

  NCCL_DEVICE_INLINE ncclGin_BackendMask(
      ncclDevComm const&, int contextIndex,
      ncclGinResourceSharingMode resourceSharingMode_ = NCCL_GIN_RESOURCE_SHARING_GPU);

  // Writes into the peer's window, then performs the actions. Returns when posted: the source may be changed after a
  // counter action, flush, or flushAsync and wait. Of no bytes, the actions alone. `givenRelease` is the widest scope
  // at which the caller has already released its writes; anything but system lets the operation release them.
  template <typename RemoteAction = ncclGin_None, typename LocalAction = ncclGin_None, typename Coop = ncclCoopThread,
            typename DescriptorSmem = ncclGin_None, typename SegmentType = ncclGin_SegmentDevice>
  NCCL_DEVICE_INLINE void put(ncclTeam team, int peer, ncclWindow_t dstWnd, size_t dstOffset, ncclWindow_t srcWnd,
                              size_t srcOffset, size_t bytes, RemoteAction remoteAction = ncclGin_None{},
                              LocalAction localAction = ncclGin_None{}, Coop coop = ncclCoopThread{},
                              DescriptorSmem descriptor = ncclGin_None{},
                              cuda::thread_scope givenRelease = cuda::thread_scope_thread,
                              cuda::thread_scope requiredRelease = cuda::thread_scope_device,
                              uint32_t optFlags = ncclGinOptFlagsDefault,
                              SegmentType bufType = ncclGin_SegmentDevice{}) const;
  // The same with sizes in elements.
  template <typename T, typename RemoteAction = ncclGin_None, typename LocalAction = ncclGin_None,
            typename Coop = ncclCoopThread, typename DescriptorSmem = ncclGin_None,
            typename SegmentType = ncclGin_SegmentDevice>
  NCCL_DEVICE_INLINE void put(ncclTeam team, int peer, ncclSymPtr<T> dstElts, ncclSymPtr<T> srcElts, size_t nElts,
                              RemoteAction remoteAction = ncclGin_None{}, LocalAction localAction = ncclGin_None{},
                              Coop coop = ncclCoopThread{}, DescriptorSmem descriptor = ncclGin_None{},
                              cuda::thread_scope givenRelease = cuda::thread_scope_thread,
                              cuda::thread_scope requiredRelease = cuda::thread_scope_device,
                              uint32_t optFlags = ncclGinOptFlagsDefault,
                              SegmentType bufType = ncclGin_SegmentDevice{}) const;
  // Both also in the published order: the segment tag directly behind the scopes, without flags.
  template <typename RemoteAction, typename LocalAction, typename Coop, typename DescriptorSmem, typename SegmentType,
            typename = typename std::enable_if<anygin::gin::IsSegment<SegmentType>::value>::type>
  NCCL_DEVICE_INLINE void put(ncclTeam team, int peer, ncclWindow_t dstWnd, size_t dstOffset, ncclWindow_t srcWnd,
                              size_t srcOffset, size_t bytes, RemoteAction remoteAction, LocalAction localAction,
                              Coop coop, DescriptorSmem descriptor, cuda::thread_scope givenRelease,
                              cuda::thread_scope requiredRelease, SegmentType bufType) const;
  template <typename T, typename RemoteAction, typename LocalAction, typename Coop, typename DescriptorSmem,
            typename SegmentType, typename = typename std::enable_if<anygin::gin::IsSegment<SegmentType>::value>::type>
  NCCL_DEVICE_INLINE void put(ncclTeam team, int peer, ncclSymPtr<T> dstElts, ncclSymPtr<T> srcElts, size_t nElts,
                              RemoteAction remoteAction, LocalAction localAction, Coop coop, DescriptorSmem descriptor,
                              cuda::thread_scope givenRelease, cuda::thread_scope requiredRelease,
                              SegmentType bufType) const;

  // Writes a value of at most 8 bytes, copied at the call.
  template <typename T, typename RemoteAction = ncclGin_None, typename Coop = ncclCoopThread,
            typename DescriptorSmem = ncclGin_None>
  NCCL_DEVICE_INLINE void putValue(ncclTeam team, int peer, ncclWindow_t dstWnd, size_t dstOffset, T value,
                                   RemoteAction remoteAction = ncclGin_None{}, Coop coop = ncclCoopThread{},
                                   DescriptorSmem descriptor = ncclGin_None{},
                                   cuda::thread_scope givenRelease = cuda::thread_scope_thread,
                                   cuda::thread_scope requiredRelease = cuda::thread_scope_device,
                                   uint32_t optFlags = ncclGinOptFlagsDefault) const;
  template <typename T, typename RemoteAction = ncclGin_None, typename Coop = ncclCoopThread,
            typename DescriptorSmem = ncclGin_None>
  NCCL_DEVICE_INLINE void putValue(ncclTeam team, int peer, ncclSymPtr<T> dst, T value,
                                   RemoteAction remoteAction = ncclGin_None{}, Coop coop = ncclCoopThread{},
                                   DescriptorSmem descriptor = ncclGin_None{},
                                   cuda::thread_scope givenRelease = cuda::thread_scope_thread,
                                   cuda::thread_scope requiredRelease = cuda::thread_scope_device,
                                   uint32_t optFlags = ncclGinOptFlagsDefault) const;

  // Reads from the peer's window. Readable after flush, or after wait on a later request to that peer.
  template <typename Coop = ncclCoopThread, typename DescriptorSmem = ncclGin_None,
            typename SegmentType = ncclGin_SegmentDevice>
  NCCL_DEVICE_INLINE void get(ncclTeam team, int peer, ncclWindow_t remoteWnd, size_t remoteOffset,
                              ncclWindow_t localWnd, size_t localOffset, size_t bytes, Coop coop = ncclCoopThread{},
                              DescriptorSmem descriptor = ncclGin_None{}, uint32_t optFlags = ncclGinOptFlagsDefault,
                              SegmentType bufType = ncclGin_SegmentDevice{}) const;

  // A put without data; `remoteAction` is a signal.
  template <typename RemoteAction, typename Coop = ncclCoopThread, typename DescriptorSmem = ncclGin_None>
  NCCL_DEVICE_INLINE void signal(ncclTeam team, int peer, RemoteAction remoteAction, Coop coop = ncclCoopThread(),
                                 DescriptorSmem descriptor = ncclGin_None{},
                                 cuda::thread_scope givenRelease = cuda::thread_scope_thread,
                                 cuda::thread_scope requiredRelease = cuda::thread_scope_device,
                                 uint32_t optFlags = ncclGinOptFlagsDefault) const;

  // Returns when everything that was posted on this context before, to any peer, is locally complete: sources
  // reusable, gets readable. Says nothing of the destinations.
  template <typename Coop, typename DescriptorSmem = ncclGin_None>
  NCCL_DEVICE_INLINE void flush(Coop coop, cuda::memory_order ord = cuda::memory_order_acquire,
                                DescriptorSmem descriptor = ncclGin_None{}) const;
  // The same for one peer, in two steps. The coop's first thread writes its *outRequest, and waits for its `request`.
  template <typename Coop = ncclCoopThread, typename DescriptorSmem = ncclGin_None>
  NCCL_DEVICE_INLINE void flushAsync(ncclTeam team, uint32_t peer, ncclGinRequest_t* outRequest,
                                     Coop coop = ncclCoopThread{}, uint32_t optFlags = ncclGinOptFlagsDefault,
                                     DescriptorSmem descriptor = ncclGin_None{}) const;
  template <typename Coop = ncclCoopThread, typename DescriptorSmem = ncclGin_None>
  NCCL_DEVICE_INLINE void wait(ncclGinRequest_t& request, Coop coop = ncclCoopThread{},
                               DescriptorSmem descriptor = ncclGin_None{},
                               cuda::memory_order ord = cuda::memory_order_acquire) const;

  // Counters of this context: 56 bits count. A wait is satisfied once `least` is reached in rolling arithmetic of
  // `bits` bits. Reset: no counted operation is outstanding.
  NCCL_DEVICE_INLINE uint64_t readCounter(ncclGinCounter_t counter, int bits = 56,
                                          cuda::memory_order ord = cuda::memory_order_acquire) const;
  template <typename Coop>
  NCCL_DEVICE_INLINE void waitCounter(Coop coop, ncclGinCounter_t counter, uint64_t least, int bits = 56,
                                      cuda::memory_order ord = cuda::memory_order_acquire) const;
  NCCL_DEVICE_INLINE void resetCounter(ncclGinCounter_t counter) const;

  // Signals of this rank and context, or at a place of an own window. After resetSignal they count from zero.
  NCCL_DEVICE_INLINE uint64_t readSignal(ncclGinSignal_t signal, int bits = 64,
                                         cuda::memory_order ord = cuda::memory_order_acquire) const;
  NCCL_DEVICE_INLINE uint64_t readSignal(ncclWindow_t signalWindow, size_t signalOffset, int bits = 64,
                                         cuda::memory_order ord = cuda::memory_order_acquire) const;
  template <typename Coop>
  NCCL_DEVICE_INLINE void waitSignal(Coop coop, ncclGinSignal_t signal, uint64_t least, int bits = 64,
                                     cuda::memory_order ord = cuda::memory_order_acquire) const;
  template <typename Coop>
  NCCL_DEVICE_INLINE void waitSignal(Coop coop, ncclWindow_t signalWindow, size_t signalOffset, uint64_t least,
                                     int bits = 64, cuda::memory_order ord = cuda::memory_order_acquire) const;
  NCCL_DEVICE_INLINE void resetSignal(ncclGinSignal_t signal) const;
  NCCL_DEVICE_INLINE void resetSignal(ncclWindow_t signalWindow, size_t signalOffset) const;

  // A word of this rank for each signal, zero at first, changed only by these calls and by resetSignal.
  NCCL_DEVICE_INLINE uint64_t* getSignalShadowPtr(ncclGinSignal_t signal) const;
  NCCL_DEVICE_INLINE void increaseSignalShadow(ncclGinSignal_t signal, uint64_t delta) const;
  // Waits until the signal reaches its shadow.
  template <typename Coop>
  NCCL_DEVICE_INLINE void waitSignalMeetShadow(Coop coop, ncclGinSignal_t signal, int bits = 64,
                                               cuda::memory_order ord = cuda::memory_order_acquire) const;
  // Waits until the signal is `leastDelta` ahead of its shadow, then sets the shadow to the value seen. Every thread of
  // the coop gets the same *before and *delta (contract A.6).
  template <typename Coop, typename Uint>
  NCCL_DEVICE_INLINE void waitSignalFollowShadow(Coop coop, ncclGinSignal_t signal, Uint leastDelta, Uint* before,
                                                 Uint* delta, int bits = 64,
                                                 cuda::memory_order ord = cuda::memory_order_acquire) const;

#if NCCL_VERSION_CODE >= 23100
  // The same with a limit of `timeoutCycles` of clock64(): ncclSuccess or ncclTimeout, the same for all threads of the
  // coop; flush: for each thread the result of the peers it waited for.
  template <typename Coop, typename DescriptorSmem>
  NCCL_DEVICE_INLINE ncclResult_t wait(ncclGinRequest_t& request, Coop coop, DescriptorSmem descriptor,
                                       cuda::memory_order ord, uint64_t timeoutCycles) const;
  template <typename Coop, typename DescriptorSmem>
  NCCL_DEVICE_INLINE ncclResult_t flush(Coop coop, cuda::memory_order ord, DescriptorSmem descriptor,
                                        uint64_t timeoutCycles) const;
  template <typename Coop>
  NCCL_DEVICE_INLINE ncclResult_t waitCounter(Coop coop, ncclGinCounter_t counter, uint64_t least, int bits,
                                              cuda::memory_order ord, uint64_t timeoutCycles) const;
  template <typename Coop>
  NCCL_DEVICE_INLINE ncclResult_t waitSignal(Coop coop, ncclGinSignal_t signal, uint64_t least, int bits,
                                             cuda::memory_order ord, uint64_t timeoutCycles) const;
  template <typename Coop>
  NCCL_DEVICE_INLINE ncclResult_t waitSignal(Coop coop, ncclWindow_t signalWindow, size_t signalOffset, uint64_t least,
                                             int bits, cuda::memory_order ord, uint64_t timeoutCycles) const;
#endif

  // Of this library.
  void* _ginHandle;
  uint64_t* _signalShadows;
  NCCL_DEVICE_INLINE ncclGinCtx_M<backendMask> _makeCtx() const;
};
#endif  // NCCL_CHECK_CUDACC

#include "gin_c.h"

#endif  // ANYGIN_NCCL_DEVICE_GIN_H_
