// SPDX-License-Identifier: Apache-2.0
// LSA barriers. Unicast: each rank stores its epoch into its inbox at every other. Multimem: each rank adds one to the
// inbox of all, its own too. Contract 8.1.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_LSA_BARRIER__FUNCS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_LSA_BARRIER__FUNCS_H_

#include "../lsa_barrier.h"
#include "anygin/base/mutant.h"
#include "comm__funcs.h"
#include "core__funcs.h"
#include "gin__call.h"
#include "multimem__funcs.h"

#if NCCL_CHECK_CUDACC
namespace anygin {
namespace lsa {

ANYGIN_NCCL_OUTLINED void misuse(ncclDevComm const& comm, DeviceCall name, MisuseKind kind, uint64_t value,
                                 uint64_t limit, const void* call_site) {
  gin::Call call{};
  call.comm = &comm;
  call.name = name;
  call.call_site = call_site;
  gin::misuse(call, {kind, -1, value, limit});
}

// All ranks of the team can be reached by loads and stores.
NCCL_DEVICE_INLINE void check_team(ncclDevComm const& comm, DeviceCall name, ncclTeam team, const void* call_site) {
  const int ends[2] = {ncclTeamRankToLsa(comm, team, 0), ncclTeamRankToLsa(comm, team, team.nRanks - 1)};
  for (int end : ends) {
    if (static_cast<unsigned>(end) >= static_cast<unsigned>(comm.lsaSize)) {
      misuse(comm, name, MisuseKind::kPeerOffLsa, static_cast<uint64_t>(static_cast<int64_t>(end)),
             static_cast<uint64_t>(comm.lsaSize), call_site);
    }
  }
}

NCCL_DEVICE_INLINE void check_peer(ncclDevComm const& comm, DeviceCall name, ncclTeam team, int peer,
                                   const void* call_site) {
  if (static_cast<unsigned>(peer) < static_cast<unsigned>(team.nRanks)) return;
  misuse(comm, name, MisuseKind::kPeer, static_cast<uint64_t>(static_cast<int64_t>(peer)),
         static_cast<uint64_t>(team.nRanks), call_site);
}

// The barrier exists and the team is within reach.
ANYGIN_NCCL_OUTLINED void check(ncclDevComm const& comm, ncclTeam team, ncclLsaBarrierHandle handle, uint32_t index,
                                const void* call_site) {
  constexpr DeviceCall kName = DeviceCall::kLsaBarrier;
  if (comm.resourceWindow == nullptr) misuse(comm, kName, MisuseKind::kNoResources, 0, 0, call_site);
  if (index >= static_cast<uint32_t>(handle.nBarriers)) {
    misuse(comm, kName, MisuseKind::kBarrierIndex, index, static_cast<uint64_t>(handle.nBarriers), call_site);
  }
  check_team(comm, kName, team, call_site);
}

// `address` is a multicast address of the whole team.
ANYGIN_NCCL_OUTLINED void check_multimem(ncclDevComm const& comm, DeviceCall name, ncclTeam team, const void* address,
                                         const void* call_site) {
  const int ranks = multimem::replicas_of(static_cast<const char*>(address), 1).count;
  if (ranks == team.nRanks) return;
  misuse(comm, name, MisuseKind::kNoMultimem, static_cast<uint64_t>(ranks), static_cast<uint64_t>(team.nRanks),
         call_site);
}

// Waits until `inbox` holds `want` or a later epoch.
ANYGIN_NCCL_OUTLINED WaitOutcome wait_inbox(ncclDevComm const& comm, const uint32_t* inbox, uint32_t want,
                                            const WaitReason& reason, uint64_t timeout_cycles) {
  const auto reached = [inbox, want] { return rolling_reached(want, poll(inbox), 32); };
  return gin::wait_limited(reached, comm.abortFlag, reason, timeout_cycles);
}

// A process that sleeps on `peer`'s behalf looks again.
NCCL_DEVICE_INLINE void wake(ncclDevComm const& comm, int lsa_peer) {
#if defined(ANYGIN_TARGET_CPU)
  if (comm.resourceWindow->lsaWakeWords) anygin_ring_wake(comm.resourceWindow->lsaWakeWords[lsa_peer]);
#else
  (void)comm;
  (void)lsa_peer;
#endif
}

}  // namespace lsa
}  // namespace anygin

template <typename Coop>
NCCL_DEVICE_INLINE uint32_t* ncclLsaBarrierSession_internal<Coop>::words(int lsaPeer) const {
  return static_cast<uint32_t*>(ncclGetResourceBufferLsaPointer(comm, handle.bufHandle, lsaPeer));
}
template <typename Coop>
NCCL_DEVICE_INLINE uint32_t* ncclLsaBarrierSession_internal<Coop>::saved_epoch() const {
  return words(comm.lsaRank) + (multimem ? 0 : static_cast<uint32_t>(handle.nBarriers)) + index;
}
template <typename Coop>
NCCL_DEVICE_INLINE uint32_t* ncclLsaBarrierSession_internal<Coop>::inbox(int lsaPeer, int sender) const {
  const uint32_t first = 3 * static_cast<uint32_t>(handle.nBarriers);
  return words(lsaPeer) + first + index * static_cast<uint32_t>(team.nRanks) + static_cast<uint32_t>(sender);
}

template <typename Coop>
NCCL_DEVICE_INLINE uint32_t* ncclLsaBarrierSession_internal<Coop>::multimem_inbox() const {
  const size_t word = 2 * static_cast<size_t>(handle.nBarriers) + index;
  return static_cast<uint32_t*>(ncclGetResourceBufferMultimemPointer(comm, handle.bufHandle, mmHandle)) + word;
}

template <typename Coop>
NCCL_DEVICE_INLINE void ncclLsaBarrierSession_internal<Coop>::arrive_everywhere(cuda::memory_order order) const {
  if (nccl::utility::releaseOrderOf(order) != cuda::memory_order_relaxed) anygin::release_writes();
  const auto inboxes = anygin::multimem::replicas_of(multimem_inbox(), 1);
  for (int i = 0; i < inboxes.count; ++i) {
    anygin::claim(inboxes(i), 1u);
    anygin::lsa::wake(comm, ncclTeamRankToLsa(comm, team, i));
  }
}

template <typename Coop>
NCCL_DEVICE_INLINE ncclResult_t ncclLsaBarrierSession_internal<Coop>::wait_for(int peer, const uint32_t* word,
                                                                               uint32_t want, uint64_t timeoutCycles,
                                                                               const void* callSite) const {
  anygin::WaitReason reason;
  reason.kind = anygin::WaitKind::kLsaBarrier;
  reason.rank = comm.rank;
  reason.peer = peer;
  reason.index = index;
  reason.bits = 32;
  reason.want = want;
  reason.call_site = callSite;
  const anygin::WaitOutcome outcome = anygin::lsa::wait_inbox(comm, word, want, reason, timeoutCycles);
  return outcome == anygin::WaitOutcome::kDeadline ? ncclTimeout : ncclSuccess;
}

// The inbox counts arrivals: those of the next barrier, too, of ranks that are past this one.
template <typename Coop>
NCCL_DEVICE_INLINE ncclResult_t ncclLsaBarrierSession_internal<Coop>::wait_multimem(uint64_t timeoutCycles,
                                                                                    const void* callSite) {
  ncclResult_t result = ncclSuccess;
  if (coop.thread_rank() == 0) {
    const uint32_t* const own = words(comm.lsaRank) + 2 * static_cast<uint32_t>(handle.nBarriers) + index;
    const auto all = static_cast<uint32_t>(team.nRanks);
    const uint32_t want = epoch + all - (MUTANT(nccl_lsa_barrier_multimem_one_less) ? 1 : 0);
    result = wait_for(-1, own, want, timeoutCycles, callSite);
    if (result == ncclSuccess) epoch += all;
  }
  anygin::gin::meet(coop, comm);
  return result;
}

template <typename Coop>
NCCL_DEVICE_INLINE ncclResult_t ncclLsaBarrierSession_internal<Coop>::wait_within(uint64_t timeoutCycles,
                                                                                  const void* callSite) {
  if (multimem) return wait_multimem(timeoutCycles, callSite);
  ncclResult_t result = ncclSuccess;
  const anygin::gin::Limit limit(timeoutCycles);
  const int peers = team.nRanks - (MUTANT(nccl_lsa_barrier_one_less) ? 2 : 1);
  for (int i = coop.thread_rank(); i < peers; i += coop.size()) {
    const int peer = (team.rank + 1 + i) % team.nRanks;
    result =
        wait_for(ncclTeamRankToWorld(comm, team, peer), inbox(comm.lsaRank, peer), epoch + 1, limit.rest(), callSite);
    if (result != ncclSuccess) break;
  }
  if (result == ncclSuccess) epoch += 1;
  anygin::gin::meet(coop, comm);
  return result;
}

template <typename Coop>
NCCL_DEVICE_INLINE ncclLsaBarrierSession<Coop>::ncclLsaBarrierSession(Coop c, ncclDevComm const& devComm, ncclTeam tm,
                                                                      ncclLsaBarrierHandle h, uint32_t barrier,
                                                                      bool useMultimem, ncclMultimemHandle mm)
    : ncclLsaBarrierSession_internal<Coop>{c, devComm, tm, h, barrier, useMultimem, mm, 0} {
  anygin::lsa::check(devComm, tm, h, barrier, ANYGIN_CALL_SITE());
  if (useMultimem) {
    const void* const place = ncclGetResourceBufferMultimemPointer(devComm, h.bufHandle, mm);
    anygin::lsa::check_multimem(devComm, anygin::DeviceCall::kLsaBarrier, tm, place, ANYGIN_CALL_SITE());
  }
  this->epoch = anygin::load_relaxed(this->saved_epoch());
}
template <typename Coop>
NCCL_DEVICE_INLINE ncclLsaBarrierSession<Coop>::ncclLsaBarrierSession(Coop c, ncclDevComm const& devComm,
                                                                      ncclTeamTagLsa, uint32_t barrier,
                                                                      bool useMultimem)
    : ncclLsaBarrierSession(c, devComm, ncclTeamLsa(devComm), devComm.lsaBarrier, barrier, useMultimem,
                            devComm.lsaMultimem) {}

template <typename Coop>
NCCL_DEVICE_INLINE ncclLsaBarrierSession<Coop>::~ncclLsaBarrierSession() {
  if (this->coop.thread_rank() == 0) anygin::store_relaxed(this->saved_epoch(), this->epoch);
  this->coop.sync();
}

template <typename Coop>
NCCL_DEVICE_INLINE void ncclLsaBarrierSession<Coop>::arrive(Coop, cuda::memory_order order) {
  this->coop.sync();
  if (this->multimem) {
    if (this->coop.thread_rank() == 0) this->arrive_everywhere(order);
    return;
  }
  if (this->team.nRanks == 1) return;
  if (nccl::utility::releaseOrderOf(order) != cuda::memory_order_relaxed) anygin::release_writes();
  for (int i = this->coop.thread_rank(); i < this->team.nRanks - 1; i += this->coop.size()) {
    const int peer = (this->team.rank + 1 + i) % this->team.nRanks;
    const int lsaPeer = ncclTeamRankToLsa(this->comm, this->team, peer);
    anygin::store_relaxed(this->inbox(lsaPeer, this->team.rank), this->epoch + 1);
    anygin::lsa::wake(this->comm, lsaPeer);
  }
}

template <typename Coop>
NCCL_DEVICE_INLINE void ncclLsaBarrierSession<Coop>::wait(Coop, cuda::memory_order order) {
  (void)order;  // the wait always acquires
  this->wait_within(anygin::gin::kNoTimeout, ANYGIN_CALL_SITE());
}
template <typename Coop>
NCCL_DEVICE_INLINE ncclResult_t ncclLsaBarrierSession<Coop>::wait(Coop, cuda::memory_order order,
                                                                  uint64_t timeoutCycles) {
  (void)order;
  this->coop.sync();
  return this->wait_within(timeoutCycles, ANYGIN_CALL_SITE());
}

template <typename Coop>
NCCL_DEVICE_INLINE void ncclLsaBarrierSession<Coop>::sync(Coop c, cuda::memory_order order) {
  arrive(c, order);
  wait(c, order);
}
template <typename Coop>
NCCL_DEVICE_INLINE ncclResult_t ncclLsaBarrierSession<Coop>::sync(Coop c, cuda::memory_order order,
                                                                  uint64_t timeoutCycles) {
  arrive(c, order);
  return wait(c, order, timeoutCycles);
}
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_LSA_BARRIER__FUNCS_H_
