// SPDX-License-Identifier: Apache-2.0
// GIN barriers: each rank adds one to its signal at every other and waits for theirs. What it waits for is counted in
// the low 32 bits of the signals' shadows, so that a later kernel goes on. Contract 8.2; unlike 8.2.3 a barrier with
// the Put fence always signals strongly and one without signals weakly (P18, F8).
#ifndef ANYGIN_NCCL_DEVICE_IMPL_GIN_BARRIER__FUNCS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_GIN_BARRIER__FUNCS_H_

#include "../gin_barrier.h"
#include "anygin/base/mutant.h"
#include "gin__funcs.h"

#if NCCL_CHECK_CUDACC
namespace anygin {
namespace gin {

// The index is one of those granted.
ANYGIN_NCCL_OUTLINED void check_barrier(const Call& call, ncclGinBarrierHandle handle, uint32_t index) {
  require(
      call,
      [&](const auto& fail) {
        check_asked_communicator(call, fail);
        if (handle.unused == 0 || MUTANT(nccl_barrier_unchecked)) return;
        const uint32_t granted = handle.unused - 1;
        if (index >= granted) fail(Finding{MisuseKind::kBarrierIndex, -1, index, granted});
      },
      [&](const auto& fail) { check_stored_communicator(call, fail); });
}

// First of the signals of one barrier: one a rank of the team.
NCCL_DEVICE_INLINE ncclGinSignal_t barrier_signals(ncclGinBarrierHandle handle, ncclTeam team, uint32_t barrier) {
  if (MUTANT(nccl_barrier_shared)) return handle.signal0;
  return handle.signal0 + barrier * static_cast<uint32_t>(team.nRanks);
}

// One signal from the calling team rank to `peer` of its team.
ANYGIN_NCCL_OUTLINED void barrier_signal(const Call& call, ncclTeam team, int peer, ncclGinSignal_t id, bool strong,
                                         bool needs_release) {
  PutCall put;
  put.signal = indexed_signal(id, strong && !MUTANT(nccl_barrier_put_weak));
  put.of_library = true;
  put.request.needs_release = needs_release;
  post_put(call, team, peer, put);
}

// Counts one more barrier with `peer` and waits until its signal `id` has come that often. Reports name `barrier`.
ANYGIN_NCCL_OUTLINED WaitOutcome barrier_wait(const Call& call, uint64_t* shadows, ncclTeam team, int peer,
                                              ncclGinSignal_t id, uint32_t barrier, uint64_t timeout_cycles) {
  Awaited awaited = awaited_signal(call, id);
  awaited.kind = WaitKind::kGinBarrier;
  awaited.index = barrier;
  awaited.peer = ncclTeamRankToWorld(*call.comm, team, peer);
  uint32_t* epoch = reinterpret_cast<uint32_t*>(&shadows[id]);  // the low half: all targets are little-endian
  const uint32_t want = load_relaxed(epoch) + 1;
  store_relaxed(epoch, want);
  return wait_cell(call, awaited, want, 32, timeout_cycles);
}

}  // namespace gin
}  // namespace anygin

// Work items are (context, peer), spread over the threads; peer i is the i-th rank after the caller, itself the last,
// which is only covered with Put.
template <typename Coop>
NCCL_DEVICE_INLINE void ncclGinBarrierSession_internal<Coop>::signal_peers(bool fencePut, cuda::memory_order order,
                                                                           const void* callSite) {
  const bool releases = nccl::utility::releaseOrderOf(order) != cuda::memory_order_relaxed;
  const int peers = fencePut && !MUTANT(nccl_barrier_self_uncovered) ? team.nRanks : team.nRanks - 1;
  const bool every = fenceAllContexts && !MUTANT(nccl_barrier_first_context);
  const int contexts = every ? static_cast<int>(net.comm.ginContextCount) : 1;
  for (int item = coop.thread_rank(); item < contexts * peers; item += coop.size()) {
    const ncclGin one = fenceAllContexts ? ncclGin(net.comm, item / peers) : net;
    const int peer = (team.rank + 1 + item % peers) % team.nRanks;
    anygin::gin::barrier_signal(anygin::gin::call_of(one, anygin::DeviceCall::kGinBarrier, callSite), team, peer,
                                signal + static_cast<uint32_t>(team.rank), fencePut, releases);
  }
}

template <typename Coop>
NCCL_DEVICE_INLINE ncclResult_t ncclGinBarrierSession_internal<Coop>::wait_peers(bool fencePut,
                                                                                 anygin::gin::Limit limit,
                                                                                 const void* callSite) {
  ncclResult_t result = ncclSuccess;
  const int peers = fencePut && !MUTANT(nccl_barrier_self_uncovered) ? team.nRanks : team.nRanks - 1;
  const bool every = fenceAllContexts && !MUTANT(nccl_barrier_first_context);
  const int contexts = every ? static_cast<int>(net.comm.ginContextCount) : 1;
  for (int item = coop.thread_rank() + (MUTANT(nccl_barrier_one_less) ? 1 : 0); item < contexts * peers;
       item += coop.size()) {
    const ncclGin one = fenceAllContexts ? ncclGin(net.comm, item / peers) : net;
    const int peer = (team.rank + 1 + item % peers) % team.nRanks;
    const anygin::WaitOutcome outcome = anygin::gin::barrier_wait(
        anygin::gin::call_of(one, anygin::DeviceCall::kGinBarrier, callSite), one._signalShadows, team, peer,
        signal + static_cast<uint32_t>(peer), index, limit.rest());
    if (outcome == anygin::WaitOutcome::kDeadline) result = ncclTimeout;
  }
  return result;
}

// Drains the covered contexts.
template <typename Coop>
NCCL_DEVICE_INLINE ncclResult_t ncclGinBarrierSession_internal<Coop>::flush_gets(anygin::gin::Limit limit,
                                                                                 const void* callSite) {
  ncclResult_t result = ncclSuccess;
  const int contexts = fenceAllContexts ? static_cast<int>(net.comm.ginContextCount) : 1;
  const int peers = net._makeCtx().nRanks;
  for (int item = coop.thread_rank(); item < contexts * peers; item += coop.size()) {
    const ncclGin one = fenceAllContexts ? ncclGin(net.comm, item / peers) : net;
    const anygin::gin::Call call = anygin::gin::call_of(one, anygin::DeviceCall::kGinBarrier, callSite);
    if (anygin::gin::flush_peer(call, item % peers, limit.rest()) == anygin::WaitOutcome::kDeadline) {
      result = ncclTimeout;
    }
  }
  return result;
}

template <typename Coop>
NCCL_DEVICE_INLINE ncclResult_t ncclGinBarrierSession_internal<Coop>::sync_within(cuda::memory_order order,
                                                                                  ncclGinFenceLevel fence,
                                                                                  uint64_t timeoutCycles,
                                                                                  const void* callSite) {
  const bool fencePut = (fence & ncclGinFenceLevel::Put) != ncclGinFenceLevel::None;
  const bool fenceGet = (fence & ncclGinFenceLevel::Get) != ncclGinFenceLevel::None;
  const anygin::gin::Limit limit(timeoutCycles);
  // Every thread, so that none goes on; here and not in the constructor, which a hybrid barrier calls for parts that it
  // does not use.
  anygin::gin::check_barrier(anygin::gin::call_of(net, anygin::DeviceCall::kGinBarrier, callSite), handle, index);
  coop.sync();
  signal_peers(fencePut, order, callSite);
  ncclResult_t result = wait_peers(fencePut, limit, callSite);
  if (fenceGet && result == ncclSuccess && !MUTANT(nccl_barrier_get_unfenced)) {
    result = flush_gets(limit, callSite);
  }
  anygin::gin::meet(coop, net.comm);
  return result;
}

// --- Sessions --------------------------------------------------------------------------------------------------------
template <typename Coop>
NCCL_DEVICE_INLINE ncclGinBarrierSession<Coop>::ncclGinBarrierSession(Coop c, ncclGin gin, ncclTeam tm,
                                                                      ncclGinBarrierHandle h, uint32_t barrier)
    : ncclGinBarrierSession_internal<Coop>{c,    gin, tm, h, barrier, anygin::gin::barrier_signals(h, tm, barrier),
                                           false} {}
template <typename Coop>
NCCL_DEVICE_INLINE ncclGinBarrierSession<Coop>::ncclGinBarrierSession(Coop c, ncclGin gin, ncclTeamTagRail,
                                                                      uint32_t barrier)
    : ncclGinBarrierSession(c, gin, ncclTeamRail(gin.comm), gin.comm.railGinBarrier, barrier) {}
template <typename Coop>
NCCL_DEVICE_INLINE ncclGinBarrierSession<Coop>::ncclGinBarrierSession(Coop c, ncclGin gin, ncclTeamTagWorld,
                                                                      uint32_t barrier)
    : ncclGinBarrierSession(c, gin, ncclTeamWorld(gin.comm), gin.comm.worldGinBarrier, barrier) {}
template <typename Coop>
NCCL_DEVICE_INLINE ncclGinBarrierSession<Coop>::ncclGinBarrierSession(Coop c, ncclGinAllContexts contexts, ncclTeam tm,
                                                                      ncclGinBarrierHandle h, uint32_t barrier)
    : ncclGinBarrierSession_internal<Coop>{
          c, ncclGin(contexts.comm, 0), tm, h, barrier, anygin::gin::barrier_signals(h, tm, barrier), true} {}
template <typename Coop>
NCCL_DEVICE_INLINE ncclGinBarrierSession<Coop>::ncclGinBarrierSession(Coop c, ncclGinAllContexts contexts,
                                                                      ncclTeamTagRail, uint32_t barrier)
    : ncclGinBarrierSession(c, contexts, ncclTeamRail(contexts.comm), contexts.comm.railGinBarrier, barrier) {}
template <typename Coop>
NCCL_DEVICE_INLINE ncclGinBarrierSession<Coop>::ncclGinBarrierSession(Coop c, ncclGinAllContexts contexts,
                                                                      ncclTeamTagWorld, uint32_t barrier)
    : ncclGinBarrierSession(c, contexts, ncclTeamWorld(contexts.comm), contexts.comm.worldGinBarrier, barrier) {}

template <typename Coop>
NCCL_DEVICE_INLINE void ncclGinBarrierSession<Coop>::sync(Coop, cuda::memory_order order, ncclGinFenceLevel fence) {
  this->sync_within(order, fence, anygin::gin::kNoTimeout, ANYGIN_CALL_SITE());
}
template <typename Coop>
NCCL_DEVICE_INLINE ncclResult_t ncclGinBarrierSession<Coop>::sync(Coop, cuda::memory_order order,
                                                                  ncclGinFenceLevel fence, uint64_t timeoutCycles) {
  return this->sync_within(order, fence, timeoutCycles, ANYGIN_CALL_SITE());
}

template <typename Coop>
NCCL_DEVICE_INLINE void ncclGinBarrier(Coop coop, ncclGin net, ncclTeam team, ncclGinBarrierHandle handle,
                                       uint32_t index, cuda::memory_order order, ncclGinFenceLevel fence) {
  ncclGinBarrierSession<Coop> session(coop, net, team, handle, index);
  session.sync(coop, order, fence);
}
template <typename Coop>
NCCL_DEVICE_INLINE void ncclGinBarrier(Coop coop, ncclGin net, ncclTeamTagRail tag, uint32_t index,
                                       cuda::memory_order order, ncclGinFenceLevel fence) {
  ncclGinBarrierSession<Coop> session(coop, net, tag, index);
  session.sync(coop, order, fence);
}
template <typename Coop>
NCCL_DEVICE_INLINE void ncclGinBarrier(Coop coop, ncclGin net, ncclTeamTagWorld tag, uint32_t index,
                                       cuda::memory_order order, ncclGinFenceLevel fence) {
  ncclGinBarrierSession<Coop> session(coop, net, tag, index);
  session.sync(coop, order, fence);
}
template <typename Coop>
NCCL_DEVICE_INLINE void ncclGinBarrier(Coop coop, ncclGinAllContexts contexts, ncclTeam team,
                                       ncclGinBarrierHandle handle, uint32_t index, cuda::memory_order order,
                                       ncclGinFenceLevel fence) {
  ncclGinBarrierSession<Coop> session(coop, contexts, team, handle, index);
  session.sync(coop, order, fence);
}
template <typename Coop>
NCCL_DEVICE_INLINE void ncclGinBarrier(Coop coop, ncclGinAllContexts contexts, ncclTeamTagRail tag, uint32_t index,
                                       cuda::memory_order order, ncclGinFenceLevel fence) {
  ncclGinBarrierSession<Coop> session(coop, contexts, tag, index);
  session.sync(coop, order, fence);
}
template <typename Coop>
NCCL_DEVICE_INLINE void ncclGinBarrier(Coop coop, ncclGinAllContexts contexts, ncclTeamTagWorld tag, uint32_t index,
                                       cuda::memory_order order, ncclGinFenceLevel fence) {
  ncclGinBarrierSession<Coop> session(coop, contexts, tag, index);
  session.sync(coop, order, fence);
}
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_GIN_BARRIER__FUNCS_H_
