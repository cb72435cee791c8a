// SPDX-License-Identifier: Apache-2.0
// Barrier of a team of teams: loads and stores within, the network between. Contract 8.3.
#ifndef ANYGIN_NCCL_DEVICE_BARRIER_H_
#define ANYGIN_NCCL_DEVICE_BARRIER_H_

#include "gin_barrier.h"
#include "impl/barrier__types.h"
#include "lsa_barrier.h"

#if NCCL_CHECK_CUDACC
// Made and used by all threads of `coop` together. The tag constructors use the barriers of
// ncclDevCommRequirements::barrierCount.
template <typename Coop>
struct ncclBarrierSession : ncclBarrierSession_internal<Coop> {
  NCCL_DEVICE_INLINE ncclBarrierSession(Coop coop, ncclTeam innerTeam, ncclTeam outerTeam, ncclGin gin,
                                        ncclLsaBarrierHandle innerBarHandle, ncclGinBarrierHandle outerBarHandle,
                                        uint32_t index, bool multimem = false, ncclMultimemHandle innerMmHandle = {});
  NCCL_DEVICE_INLINE ncclBarrierSession(Coop coop, ncclTeamTagWorld, ncclGin gin, uint32_t index,
                                        bool multimem = false);
  NCCL_DEVICE_INLINE ncclBarrierSession(Coop coop, ncclTeamTagLsa, ncclDevComm const& comm, uint32_t index,
                                        bool multimem = false);
  NCCL_DEVICE_INLINE ncclBarrierSession(Coop coop, ncclTeamTagRail, ncclGin gin, uint32_t index);
  ncclBarrierSession(ncclBarrierSession const&) = delete;
  ncclBarrierSession& operator=(ncclBarrierSession const&) = delete;

  NCCL_DEVICE_INLINE ncclLsaBarrierSession<Coop>& lsaBarrier();
  NCCL_DEVICE_INLINE ncclGinBarrierSession<Coop>& ginBarrier();  // the outer one

  // With the Put fence a world barrier runs over the network alone, because puts may come from any rank; without it,
  // first within the LSA teams, then along the rails.
  NCCL_DEVICE_INLINE void sync(Coop, cuda::memory_order order,
                               ncclGinFenceLevel fence = ncclGinFenceLevel::Put | ncclGinFenceLevel::Get);
  NCCL_DEVICE_INLINE ncclResult_t sync(Coop, cuda::memory_order order, ncclGinFenceLevel fence, uint64_t timeoutCycles);
};

// A session for one barrier.
template <typename Coop>
NCCL_DEVICE_INLINE void ncclBarrier(Coop coop, ncclTeamTagWorld tag, ncclGin gin, uint32_t index,
                                    cuda::memory_order order = cuda::memory_order_acq_rel,
                                    ncclGinFenceLevel fence = ncclGinFenceLevel::Put | ncclGinFenceLevel::Get,
                                    bool multimem = false);
template <typename Coop>
NCCL_DEVICE_INLINE void ncclBarrier(Coop coop, ncclTeamTagRail tag, ncclGin gin, uint32_t index,
                                    cuda::memory_order order = cuda::memory_order_acq_rel,
                                    ncclGinFenceLevel fence = ncclGinFenceLevel::Put | ncclGinFenceLevel::Get);
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_BARRIER_H_
