// SPDX-License-Identifier: Apache-2.0
// State of a hybrid barrier session: which parts there are depends on the constructor. Contract 8.3.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_BARRIER__TYPES_H_
#define ANYGIN_NCCL_DEVICE_IMPL_BARRIER__TYPES_H_

#include "../gin_barrier.h"
#include "../lsa_barrier.h"

#if NCCL_CHECK_CUDACC
template <typename Coop>
struct ncclBarrierSession_internal {
  Coop coop;
  nccl::utility::Optional<ncclGin> gin;
  nccl::utility::Optional<ncclLsaBarrierSession<Coop>> innerLsaBar;
  nccl::utility::Optional<ncclGinBarrierSession<Coop>> outerRailGinBar;
  nccl::utility::Optional<ncclGinBarrierSession<Coop>> outerWorldGinBar;

  NCCL_DEVICE_INLINE bool world_alone(ncclGinFenceLevel fence);
  NCCL_DEVICE_INLINE ncclResult_t sync_within(cuda::memory_order order, ncclGinFenceLevel fence,
                                              uint64_t timeoutCycles);
};
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_BARRIER__TYPES_H_
