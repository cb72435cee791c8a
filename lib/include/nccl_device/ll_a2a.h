// SPDX-License-Identifier: Apache-2.0
// Low-latency all-to-all of small elements within an LSA team. Contract 8.4. Not yet: declared, and an error when
// compiled in.
#ifndef ANYGIN_NCCL_DEVICE_LL_A2A_H_
#define ANYGIN_NCCL_DEVICE_LL_A2A_H_

#include "comm.h"
#include "coop.h"
#include "impl/ll_a2a__types.h"

#if NCCL_CHECK_CUDACC
template <typename Coop>
struct ncclLLA2ASession : ncclLLA2ASession_internal<Coop> {
  NCCL_DEVICE_INLINE ncclLLA2ASession(Coop coop, ncclDevComm const& comm, ncclTeam team, ncclLLA2AHandle handle,
                                      uint32_t block, int maxElts, bool multimem = false,
                                      ncclMultimemHandle mmHandle = {});
  ncclLLA2ASession(ncclLLA2ASession const&) = delete;
  ncclLLA2ASession& operator=(ncclLLA2ASession const&) = delete;

  template <typename T>
  NCCL_DEVICE_INLINE void send(int peer, int slot, T data);
  template <typename T>
  NCCL_DEVICE_INLINE void bcast(int slot, T data);
  template <typename T>
  NCCL_DEVICE_INLINE T recv(int slot);
  template <int MinEltCount, int MaxEltCount, typename T>
  NCCL_DEVICE_INLINE void recvUnrolled(int eltStart, int eltCount, int eltStride, T (&vals)[MaxEltCount]);
  template <int Unroll, typename Elt, typename EltToAcc, typename Reduce>
  NCCL_DEVICE_INLINE auto recvReduce(int eltStart, int eltCount, int eltStride, EltToAcc eltToAcc, Reduce red)
      -> decltype(eltToAcc(nccl::utility::declval<Elt>()));
  NCCL_DEVICE_INLINE void endEpoch(Coop);
};
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_LL_A2A_H_
