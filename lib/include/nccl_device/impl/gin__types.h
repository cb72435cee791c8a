// SPDX-License-Identifier: Apache-2.0
// What an action, descriptor or segment tag means: helpers behind ncclGin's templates. Contract 7.4, 7.11.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_GIN__TYPES_H_
#define ANYGIN_NCCL_DEVICE_IMPL_GIN__TYPES_H_

#include "../gin.h"
#include "../gin/gin_device_common.h"
#include "anygin/base/mutant.h"
#include "comm__types.h"

#if NCCL_CHECK_CUDACC
namespace anygin {
namespace gin {

NCCL_DEVICE_INLINE ncclGinSignalDescriptor no_signal() {
  ncclGinSignalDescriptor descriptor{};
  descriptor.type = NCCL_GIN_SIGNAL_TYPE_NONE;
  return descriptor;
}
NCCL_DEVICE_INLINE ncclGinSignalDescriptor indexed_signal(ncclGinSignal_t id, bool strong) {
  ncclGinSignalDescriptor descriptor{};
  descriptor.type = NCCL_GIN_SIGNAL_TYPE_INDEXED;
  descriptor.indexedSignal.signalId = id;
  descriptor.isStrong = strong;
  return descriptor;
}
// The window's backend handle is filled in once the window has been checked.
// What the proxy's operations know a window by.
NCCL_DEVICE_INLINE ncclGinWindow_t window_handle(ncclWindow_t window) {
  return reinterpret_cast<ncclGinWindow_t>(static_cast<uintptr_t>(window->id.value));
}
NCCL_DEVICE_INLINE ncclGinSignalDescriptor va_signal(ncclWindow_t window, size_t offset, bool strong) {
  ncclGinSignalDescriptor descriptor{};
  descriptor.type = NCCL_GIN_SIGNAL_TYPE_VA;
  descriptor.vaSignal.signalWindow = window ? window_handle(window) : nullptr;
  descriptor.vaSignal.signalOffset = offset;
  descriptor.vaSignal.ncclWindow = window;
  descriptor.isStrong = strong;
  return descriptor;
}

// Of actions that do not say a strength (P8).
NCCL_DEVICE_INLINE bool legacy_is_strong(ncclDevComm const& comm) {
  return (comm.ginStrongLegacySignals || MUTANT(nccl_legacy_strong)) && !MUTANT(nccl_legacy_weak);
}

}  // namespace gin
}  // namespace anygin

// Gin is any ncclGin_BackendMask or ncclGin_C (contract A.5).
template <typename Gin>
NCCL_DEVICE_INLINE ncclGinSignalDescriptor ncclGin_getSignalDescriptor(Gin const&, ncclGin_None) {
  return anygin::gin::no_signal();
}
NCCL_DEVICE_INLINE ncclGinSignalOp_t ncclGin_getSignalOp(ncclGin_None) {
  return ncclGinSignalInc;
}
NCCL_DEVICE_INLINE uint64_t ncclGin_getSignalOpArg(ncclGin_None) {
  return 0;
}

#define ANYGIN_NCCL_INDEXED_SIGNAL(Action, Strong, Op, Argument)                                          \
  template <typename Gin>                                                                                 \
  NCCL_DEVICE_INLINE ncclGinSignalDescriptor ncclGin_getSignalDescriptor(Gin const& gin, Action action) { \
    (void)gin;                                                                                            \
    return anygin::gin::indexed_signal(action.signal, Strong);                                            \
  }                                                                                                       \
  NCCL_DEVICE_INLINE ncclGinSignalOp_t ncclGin_getSignalOp(Action) {                                      \
    return Op;                                                                                            \
  }                                                                                                       \
  NCCL_DEVICE_INLINE uint64_t ncclGin_getSignalOpArg(Action action) {                                     \
    (void)action;                                                                                         \
    return Argument;                                                                                      \
  }
ANYGIN_NCCL_INDEXED_SIGNAL(ncclGin_StrongSignalInc, true, ncclGinSignalInc, 1)
ANYGIN_NCCL_INDEXED_SIGNAL(ncclGin_WeakSignalInc, false, ncclGinSignalInc, 1)
ANYGIN_NCCL_INDEXED_SIGNAL(ncclGin_SignalInc, anygin::gin::legacy_is_strong(gin.comm), ncclGinSignalInc, 1)
ANYGIN_NCCL_INDEXED_SIGNAL(ncclGin_StrongSignalAdd, true, ncclGinSignalAdd, action.value)
ANYGIN_NCCL_INDEXED_SIGNAL(ncclGin_WeakSignalAdd, false, ncclGinSignalAdd, action.value)
ANYGIN_NCCL_INDEXED_SIGNAL(ncclGin_SignalAdd, anygin::gin::legacy_is_strong(gin.comm), ncclGinSignalAdd, action.value)
#undef ANYGIN_NCCL_INDEXED_SIGNAL

#define ANYGIN_NCCL_VA_SIGNAL(Action, Strong, Op, Argument)                                               \
  template <typename Gin>                                                                                 \
  NCCL_DEVICE_INLINE ncclGinSignalDescriptor ncclGin_getSignalDescriptor(Gin const& gin, Action action) { \
    (void)gin;                                                                                            \
    return anygin::gin::va_signal(action.signalWindow, action.signalOffset, Strong);                      \
  }                                                                                                       \
  NCCL_DEVICE_INLINE ncclGinSignalOp_t ncclGin_getSignalOp(Action) {                                      \
    return Op;                                                                                            \
  }                                                                                                       \
  NCCL_DEVICE_INLINE uint64_t ncclGin_getSignalOpArg(Action action) {                                     \
    (void)action;                                                                                         \
    return Argument;                                                                                      \
  }
ANYGIN_NCCL_VA_SIGNAL(ncclGin_StrongVASignalInc, true, ncclGinSignalInc, 1)
ANYGIN_NCCL_VA_SIGNAL(ncclGin_WeakVASignalInc, false, ncclGinSignalInc, 1)
ANYGIN_NCCL_VA_SIGNAL(ncclGin_VASignalInc, anygin::gin::legacy_is_strong(gin.comm), ncclGinSignalInc, 1)
ANYGIN_NCCL_VA_SIGNAL(ncclGin_StrongVASignalAdd, true, ncclGinSignalAdd, action.value)
ANYGIN_NCCL_VA_SIGNAL(ncclGin_WeakVASignalAdd, false, ncclGinSignalAdd, action.value)
ANYGIN_NCCL_VA_SIGNAL(ncclGin_VASignalAdd, anygin::gin::legacy_is_strong(gin.comm), ncclGinSignalAdd, action.value)
#undef ANYGIN_NCCL_VA_SIGNAL

NCCL_DEVICE_INLINE constexpr bool ncclGin_isCounter(ncclGin_None) {
  return false;
}
NCCL_DEVICE_INLINE constexpr bool ncclGin_isCounter(ncclGin_WeakCounterInc) {
  return true;
}
NCCL_DEVICE_INLINE constexpr bool ncclGin_isCounter(ncclGin_CounterInc) {
  return true;
}
template <typename Gin>
NCCL_DEVICE_INLINE ncclGinCounter_t ncclGin_getCounterId(Gin const&, ncclGin_None) {
  return 0;
}
template <typename Gin>
NCCL_DEVICE_INLINE ncclGinCounter_t ncclGin_getCounterId(Gin const&, ncclGin_WeakCounterInc action) {
  return action.counter;
}
template <typename Gin>
NCCL_DEVICE_INLINE ncclGinCounter_t ncclGin_getCounterId(Gin const&, ncclGin_CounterInc action) {
  return action.counter;
}

NCCL_DEVICE_INLINE constexpr bool ncclGin_isDescriptor(ncclGin_None) {
  return false;
}
NCCL_DEVICE_INLINE constexpr bool ncclGin_isDescriptor(ncclGin_DescriptorSmem) {
  return true;
}
NCCL_DEVICE_INLINE ncclGinDescriptorSmem* ncclGin_getDescriptor(ncclGin_None) {
  return nullptr;
}
NCCL_DEVICE_INLINE ncclGinDescriptorSmem* ncclGin_getDescriptor(ncclGin_DescriptorSmem d) {
  return d.descriptor;
}

NCCL_DEVICE_INLINE constexpr bool ncclGin_isDeviceOnly(ncclGin_SegmentDevice) {
  return true;
}
NCCL_DEVICE_INLINE constexpr bool ncclGin_isDeviceOnly(ncclGin_SegmentMixed) {
  return false;
}
NCCL_DEVICE_INLINE constexpr bool ncclGin_isDeviceOnly(ncclGin_SegmentHostNuma) {
  return false;
}
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_GIN__TYPES_H_
