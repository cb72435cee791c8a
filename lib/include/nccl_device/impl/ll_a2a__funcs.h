// SPDX-License-Identifier: Apache-2.0
// Low-latency all-to-all. Contract 8.4.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_LL_A2A__FUNCS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_LL_A2A__FUNCS_H_

#include "../ll_a2a.h"
#include "anygin/base/mutant.h"
#include "comm__funcs.h"
#include "core__funcs.h"
#include "gin__call.h"
#include "lsa_barrier__funcs.h"

#if NCCL_CHECK_CUDACC
namespace anygin {
namespace ll_a2a {

inline constexpr uint32_t kFirstEpoch = 2;  // fresh memory is zero, and cleared memory too: never a valid tag
inline constexpr uint32_t kLastEpoch = ~0u;

ANYGIN_NCCL_OUTLINED void check(ncclDevComm const& comm, ncclTeam team, const void* call_site) {
  if (comm.resourceWindow == nullptr) {
    lsa::misuse(comm, DeviceCall::kLlA2A, MisuseKind::kNoResources, 0, 0, call_site);
  }
  lsa::check_team(comm, DeviceCall::kLlA2A, team, call_site);
}

template <typename T>
NCCL_DEVICE_INLINE constexpr int parts_of() {
  return static_cast<int>((sizeof(T) + 7) / 8);
}

// The word that carries half `i` of an element: 4 bytes each, two to a line, `pitch` lines from part to part.
NCCL_DEVICE_INLINE uint64_t& word_of(Line* line, int i, int pitch) {
  return line[static_cast<uint32_t>(i / 2) * static_cast<uint32_t>(pitch)].words[i % 2];
}

// Whether all parts of an element are there.
struct Arrived {
  Line* line;
  int parts;
  int pitch;
  uint32_t epoch;

  NCCL_DEVICE_INLINE bool operator()() const {
    for (int i = 0; i < 2 * parts; ++i) {
      if (static_cast<uint32_t>(load_relaxed(&word_of(line, i, pitch)) >> 32) != epoch) return false;
    }
    return true;
  }
};

ANYGIN_NCCL_OUTLINED void wait_element(ncclDevComm const& comm, const Arrived& arrived, uint32_t slot,
                                       const void* call_site) {
  WaitReason reason;
  reason.kind = WaitKind::kElement;
  reason.rank = comm.rank;
  reason.index = slot;
  reason.bits = 32;
  reason.want = arrived.epoch;
  reason.call_site = call_site;
  wait_until(arrived, comm.abortFlag, reason);
}

}  // namespace ll_a2a
}  // namespace anygin

template <typename Coop>
NCCL_DEVICE_INLINE uint32_t ncclLLA2ASession_internal<Coop>::first_line() const {
  return static_cast<uint32_t>(block) * (1 + 2 * handle.nSlots);
}
template <typename Coop>
NCCL_DEVICE_INLINE uint32_t ncclLLA2ASession_internal<Coop>::half_of_epoch() const {
  return first_line() + 1 + (MUTANT(nccl_ll_a2a_one_half) ? 0 : epoch & 1) * handle.nSlots;
}
template <typename Coop>
NCCL_DEVICE_INLINE anygin::ll_a2a::Line* ncclLLA2ASession_internal<Coop>::lines(int lsaPeer) const {
  return static_cast<anygin::ll_a2a::Line*>(ncclGetResourceBufferLsaPointer(comm, handle.bufHandle, lsaPeer));
}
template <typename Coop>
NCCL_DEVICE_INLINE uint32_t* ncclLLA2ASession_internal<Coop>::saved_epoch() const {
  return reinterpret_cast<uint32_t*>(lines(comm.lsaRank) + first_line());
}
template <typename Coop>
NCCL_DEVICE_INLINE void ncclLLA2ASession_internal<Coop>::check_slot(int slot, int parts, const void* callSite) const {
  const int64_t held = static_cast<int64_t>(handle.nSlots) / parts;
  const int64_t limit = pitch < held ? pitch : held;
  if (slot >= 0 && slot < limit && static_cast<int64_t>(parts) * pitch <= static_cast<int64_t>(handle.nSlots)) return;
  anygin::lsa::misuse(comm, anygin::DeviceCall::kLlA2A, anygin::MisuseKind::kSlot,
                      static_cast<uint64_t>(static_cast<int64_t>(slot)), static_cast<uint64_t>(limit), callSite);
}

template <typename Coop>
template <typename T>
NCCL_DEVICE_INLINE void ncclLLA2ASession_internal<Coop>::store(anygin::ll_a2a::Line* to, int lsaPeer, int slot,
                                                               T const& data) const {
  constexpr int kParts = anygin::ll_a2a::parts_of<T>();
  uint32_t halves[2 * kParts] = {};
  memcpy(halves, &data, sizeof(T));
  anygin::ll_a2a::Line* const line = to + slotsOffset + slot;
  for (int i = 0; i < 2 * kParts; ++i) {
    anygin::store_relaxed(&anygin::ll_a2a::word_of(line, i, pitch), uint64_t{epoch} << 32 | halves[i]);
  }
  anygin::lsa::wake(comm, lsaPeer);
}

template <typename Coop>
template <typename T>
NCCL_DEVICE_INLINE T ncclLLA2ASession_internal<Coop>::receive(int slot, const void* callSite) const {
  constexpr int kParts = anygin::ll_a2a::parts_of<T>();
  check_slot(slot, kParts, callSite);
  anygin::ll_a2a::Line* const line = lines(comm.lsaRank) + slotsOffset + slot;
  const int awaited = MUTANT(nccl_ll_a2a_unawaited) ? 0 : kParts;
  const anygin::ll_a2a::Arrived arrived{line, awaited, pitch, epoch};
  anygin::ll_a2a::wait_element(comm, arrived, static_cast<uint32_t>(slot), callSite);
  uint32_t halves[2 * kParts];
  for (int i = 0; i < 2 * kParts; ++i) {
    halves[i] = static_cast<uint32_t>(anygin::load_relaxed(&anygin::ll_a2a::word_of(line, i, pitch)));
  }
  T element;
  memcpy(&element, halves, sizeof(T));
  return element;
}

template <typename Coop>
NCCL_DEVICE_INLINE ncclLLA2ASession<Coop>::ncclLLA2ASession(Coop c, ncclDevComm const& devComm, ncclTeam tm,
                                                            ncclLLA2AHandle h, uint32_t blockIndex, int maxElts,
                                                            bool useMultimem, ncclMultimemHandle mm)
    : ncclLLA2ASession_internal<Coop>{c, devComm, tm, h, static_cast<int>(blockIndex), maxElts, useMultimem, mm, 0, 0} {
  anygin::ll_a2a::check(devComm, tm, ANYGIN_CALL_SITE());
  if (useMultimem) {
    const void* const place = ncclGetResourceBufferMultimemPointer(devComm, h.bufHandle, mm);
    anygin::lsa::check_multimem(devComm, anygin::DeviceCall::kLlA2A, tm, place, ANYGIN_CALL_SITE());
  }
  this->epoch = anygin::load_relaxed(this->saved_epoch()) + anygin::ll_a2a::kFirstEpoch;
  this->slotsOffset = this->half_of_epoch();
}
template <typename Coop>
NCCL_DEVICE_INLINE ncclLLA2ASession<Coop>::~ncclLLA2ASession() {
  if (this->coop.thread_rank() == 0) {
    anygin::store_relaxed(this->saved_epoch(), this->epoch - anygin::ll_a2a::kFirstEpoch);
  }
  this->coop.sync();
}

template <typename Coop>
template <typename T>
NCCL_DEVICE_INLINE void ncclLLA2ASession<Coop>::send(int peer, int slot, T data) {
  this->check_slot(slot, anygin::ll_a2a::parts_of<T>(), ANYGIN_CALL_SITE());
  anygin::lsa::check_peer(this->comm, anygin::DeviceCall::kLlA2A, this->team, peer, ANYGIN_CALL_SITE());
  const int lsaPeer = ncclTeamRankToLsa(this->comm, this->team, peer);
  this->store(this->lines(lsaPeer), lsaPeer, slot, data);
}
template <typename Coop>
template <typename T>
NCCL_DEVICE_INLINE void ncclLLA2ASession<Coop>::bcast(int slot, T data) {
  this->check_slot(slot, anygin::ll_a2a::parts_of<T>(), ANYGIN_CALL_SITE());
  if (!this->multimem) {
    for (int i = 0; i < this->team.nRanks; ++i) {
      const int lsaPeer = ncclTeamRankToLsa(this->comm, this->team, (this->team.rank + 1 + i) % this->team.nRanks);
      this->store(this->lines(lsaPeer), lsaPeer, slot, data);
    }
    return;
  }
  auto* const all = static_cast<anygin::ll_a2a::Line*>(
      ncclGetResourceBufferMultimemPointer(this->comm, this->handle.bufHandle, this->mmHandle));
  const auto everybody = anygin::multimem::replicas_of(all, 1);
  for (int i = 0; i < everybody.count; ++i) {
    this->store(everybody(i), ncclTeamRankToLsa(this->comm, this->team, i), slot, data);
  }
}

template <typename Coop>
template <typename T>
NCCL_DEVICE_INLINE T ncclLLA2ASession<Coop>::recv(int slot) {
  return this->template receive<T>(slot, ANYGIN_CALL_SITE());
}
template <typename Coop>
template <int MinEltCount, int MaxEltCount, typename T>
NCCL_DEVICE_INLINE void ncclLLA2ASession<Coop>::recvUnrolled(int eltStart, int eltCount, int eltStride,
                                                             T (&vals)[MaxEltCount]) {
  static_assert(0 <= MinEltCount && MinEltCount <= MaxEltCount, "recvUnrolled: MinEltCount <= MaxEltCount");
  for (int i = 0; i < eltCount && i < MaxEltCount; ++i) {
    vals[i] = this->template receive<T>(eltStart + i * eltStride, ANYGIN_CALL_SITE());
  }
}
template <typename Coop>
template <int Unroll, typename Elt, typename EltToAcc, typename Reduce>
NCCL_DEVICE_INLINE auto ncclLLA2ASession<Coop>::recvReduce(int eltStart, int eltCount, int eltStride, EltToAcc eltToAcc,
                                                           Reduce red)
    -> decltype(eltToAcc(nccl::utility::declval<Elt>())) {
  using Acc = decltype(eltToAcc(nccl::utility::declval<Elt>()));
  static_assert(Unroll >= 1, "recvReduce: Unroll >= 1");
  if (eltCount <= 0) return Acc();
  Acc acc = eltToAcc(this->template receive<Elt>(eltStart, ANYGIN_CALL_SITE()));
  for (int i = 1; i < eltCount; ++i) {
    acc = red(acc, eltToAcc(this->template receive<Elt>(eltStart + i * eltStride, ANYGIN_CALL_SITE())));
  }
  return acc;
}

// The two halves suffice because a rank that received this epoch's elements knows that their senders have left the one
// before; the first sync makes that true of all their threads.
template <typename Coop>
NCCL_DEVICE_INLINE void ncclLLA2ASession<Coop>::endEpoch(Coop) {
  this->coop.sync();
  if (this->epoch >= anygin::ll_a2a::kLastEpoch - 1) {  // tags start again: none of the last round may be left
    anygin::ll_a2a::Line* const lines_of_half = this->lines(this->comm.lsaRank) + this->slotsOffset;
    for (uint32_t i = static_cast<uint32_t>(this->coop.thread_rank()); i < this->handle.nSlots;
         i += static_cast<uint32_t>(this->coop.size())) {
      for (uint64_t& word : lines_of_half[i].words) anygin::store_relaxed(&word, uint64_t{0});
    }
    this->coop.sync();
  }
  this->epoch = this->epoch == anygin::ll_a2a::kLastEpoch ? anygin::ll_a2a::kFirstEpoch : this->epoch + 1;
  this->slotsOffset = this->half_of_epoch();
}
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_LL_A2A__FUNCS_H_
