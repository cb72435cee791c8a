// SPDX-License-Identifier: Apache-2.0
// GIN without templates, for front ends that are not C++: no default arguments, signals by id only, their strength that
// of ncclDevComm::ginStrongLegacySignals (contract A.17). Contract 7.10; what each function does: gin.h.
#ifndef ANYGIN_NCCL_DEVICE_GIN_C_H_
#define ANYGIN_NCCL_DEVICE_GIN_C_H_

#include "gin.h"

#if NCCL_CHECK_CUDACC
struct ncclGin_C {
  ncclDevComm const& comm;
  uint32_t nConnections : 8, connectionId : 8, _ginBackend : 8;
  uint32_t contextId;
  ncclGinResourceSharingMode resourceSharingMode;
  void* _ginHandle;
  uint64_t* _signalShadows;
  unsigned backendMask;

  NCCL_DEVICE_INLINE ncclGin_C(ncclDevComm const& comm, unsigned backendMask, int contextIndex,
                               ncclGinResourceSharingMode resourceSharingMode = NCCL_GIN_RESOURCE_SHARING_GPU);
  NCCL_DEVICE_INLINE ncclGinCtx _makeCtx() const;
};

// Construct in the caller's memory.
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGin_C_init(ncclGin_C* net, unsigned backendMask, ncclDevComm const& comm,
                                                        int contextIndex);
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGin_C_initWithResourceSharingMode(ncclGin_C* net, unsigned backendMask,
                                                                               ncclDevComm const& comm,
                                                                               int contextIndex,
                                                                               ncclGinResourceSharingMode mode);

NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinPut(ncclGin_C* net, ncclTeam team, int peer, ncclWindow_t dstWin,
                                                    size_t dstOffset, ncclWindow_t srcWin, size_t srcOffset,
                                                    size_t bytes, bool isSignal, ncclGinSignal_t signalId,
                                                    ncclGinSignalOp_t signalOp, uint64_t signalOpArg, bool isCounter,
                                                    ncclGinCounter_t counterId, ncclCoopAny coop, bool isDescriptor,
                                                    ncclGinDescriptorSmem* descriptor, cuda::thread_scope givenRelease,
                                                    cuda::thread_scope requiredRelease);
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinPut_v2(ncclGin_C* net, ncclTeam team, int peer, ncclWindow_t dstWin,
                                                       size_t dstOffset, ncclWindow_t srcWin, size_t srcOffset,
                                                       size_t bytes, bool isSignal, ncclGinSignal_t signalId,
                                                       ncclGinSignalOp_t signalOp, uint64_t signalOpArg, bool isCounter,
                                                       ncclGinCounter_t counterId, ncclCoopAny coop, bool isDescriptor,
                                                       ncclGinDescriptorSmem* descriptor,
                                                       cuda::thread_scope givenRelease,
                                                       cuda::thread_scope requiredRelease, uint32_t optFlags);
// `size` is 1, 2 or 4; anything else is 8.
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinPutValue(ncclGin_C* net, ncclTeam team, int peer, ncclWindow_t dstWin,
                                                         size_t dstOffset, uint64_t value, size_t size, bool isSignal,
                                                         ncclGinSignal_t signalId, ncclGinSignalOp_t signalOp,
                                                         uint64_t signalOpArg, ncclCoopAny coop, bool isDescriptor,
                                                         ncclGinDescriptorSmem* descriptor,
                                                         cuda::thread_scope givenRelease,
                                                         cuda::thread_scope requiredRelease);
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinPutValue_v2(
    ncclGin_C* net, ncclTeam team, int peer, ncclWindow_t dstWin, size_t dstOffset, uint64_t value, size_t size,
    bool isSignal, ncclGinSignal_t signalId, ncclGinSignalOp_t signalOp, uint64_t signalOpArg, ncclCoopAny coop,
    bool isDescriptor, ncclGinDescriptorSmem* descriptor, cuda::thread_scope givenRelease,
    cuda::thread_scope requiredRelease, uint32_t optFlags);
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinSignal(ncclGin_C* net, ncclTeam team, int peer, bool isSignal,
                                                       ncclGinSignal_t signalId, ncclGinSignalOp_t signalOp,
                                                       uint64_t signalOpArg, ncclCoopAny coop, bool isDescriptor,
                                                       ncclGinDescriptorSmem* descriptor,
                                                       cuda::thread_scope givenRelease,
                                                       cuda::thread_scope requiredRelease);
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinSignal_v2(ncclGin_C* net, ncclTeam team, int peer, bool isSignal,
                                                          ncclGinSignal_t signalId, ncclGinSignalOp_t signalOp,
                                                          uint64_t signalOpArg, ncclCoopAny coop, bool isDescriptor,
                                                          ncclGinDescriptorSmem* descriptor,
                                                          cuda::thread_scope givenRelease,
                                                          cuda::thread_scope requiredRelease, uint32_t optFlags);
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinGet(ncclGin_C* net, ncclTeam team, int peer, ncclWindow_t remoteWnd,
                                                    size_t remoteOffset, ncclWindow_t localWnd, size_t localOffset,
                                                    size_t bytes, ncclCoopAny coop, bool isDescriptor,
                                                    ncclGinDescriptorSmem* descriptor, uint32_t optFlags);
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinFlush(ncclGin_C* net, ncclCoopAny coop, cuda::memory_order ord);
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE uint64_t ncclGinReadCounter(ncclGin_C* net, ncclGinCounter_t counter, int bits,
                                                                cuda::memory_order ord);
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinWaitCounter(ncclGin_C* net, ncclCoopAny coop, ncclGinCounter_t counter,
                                                            uint64_t least, int bits, cuda::memory_order ord);
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE uint64_t ncclGinReadSignal(ncclGin_C* net, ncclGinSignal_t signal, int bits,
                                                               cuda::memory_order ord);
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinWaitSignal(ncclGin_C* net, ncclCoopAny coop, ncclGinSignal_t signal,
                                                           uint64_t least, int bits, cuda::memory_order ord);
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinResetCounter(ncclGin_C* net, ncclGinCounter_t counter);
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE void ncclGinResetSignal(ncclGin_C* net, ncclGinSignal_t signal);
NCCL_IR_EXTERN_C NCCL_DEVICE_INLINE uint64_t* ncclGinGetSignalShadowPtr(ncclGin_C* net, ncclGinSignal_t signal);
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_GIN_C_H_
