// SPDX-License-Identifier: Apache-2.0
// ncclGin: the waits of 2.31 that give up after a time. Included by gin__funcs.h.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_GIN_TIMED__FUNCS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_GIN_TIMED__FUNCS_H_

#include "gin__funcs.h"

#if NCCL_CHECK_CUDACC && NCCL_VERSION_CODE >= 23100
template <unsigned backendMask>
template <typename Coop, typename DescriptorSmem>
NCCL_DEVICE_INLINE ncclResult_t ncclGin_BackendMask<backendMask>::flush(Coop coop, cuda::memory_order ord,
                                                                        DescriptorSmem descriptor,
                                                                        uint64_t timeoutCycles) const {
  (void)ncclGin_getDescriptor(descriptor);
  (void)ord;
  return anygin::gin::flush_all(anygin::gin::call_of(*this, anygin::DeviceCall::kFlush, ANYGIN_CALL_SITE()), coop,
                                timeoutCycles);
}

template <unsigned backendMask>
template <typename Coop, typename DescriptorSmem>
NCCL_DEVICE_INLINE ncclResult_t ncclGin_BackendMask<backendMask>::wait(ncclGinRequest_t& request, Coop coop,
                                                                       DescriptorSmem descriptor,
                                                                       cuda::memory_order ord,
                                                                       uint64_t timeoutCycles) const {
  (void)ncclGin_getDescriptor(descriptor);
  (void)ord;
  ncclResult_t result = ncclSuccess;
  coop.sync();
  if (coop.thread_rank() == 0) {
    result = anygin::gin::wait_request(anygin::gin::call_of(*this, anygin::DeviceCall::kWait, ANYGIN_CALL_SITE()),
                                       request, timeoutCycles);
  }
  result = ncclCoopBcast(coop, result, 0, /*entrySync=*/false);
  anygin::leave_with_others(comm.abortFlag);
  return result;
}

template <unsigned backendMask>
template <typename Coop>
NCCL_DEVICE_INLINE ncclResult_t ncclGin_BackendMask<backendMask>::waitCounter(Coop coop, ncclGinCounter_t counter,
                                                                              uint64_t least, int bits,
                                                                              cuda::memory_order ord,
                                                                              uint64_t timeoutCycles) const {
  (void)ord;
  ncclResult_t result = ncclSuccess;
  coop.sync();
  if (coop.thread_rank() == 0) {
    const anygin::gin::Call call = anygin::gin::call_of(*this, anygin::DeviceCall::kCounter, ANYGIN_CALL_SITE());
    result = anygin::gin::timed_wait_cell(call, anygin::gin::awaited_counter(call, counter), least,
                                          bits < 56 ? bits : 56, timeoutCycles);
  }
  result = ncclCoopBcast(coop, result, 0, /*entrySync=*/false);
  anygin::leave_with_others(comm.abortFlag);
  return result;
}

template <unsigned backendMask>
template <typename Coop>
NCCL_DEVICE_INLINE ncclResult_t ncclGin_BackendMask<backendMask>::waitSignal(Coop coop, ncclGinSignal_t signal,
                                                                             uint64_t least, int bits,
                                                                             cuda::memory_order ord,
                                                                             uint64_t timeoutCycles) const {
  (void)ord;
  ncclResult_t result = ncclSuccess;
  coop.sync();
  if (coop.thread_rank() == 0) {
    const anygin::gin::Call call = anygin::gin::call_of(*this, anygin::DeviceCall::kWaitSignal, ANYGIN_CALL_SITE());
    result = anygin::gin::timed_wait_cell(call, anygin::gin::awaited_signal(call, signal), least, bits, timeoutCycles);
  }
  result = ncclCoopBcast(coop, result, 0, /*entrySync=*/false);
  anygin::leave_with_others(comm.abortFlag);
  return result;
}

template <unsigned backendMask>
template <typename Coop>
NCCL_DEVICE_INLINE ncclResult_t ncclGin_BackendMask<backendMask>::waitSignal(Coop coop, ncclWindow_t signalWindow,
                                                                             size_t signalOffset, uint64_t least,
                                                                             int bits, cuda::memory_order ord,
                                                                             uint64_t timeoutCycles) const {
  (void)ord;
  ncclResult_t result = ncclSuccess;
  coop.sync();
  if (coop.thread_rank() == 0) {
    const anygin::gin::Call call = anygin::gin::call_of(*this, anygin::DeviceCall::kWaitSignal, ANYGIN_CALL_SITE());
    result = anygin::gin::timed_wait_cell(call, anygin::gin::awaited_place(call, signalWindow, signalOffset), least,
                                          bits, timeoutCycles);
  }
  result = ncclCoopBcast(coop, result, 0, /*entrySync=*/false);
  anygin::leave_with_others(comm.abortFlag);
  return result;
}
#endif  // NCCL_CHECK_CUDACC && NCCL_VERSION_CODE >= 23100

#endif  // ANYGIN_NCCL_DEVICE_IMPL_GIN_TIMED__FUNCS_H_
