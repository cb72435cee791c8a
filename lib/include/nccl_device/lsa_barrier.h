// SPDX-License-Identifier: Apache-2.0
// Barrier of ranks that load and store in each other's memory. Contract 8.1.
#ifndef ANYGIN_NCCL_DEVICE_LSA_BARRIER_H_
#define ANYGIN_NCCL_DEVICE_LSA_BARRIER_H_

#include "comm.h"
#include "coop.h"
#include "impl/lsa_barrier__types.h"

#if NCCL_CHECK_CUDACC
#include <cuda/atomic>

// One barrier of the team, made by all threads of `coop`, which call every method together. `index` names the barrier,
// in [0, handle.nBarriers); no two live sessions of a rank share one; a later session, in the same kernel or another,
// goes on where this one ended. Orders: release makes my coop's earlier writes visible to the others, acquire shows me
// theirs, relaxed orders nothing.
template <typename Coop>
struct ncclLsaBarrierSession : ncclLsaBarrierSession_internal<Coop> {
  // `team` lies within the LSA team. `multimem`: arrivals go to all ranks at once by `mmHandle`, which is of this team;
  // without such a handle the session is a misuse. The two ways are barriers of their own: all ranks go the same one.
  NCCL_DEVICE_INLINE ncclLsaBarrierSession(Coop coop, ncclDevComm const& comm, ncclTeam team,
                                           ncclLsaBarrierHandle handle, uint32_t index, bool multimem = false,
                                           ncclMultimemHandle mmHandle = {});
  // The barriers of ncclDevCommRequirements::lsaBarrierCount.
  NCCL_DEVICE_INLINE ncclLsaBarrierSession(Coop coop, ncclDevComm const& comm, ncclTeamTagLsa, uint32_t index,
                                           bool multimem = false);
  NCCL_DEVICE_INLINE ~ncclLsaBarrierSession();
  ncclLsaBarrierSession(ncclLsaBarrierSession const&) = delete;
  ncclLsaBarrierSession& operator=(ncclLsaBarrierSession const&) = delete;

  // sync is arrive and wait; other work may stand between the two. The Coop argument is not used.
  NCCL_DEVICE_INLINE void arrive(Coop, cuda::memory_order order);
  NCCL_DEVICE_INLINE void wait(Coop, cuda::memory_order order);
  NCCL_DEVICE_INLINE void sync(Coop, cuda::memory_order order);
  // Give up after `timeoutCycles` of clock64(): ncclTimeout for each thread whose own wait took too long. After a
  // timeout the session is broken.
  NCCL_DEVICE_INLINE ncclResult_t wait(Coop, cuda::memory_order order, uint64_t timeoutCycles);
  NCCL_DEVICE_INLINE ncclResult_t sync(Coop, cuda::memory_order order, uint64_t timeoutCycles);
};
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_LSA_BARRIER_H_
