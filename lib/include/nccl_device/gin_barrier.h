// SPDX-License-Identifier: Apache-2.0
// Barrier of ranks that signal each other over the network, with fences for puts and gets. Contract 8.2.
#ifndef ANYGIN_NCCL_DEVICE_GIN_BARRIER_H_
#define ANYGIN_NCCL_DEVICE_GIN_BARRIER_H_

#include "comm.h"
#include "coop.h"
#include "gin.h"
#include "impl/gin_barrier__types.h"

#if NCCL_CHECK_CUDACC
// One barrier of the team, made and used by all threads of `coop` together. All ranks use the same index, the same kind
// (one context, of the same index; or all contexts) and the same Put bit. No two live sessions of a rank share an
// index and a context; a later session goes on where this one ended.
template <typename Coop>
struct ncclGinBarrierSession : ncclGinBarrierSession_internal<Coop> {
  NCCL_DEVICE_INLINE ncclGinBarrierSession(Coop coop, ncclGin net, ncclTeam team, ncclGinBarrierHandle handle,
                                           uint32_t index);
  // The barriers of ncclDevCommRequirements::railGinBarrierCount and worldGinBarrierCount.
  NCCL_DEVICE_INLINE ncclGinBarrierSession(Coop coop, ncclGin net, ncclTeamTagRail, uint32_t index);
  NCCL_DEVICE_INLINE ncclGinBarrierSession(Coop coop, ncclGin net, ncclTeamTagWorld, uint32_t index);
  // Fences cover every context.
  NCCL_DEVICE_INLINE ncclGinBarrierSession(Coop coop, ncclGinAllContexts contexts, ncclTeam team,
                                           ncclGinBarrierHandle handle, uint32_t index);
  NCCL_DEVICE_INLINE ncclGinBarrierSession(Coop coop, ncclGinAllContexts contexts, ncclTeamTagRail, uint32_t index);
  NCCL_DEVICE_INLINE ncclGinBarrierSession(Coop coop, ncclGinAllContexts contexts, ncclTeamTagWorld, uint32_t index);
  NCCL_DEVICE_INLINE ~ncclGinBarrierSession() {}
  ncclGinBarrierSession(ncclGinBarrierSession const&) = delete;
  ncclGinBarrierSession& operator=(ncclGinBarrierSession const&) = delete;

  // Returns when all ranks of the team have called. Fence Put: what members put toward me before their call, on the
  // covered contexts, is visible. Fence Get: my earlier gets have landed, and my sources may be changed. None: neither.
  NCCL_DEVICE_INLINE void sync(Coop, cuda::memory_order order,
                               ncclGinFenceLevel fence = ncclGinFenceLevel::Put | ncclGinFenceLevel::Get);
  // Gives up after `timeoutCycles` of clock64(): ncclTimeout for each thread whose own wait took too long.
  NCCL_DEVICE_INLINE ncclResult_t sync(Coop, cuda::memory_order order, ncclGinFenceLevel fence, uint64_t timeoutCycles);
};

// A session for one barrier.
template <typename Coop>
NCCL_DEVICE_INLINE void ncclGinBarrier(Coop coop, ncclGin net, ncclTeam team, ncclGinBarrierHandle handle,
                                       uint32_t index, cuda::memory_order order = cuda::memory_order_acq_rel,
                                       ncclGinFenceLevel fence = ncclGinFenceLevel::Put | ncclGinFenceLevel::Get);
template <typename Coop>
NCCL_DEVICE_INLINE void ncclGinBarrier(Coop coop, ncclGin net, ncclTeamTagRail tag, uint32_t index,
                                       cuda::memory_order order = cuda::memory_order_acq_rel,
                                       ncclGinFenceLevel fence = ncclGinFenceLevel::Put | ncclGinFenceLevel::Get);
template <typename Coop>
NCCL_DEVICE_INLINE void ncclGinBarrier(Coop coop, ncclGin net, ncclTeamTagWorld tag, uint32_t index,
                                       cuda::memory_order order = cuda::memory_order_acq_rel,
                                       ncclGinFenceLevel fence = ncclGinFenceLevel::Put | ncclGinFenceLevel::Get);
template <typename Coop>
NCCL_DEVICE_INLINE void ncclGinBarrier(Coop coop, ncclGinAllContexts contexts, ncclTeam team,
                                       ncclGinBarrierHandle handle, uint32_t index,
                                       cuda::memory_order order = cuda::memory_order_acq_rel,
                                       ncclGinFenceLevel fence = ncclGinFenceLevel::Put | ncclGinFenceLevel::Get);
template <typename Coop>
NCCL_DEVICE_INLINE void ncclGinBarrier(Coop coop, ncclGinAllContexts contexts, ncclTeamTagRail tag, uint32_t index,
                                       cuda::memory_order order = cuda::memory_order_acq_rel,
                                       ncclGinFenceLevel fence = ncclGinFenceLevel::Put | ncclGinFenceLevel::Get);
template <typename Coop>
NCCL_DEVICE_INLINE void ncclGinBarrier(Coop coop, ncclGinAllContexts contexts, ncclTeamTagWorld tag, uint32_t index,
                                       cuda::memory_order order = cuda::memory_order_acq_rel,
                                       ncclGinFenceLevel fence = ncclGinFenceLevel::Put | ncclGinFenceLevel::Get);
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_GIN_BARRIER_H_
