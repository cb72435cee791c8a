// SPDX-License-Identifier: Apache-2.0
// Low-latency all-to-all of small elements within an LSA team: data and flag travel in one word, so that an element
// needs no signal and no fence. Contract 8.4.
#ifndef ANYGIN_NCCL_DEVICE_LL_A2A_H_
#define ANYGIN_NCCL_DEVICE_LL_A2A_H_

#include "comm.h"
#include "coop.h"
#include "impl/ll_a2a__types.h"

#if NCCL_CHECK_CUDACC
// One exchange of the team, in epochs. `block` names the memory, in [0, nBlocks) of ncclLLA2ACreateRequirement; no two
// live sessions of a rank share one; a later session, in the same kernel or another, goes on where this one ended. An
// element of T takes ceil(sizeof(T) / 8) of the handle's slots: nSlots >= ncclLLA2ACalcSlots(maxElts, sizeof(T)).
//
// All threads of `coop` make, end and destroy the session together; send, bcast and recv are per thread, any of them.
// They order no memory but the element itself. A slot is written once an epoch.
template <typename Coop>
struct ncclLLA2ASession : ncclLLA2ASession_internal<Coop> {
  // `team` lies within the LSA team. `multimem`: bcast stores by `mmHandle`, which is of this team; without such a
  // handle the session is a misuse.
  NCCL_DEVICE_INLINE ncclLLA2ASession(Coop coop, ncclDevComm const& comm, ncclTeam team, ncclLLA2AHandle handle,
                                      uint32_t block, int maxElts, bool multimem = false,
                                      ncclMultimemHandle mmHandle = {});
  NCCL_DEVICE_INLINE ~ncclLLA2ASession();
  ncclLLA2ASession(ncclLLA2ASession const&) = delete;
  ncclLLA2ASession& operator=(ncclLLA2ASession const&) = delete;

  // Writes `data` into slot [0, maxElts) of rank `peer` of the team; bcast into that of every rank, the own one too.
  // T is trivially copyable.
  template <typename T>
  NCCL_DEVICE_INLINE void send(int peer, int slot, T data);
  template <typename T>
  NCCL_DEVICE_INLINE void bcast(int slot, T data);

  // Waits for this epoch's element of the slot; several threads may receive the same one.
  template <typename T>
  NCCL_DEVICE_INLINE T recv(int slot);
  // Slots eltStart + i * eltStride into vals[i], for i in [0, eltCount); MinEltCount <= eltCount <= MaxEltCount.
  template <int MinEltCount, int MaxEltCount, typename T>
  NCCL_DEVICE_INLINE void recvUnrolled(int eltStart, int eltCount, int eltStride, T (&vals)[MaxEltCount]);
  // The same slots, folded in that order: red(red(eltToAcc(x0), eltToAcc(x1)), ...). A value-initialized accumulator if
  // eltCount is 0.
  template <int Unroll, typename Elt, typename EltToAcc, typename Reduce>
  NCCL_DEVICE_INLINE auto recvReduce(int eltStart, int eltCount, int eltStride, EltToAcc eltToAcc, Reduce red)
      -> decltype(eltToAcc(nccl::utility::declval<Elt>()));

  // Collective. In the epoch that ends, this rank sent an element to every other rank, and received one from each.
  NCCL_DEVICE_INLINE void endEpoch(Coop);
};
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_LL_A2A_H_
