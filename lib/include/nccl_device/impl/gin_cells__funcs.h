// SPDX-License-Identifier: Apache-2.0
// ncclGin: counters, signals and their shadows. Included by gin__funcs.h. Contract 7.8, 7.9.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_GIN_CELLS__FUNCS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_GIN_CELLS__FUNCS_H_

#include "gin__funcs.h"

#if NCCL_CHECK_CUDACC
// --- Counters --------------------------------------------------------------------------------------------------------
template <unsigned backendMask>
NCCL_DEVICE_INLINE uint64_t ncclGin_BackendMask<backendMask>::readCounter(ncclGinCounter_t counter, int bits,
                                                                          cuda::memory_order ord) const {
  const anygin::gin::Call call = anygin::gin::call_of(*this, anygin::DeviceCall::kCounter, ANYGIN_CALL_SITE());
  return anygin::gin::read_cell(call, anygin::gin::counter_cell(call, counter), bits < 56 ? bits : 56, ord);
}

template <unsigned backendMask>
template <typename Coop>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::waitCounter(Coop coop, ncclGinCounter_t counter,
                                                                      uint64_t least, int bits,
                                                                      cuda::memory_order ord) const {
  (void)ord;  // the wait always acquires
  coop.sync();
  if (coop.thread_rank() == 0) {
    const anygin::gin::Call call = anygin::gin::call_of(*this, anygin::DeviceCall::kCounter, ANYGIN_CALL_SITE());
    anygin::gin::wait_cell(call, anygin::gin::awaited_counter(call, counter), least, bits < 56 ? bits : 56,
                           anygin::gin::kNoTimeout);
  }
  anygin::gin::meet(coop, comm);
}

template <unsigned backendMask>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::resetCounter(ncclGinCounter_t counter) const {
  const anygin::gin::Call call = anygin::gin::call_of(*this, anygin::DeviceCall::kCounter, ANYGIN_CALL_SITE());
  anygin::gin::counter_cell(call, counter);  // checks
  anygin::proxy_reset_counter(anygin::gin::device_context(call.ctx), counter);
}

// --- Signals ---------------------------------------------------------------------------------------------------------
template <unsigned backendMask>
NCCL_DEVICE_INLINE uint64_t ncclGin_BackendMask<backendMask>::readSignal(ncclGinSignal_t signal, int bits,
                                                                         cuda::memory_order ord) const {
  const anygin::gin::Call call = anygin::gin::call_of(*this, anygin::DeviceCall::kReadSignal, ANYGIN_CALL_SITE());
  return anygin::gin::read_cell(call, anygin::gin::signal_cell(call, signal), bits, ord);
}
template <unsigned backendMask>
NCCL_DEVICE_INLINE uint64_t ncclGin_BackendMask<backendMask>::readSignal(ncclWindow_t signalWindow, size_t signalOffset,
                                                                         int bits, cuda::memory_order ord) const {
  const anygin::gin::Call call = anygin::gin::call_of(*this, anygin::DeviceCall::kReadSignal, ANYGIN_CALL_SITE());
  return anygin::gin::read_cell(call, anygin::gin::va_signal_cell(call, signalWindow, signalOffset), bits, ord);
}

template <unsigned backendMask>
template <typename Coop>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::waitSignal(Coop coop, ncclGinSignal_t signal, uint64_t least,
                                                                     int bits, cuda::memory_order ord) const {
  (void)ord;
  coop.sync();
  if (coop.thread_rank() == 0) {
    const anygin::gin::Call call = anygin::gin::call_of(*this, anygin::DeviceCall::kWaitSignal, ANYGIN_CALL_SITE());
    anygin::gin::wait_cell(call, anygin::gin::awaited_signal(call, signal), least, bits, anygin::gin::kNoTimeout);
  }
  anygin::gin::meet(coop, comm);
}
template <unsigned backendMask>
template <typename Coop>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::waitSignal(Coop coop, ncclWindow_t signalWindow,
                                                                     size_t signalOffset, uint64_t least, int bits,
                                                                     cuda::memory_order ord) const {
  (void)ord;
  coop.sync();
  if (coop.thread_rank() == 0) {
    const anygin::gin::Call call = anygin::gin::call_of(*this, anygin::DeviceCall::kWaitSignal, ANYGIN_CALL_SITE());
    anygin::gin::wait_cell(call, anygin::gin::awaited_place(call, signalWindow, signalOffset), least, bits,
                           anygin::gin::kNoTimeout);
  }
  anygin::gin::meet(coop, comm);
}

template <unsigned backendMask>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::resetSignal(ncclGinSignal_t signal) const {
  const anygin::gin::Call call = anygin::gin::call_of(*this, anygin::DeviceCall::kResetSignal, ANYGIN_CALL_SITE());
  anygin::gin::signal_cell(call, signal);  // checks
  anygin::proxy_reset_signal(anygin::gin::device_context(call.ctx), signal);
  if (!MUTANT(nccl_shadow_survives)) anygin::store_relaxed(&_signalShadows[signal], uint64_t{0});
}
// Clears the place that the program names, as seen by this rank (contract A.3).
template <unsigned backendMask>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::resetSignal(ncclWindow_t signalWindow,
                                                                      size_t signalOffset) const {
  const anygin::gin::Call call = anygin::gin::call_of(*this, anygin::DeviceCall::kResetSignal, ANYGIN_CALL_SITE());
  const size_t offset = MUTANT(nccl_address_reset_twice) ? 2 * signalOffset : signalOffset;
  anygin::store_relaxed(anygin::gin::va_signal_cell(call, signalWindow, offset).cell, uint64_t{0});
}

// --- Shadows ---------------------------------------------------------------------------------------------------------
template <unsigned backendMask>
NCCL_DEVICE_INLINE uint64_t* ncclGin_BackendMask<backendMask>::getSignalShadowPtr(ncclGinSignal_t signal) const {
  const anygin::gin::Call call = anygin::gin::call_of(*this, anygin::DeviceCall::kShadow, ANYGIN_CALL_SITE());
  anygin::gin::signal_cell(call, signal);  // checks
  return &_signalShadows[signal];
}

template <unsigned backendMask>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::increaseSignalShadow(ncclGinSignal_t signal,
                                                                               uint64_t delta) const {
  anygin::claim(getSignalShadowPtr(signal), delta);
}

template <unsigned backendMask>
template <typename Coop>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::waitSignalMeetShadow(Coop coop, ncclGinSignal_t signal,
                                                                               int bits, cuda::memory_order ord) const {
  (void)ord;
  coop.sync();
  if (coop.thread_rank() == 0) {
    const anygin::gin::Call call = anygin::gin::call_of(*this, anygin::DeviceCall::kWaitSignal, ANYGIN_CALL_SITE());
    const anygin::gin::Awaited awaited = anygin::gin::awaited_signal(call, signal);
    anygin::gin::wait_cell(call, awaited, anygin::load_relaxed(&_signalShadows[signal]), bits, anygin::gin::kNoTimeout);
  }
  anygin::gin::meet(coop, comm);
}

namespace anygin {
namespace gin {
struct Follow {
  uint64_t before, value;
};
}  // namespace gin
}  // namespace anygin

template <unsigned backendMask>
template <typename Coop, typename Uint>
NCCL_DEVICE_INLINE void ncclGin_BackendMask<backendMask>::waitSignalFollowShadow(Coop coop, ncclGinSignal_t signal,
                                                                                 Uint leastDelta, Uint* before,
                                                                                 Uint* delta, int bits,
                                                                                 cuda::memory_order ord) const {
  static_assert(std::is_unsigned<Uint>::value, "ncclGin::waitSignalFollowShadow: an unsigned type");
  (void)ord;
  anygin::gin::Follow follow{};
  coop.sync();
  if (coop.thread_rank() == 0) {
    const anygin::gin::Call call = anygin::gin::call_of(*this, anygin::DeviceCall::kWaitSignal, ANYGIN_CALL_SITE());
    const anygin::gin::Awaited awaited = anygin::gin::awaited_signal(call, signal);
    follow.before = anygin::load_relaxed(&_signalShadows[signal]);
    anygin::gin::wait_cell(call, awaited, follow.before + leastDelta, bits, anygin::gin::kNoTimeout);
    follow.value = anygin::gin::read_cell(call, awaited.cell, 64, cuda::memory_order_acquire);
    anygin::store_relaxed(&_signalShadows[signal], follow.value);
  }
  if (!MUTANT(nccl_follow_untold)) follow = ncclCoopBcast(coop, follow, 0, /*entrySync=*/false);
  anygin::leave_with_others(comm.abortFlag);
  const uint64_t mask = ~uint64_t{0} >> (64 - bits);
  *before = static_cast<Uint>(follow.before & mask);
  *delta = static_cast<Uint>((follow.value - follow.before) & mask);
}
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_GIN_CELLS__FUNCS_H_
