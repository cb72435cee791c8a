// SPDX-License-Identifier: Apache-2.0
// State of an LSA barrier session. Contract 8.1.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_LSA_BARRIER__TYPES_H_
#define ANYGIN_NCCL_DEVICE_IMPL_LSA_BARRIER__TYPES_H_

#include "../comm.h"
#include "../coop.h"

#if NCCL_CHECK_CUDACC
#include <cuda/atomic>

template <typename Coop>
struct ncclLsaBarrierSession_internal {
  Coop coop;
  ncclDevComm const& comm;
  ncclTeam team;
  ncclLsaBarrierHandle handle;
  uint32_t index;
  bool multimem;
  ncclMultimemHandle mmHandle;
  uint32_t epoch;  // barriers passed on this index since the device communicator was made

  // Words of the barrier's memory at an LSA rank: saved epochs of both modes, inboxes of both modes, one array each
  // over the barriers, the last one over barriers and senders.
  NCCL_DEVICE_INLINE uint32_t* words(int lsaPeer) const;
  NCCL_DEVICE_INLINE uint32_t* saved_epoch() const;
  NCCL_DEVICE_INLINE uint32_t* inbox(int lsaPeer, int sender) const;
  NCCL_DEVICE_INLINE uint32_t* multimem_inbox() const;
  NCCL_DEVICE_INLINE void arrive_everywhere(cuda::memory_order order) const;
  // One wait: for a peer, or, with multimem, for all ranks at once (peer -1).
  NCCL_DEVICE_INLINE ncclResult_t wait_for(int peer, const uint32_t* word, uint32_t want, uint64_t timeoutCycles,
                                           const void* callSite) const;
  NCCL_DEVICE_INLINE ncclResult_t wait_within(uint64_t timeoutCycles, const void* callSite);
  NCCL_DEVICE_INLINE ncclResult_t wait_multimem(uint64_t timeoutCycles, const void* callSite);
};
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_LSA_BARRIER__TYPES_H_
