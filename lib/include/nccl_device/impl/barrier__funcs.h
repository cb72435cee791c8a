// SPDX-License-Identifier: Apache-2.0
// Hybrid barriers. Contract 8.3.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_BARRIER__FUNCS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_BARRIER__FUNCS_H_

#include "../barrier.h"
#include "anygin/base/mutant.h"
#include "gin_barrier__funcs.h"
#include "lsa_barrier__funcs.h"

#if NCCL_CHECK_CUDACC
// Puts come from anywhere: the barrier that covers them joins every rank with every other.
template <typename Coop>
NCCL_DEVICE_INLINE bool ncclBarrierSession_internal<Coop>::world_alone(ncclGinFenceLevel fence) {
  if (MUTANT(nccl_hybrid_by_rail)) return false;
  return (fence & ncclGinFenceLevel::Put) != ncclGinFenceLevel::None && outerWorldGinBar.present() && gin.present() &&
         !gin.value().comm.ginContextsRailed;
}

// The inner phase releases and the outer one acquires; the limit is for both together.
template <typename Coop>
NCCL_DEVICE_INLINE ncclResult_t ncclBarrierSession_internal<Coop>::sync_within(cuda::memory_order order,
                                                                               ncclGinFenceLevel fence,
                                                                               uint64_t timeoutCycles) {
  using nccl::utility::acquireOrderOf;
  using nccl::utility::releaseOrderOf;
  if (world_alone(fence)) return outerWorldGinBar.value().sync(coop, order, fence, timeoutCycles);
  const anygin::gin::Limit limit(timeoutCycles);
  ncclResult_t inner = ncclSuccess;
  ncclResult_t outer = ncclSuccess;
  if (innerLsaBar.present()) {
    const cuda::memory_order innerOrder = outerRailGinBar.present() ? releaseOrderOf(order) : order;
    inner = innerLsaBar.value().sync(coop, innerOrder, timeoutCycles);
  }
  if (outerRailGinBar.present()) {
    const cuda::memory_order outerOrder = innerLsaBar.present() ? acquireOrderOf(order) : order;
    outer = outerRailGinBar.value().sync(coop, outerOrder, fence, limit.rest());
  }
  return inner != ncclSuccess ? inner : outer;
}

template <typename Coop>
NCCL_DEVICE_INLINE ncclBarrierSession<Coop>::ncclBarrierSession(Coop c, ncclTeam innerTeam, ncclTeam outerTeam,
                                                                ncclGin net, ncclLsaBarrierHandle innerBarHandle,
                                                                ncclGinBarrierHandle outerBarHandle, uint32_t index,
                                                                bool multimem, ncclMultimemHandle innerMmHandle)
    : ncclBarrierSession_internal<Coop>{
          c, nccl::utility::present(net),
          nccl::utility::present(c, net.comm, innerTeam, innerBarHandle, index, multimem, innerMmHandle),
          nccl::utility::present(c, net, outerTeam, outerBarHandle, index), nccl::utility::Absent{}} {}

template <typename Coop>
NCCL_DEVICE_INLINE ncclBarrierSession<Coop>::ncclBarrierSession(Coop c, ncclTeamTagWorld, ncclGin net, uint32_t index,
                                                                bool multimem)
    : ncclBarrierSession_internal<Coop>{
          c, nccl::utility::present(net),
          nccl::utility::present(c, net.comm, ncclTeamLsa(net.comm), net.comm.hybridLsaBarrier, index, multimem,
                                 net.comm.lsaMultimem),
          nccl::utility::present(c, net, ncclTeamRail(net.comm), net.comm.hybridRailGinBarrier, index),
          nccl::utility::present(c, net, ncclTeamWorld(net.comm), net.comm.hybridWorldGinBarrier, index)} {}

template <typename Coop>
NCCL_DEVICE_INLINE ncclBarrierSession<Coop>::ncclBarrierSession(Coop c, ncclTeamTagLsa, ncclDevComm const& comm,
                                                                uint32_t index, bool multimem)
    : ncclBarrierSession_internal<Coop>{
          c, nccl::utility::Absent{},
          nccl::utility::present(c, comm, ncclTeamLsa(comm), comm.hybridLsaBarrier, index, multimem, comm.lsaMultimem),
          nccl::utility::Absent{}, nccl::utility::Absent{}} {}

template <typename Coop>
NCCL_DEVICE_INLINE ncclBarrierSession<Coop>::ncclBarrierSession(Coop c, ncclTeamTagRail, ncclGin net, uint32_t index)
    : ncclBarrierSession_internal<Coop>{
          c, nccl::utility::present(net), nccl::utility::Absent{},
          nccl::utility::present(c, net, ncclTeamRail(net.comm), net.comm.hybridRailGinBarrier, index),
          nccl::utility::Absent{}} {}

template <typename Coop>
NCCL_DEVICE_INLINE ncclLsaBarrierSession<Coop>& ncclBarrierSession<Coop>::lsaBarrier() {
  return this->innerLsaBar.value();
}
template <typename Coop>
NCCL_DEVICE_INLINE ncclGinBarrierSession<Coop>& ncclBarrierSession<Coop>::ginBarrier() {
  return this->outerRailGinBar.value();
}

template <typename Coop>
NCCL_DEVICE_INLINE void ncclBarrierSession<Coop>::sync(Coop, cuda::memory_order order, ncclGinFenceLevel fence) {
  this->sync_within(order, fence, anygin::gin::kNoTimeout);
}
template <typename Coop>
NCCL_DEVICE_INLINE ncclResult_t ncclBarrierSession<Coop>::sync(Coop, cuda::memory_order order, ncclGinFenceLevel fence,
                                                               uint64_t timeoutCycles) {
  return this->sync_within(order, fence, timeoutCycles);
}

template <typename Coop>
NCCL_DEVICE_INLINE void ncclBarrier(Coop coop, ncclTeamTagWorld tag, ncclGin gin, uint32_t index,
                                    cuda::memory_order order, ncclGinFenceLevel fence, bool multimem) {
  ncclBarrierSession<Coop> session(coop, tag, gin, index, multimem);
  session.sync(coop, order, fence);
}
template <typename Coop>
NCCL_DEVICE_INLINE void ncclBarrier(Coop coop, ncclTeamTagRail tag, ncclGin gin, uint32_t index,
                                    cuda::memory_order order, ncclGinFenceLevel fence) {
  ncclBarrierSession<Coop> session(coop, tag, gin, index);
  session.sync(coop, order, fence);
}
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_BARRIER__FUNCS_H_
