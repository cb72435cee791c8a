// SPDX-License-Identifier: Apache-2.0
// What the caller of ncclGin named is checked here, so that nothing wild leaves for a NIC. Called by one thread of the
// coop.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_GIN__CHECKS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_GIN__CHECKS_H_

#include "../gin.h"
#include "../gin/gin_device_api.h"
#include "anygin/backends/misuse.h"
#include "anygin/base/mutant.h"
#include "comm__funcs.h"
#include "core__funcs.h"

#if NCCL_CHECK_CUDACC
// Operations: outlined where kernels are C++ of this process (docs/decisions/0007); inlined on a GPU, where an outlined
// function reads the device communicator, a parameter of the kernel, from the thread's stack.
#if defined(ANYGIN_TARGET_CPU)
#define ANYGIN_NCCL_OUTLINED inline __attribute__((noinline))
#else
#define ANYGIN_NCCL_OUTLINED NCCL_DEVICE_INLINE
#endif

namespace anygin {
namespace gin {

// Who calls, on which context.
struct Call {
  ncclDevComm const* comm;
  ncclGinCtx ctx;
  uint32_t context;  // index of the program
  DeviceCall name;
  const void* call_site;
};

// The coop meets behind what one of its lanes did. A lane that left the kernel meanwhile takes the others with it.
template <typename Coop>
NCCL_DEVICE_INLINE void meet(Coop& coop, ncclDevComm const& comm) {
  coop.sync();
  leave_with_others(comm.abortFlag);
}

// What a check found; Misuse says what the members mean.
struct Finding {
  MisuseKind kind = MisuseKind::kKinds;
  int peer = -1;
  uint64_t value = 0;
  uint64_t limit = 0;
  uint64_t bytes = 0;
};

// Reports, and the lane leaves its kernel.
ANYGIN_NCCL_OUTLINED void misuse(const Call& call, const Finding& finding) {
  const anyginDevCommView* view = call.comm->resourceWindow_inlined.view;
  Misuse misuse;
  misuse.kind = finding.kind;
  misuse.call = call.name;
  misuse.rank = call.comm->rank;
  misuse.peer = finding.peer;
  misuse.context = call.context;
  misuse.value = finding.value;
  misuse.bytes = finding.bytes;
  misuse.limit = finding.limit;
  misuse.call_site = call.call_site;
  misuse.abort_word = call.comm->abortFlag;
  misuse.sink = view ? view->misuseSink : nullptr;
  report_misuse(misuse);
}

// Runs `asked(fail)`, which looks at what the call says, then `stored(fail)`, which looks at memory and finds what it
// is led to by a call that is right in itself. Both call fail(finding); the first finding is reported. On a GPU no look
// at memory waits for the one before, all are on their way at once; only if something is wrong is it looked for again.
template <typename Asked, typename Stored>
NCCL_DEVICE_INLINE void require(const Call& call, const Asked& asked, const Stored& stored) {
#if defined(ANYGIN_TARGET_CPU)
  const auto report = [&call](const Finding& finding) { misuse(call, finding); };
  asked(report);
  stored(report);
#else
  bool wrong = false;
  const auto note = [&wrong](const Finding&) { wrong = true; };
  asked(note);
  const bool wrong_in_itself = wrong;
  if (!wrong_in_itself) stored(note);
  if (!wrong) return;
  Finding first;
  const auto keep = [&first](const Finding& finding) {
    if (first.kind == MisuseKind::kKinds) first = finding;
  };
  asked(keep);
  if (!wrong_in_itself) stored(keep);
  misuse(call, first);
#endif
}
struct NothingStored {
  template <typename Fail>
  NCCL_DEVICE_INLINE void operator()(const Fail&) const {}
};

NCCL_DEVICE_INLINE uint64_t as_value(int number) {
  return static_cast<uint64_t>(static_cast<int64_t>(number));
}

// --- What a call says ------------------------------------------------------------------------------------------------
template <typename Fail>
NCCL_DEVICE_INLINE void check_asked_communicator(const Call& call, const Fail& fail) {
  if (call.comm->resourceWindow_inlined.view == nullptr) fail(Finding{MisuseKind::kDeadCommunicator});
  if (call.ctx.handle == nullptr) fail(Finding{MisuseKind::kNoGin});
}

// `world`: the world rank of rank `peer` of `team`.
template <typename Fail>
NCCL_DEVICE_INLINE void check_peer(const Call& call, ncclTeam team, int peer, int world, const Fail& fail) {
  const ncclDevComm& comm = *call.comm;
  if (static_cast<unsigned>(peer) >= static_cast<unsigned>(team.nRanks) ||
      static_cast<unsigned>(world) >= static_cast<unsigned>(comm.nRanks)) {
    fail(Finding{MisuseKind::kPeer, world, as_value(peer), as_value(team.nRanks)});
  }
  if ((comm.ginConnectionsRailed || comm.ginContextsRailed) && world % comm.lsaSize != comm.lsaRank) {
    fail(Finding{MisuseKind::kPeerOffRail, world, as_value(world), as_value(comm.lsaSize)});
  }
}

template <typename Fail>
NCCL_DEVICE_INLINE void check_asked_window(ncclWindow_t window, const Fail& fail) {
  if (window == nullptr) fail(Finding{MisuseKind::kNullWindow});
}

template <typename Fail>
NCCL_DEVICE_INLINE void check_asked_signal_place(ncclWindow_t window, int rank, uint64_t offset, const Fail& fail) {
  check_asked_window(window, fail);
  if (offset % 8 != 0 && !MUTANT(nccl_place_unaligned)) fail(Finding{MisuseKind::kSignalMisaligned, rank, offset, 8});
}

template <typename Fail>
NCCL_DEVICE_INLINE void check_bits(int bits, const Fail& fail) {
  if (bits < 1 || bits > 64) fail(Finding{MisuseKind::kBits, -1, as_value(bits), 64});
}

template <typename Fail>
NCCL_DEVICE_INLINE void check_counter_id(const Call& call, ncclGinCounter_t id, const Fail& fail) {
  if (id < static_cast<uint32_t>(call.comm->ginCounterCount)) return;
  fail(Finding{MisuseKind::kCounterIndex, -1, id, as_value(call.comm->ginCounterCount)});
}

// --- What is found in memory -----------------------------------------------------------------------------------------
template <typename Fail>
NCCL_DEVICE_INLINE void check_stored_communicator(const Call& call, const Fail& fail) {
  if (call.comm->resourceWindow_inlined.view->communicator == 0) fail(Finding{MisuseKind::kDeadCommunicator});
}

// `world` is a rank.
template <typename Fail>
NCCL_DEVICE_INLINE void check_stored_peer(const Call& call, int world, const Fail& fail) {
  const uint32_t* connected = call.comm->resourceWindow_inlined.view->connected;
  if (connected == nullptr || (connected[world / 32] >> (world % 32) & 1) != 0) return;
  if (!MUTANT(nccl_peer_unconnected)) fail(Finding{MisuseKind::kPeerUnconnected, world, as_value(world)});
}

template <typename Fail>
NCCL_DEVICE_INLINE void check_stored_signal_id(const Call& call, ncclGinSignal_t id, const Fail& fail) {
  const anyginDevCommView& view = *call.comm->resourceWindow_inlined.view;
  const uint32_t first = view.reservedSignal0, end = view.reservedSignalEnd;
  const auto signals = static_cast<uint32_t>(call.comm->ginSignalCount);
  const bool reserved = (id >= first) & (id < end);
  if (reserved && call.name != DeviceCall::kGinBarrier && !MUTANT(nccl_signal_reserved)) {
    fail(Finding{MisuseKind::kSignalReserved, -1, id, first});
  }
  if (id >= signals && !MUTANT(nccl_signal_unchecked)) {
    // All behind the program's own may be the library's.
    fail(Finding{MisuseKind::kSignalIndex, -1, id, end == signals ? first : signals});
  }
}

// [offset, offset + bytes) of what `rank` registered.
struct WindowRange {
  ncclWindow_t window;
  int rank;
  uint64_t offset;
  uint64_t bytes;
  MisuseKind beyond;  // what it is to be beyond it
};

template <typename Fail>
NCCL_DEVICE_INLINE void check_stored_window(const Call& call, ncclWindow_t window, const Fail& fail) {
  if (window->communicator == call.comm->resourceWindow_inlined.view->communicator) return;
  if (MUTANT(nccl_window_unowned)) return;
  fail(Finding{window->live == kAnyginWindowLive ? MisuseKind::kForeignWindow : MisuseKind::kDeadWindow});
}
// `device_only`: the call says, by ncclGin_SegmentDevice, that the window is device memory on every rank.
template <typename Fail>
NCCL_DEVICE_INLINE void check_stored_memory(ncclWindow_t window, bool device_only, const Fail& fail) {
  if (device_only && (window->flags & kAnyginWindowHostMemory) != 0 && !MUTANT(nccl_segment_unchecked)) {
    fail(Finding{MisuseKind::kSegmentTag});
  }
}
template <typename Fail>
NCCL_DEVICE_INLINE void check_stored_range(const WindowRange& range, const Fail& fail) {
  const uint64_t size = anyginWindowSizes(range.window)[range.rank];
  const bool beyond = (range.offset > size) | (range.bytes > size - range.offset);
  if (beyond && !MUTANT(nccl_range_unchecked)) {
    fail(Finding{range.beyond, range.rank, range.offset, size, range.bytes});
  }
}

// A place of a signal within the window of `rank`.
template <typename Fail>
NCCL_DEVICE_INLINE void check_stored_signal_place(const Call& call, ncclWindow_t window, int rank, uint64_t offset,
                                                  const Fail& fail) {
  check_stored_window(call, window, fail);
  if ((window->flags & NCCL_WIN_STRICT_ORDERING) == 0 && !MUTANT(nccl_place_unordered)) {
    fail(Finding{MisuseKind::kSignalNotOrdered, rank, offset});
  }
  check_stored_range({window, rank, offset, 8, MisuseKind::kSignalRange}, fail);
}

// The communicator is alive and has GIN: what every call asks.
NCCL_DEVICE_INLINE void require_communicator(const Call& call) {
  require(
      call, [&call](const auto& fail) { check_asked_communicator(call, fail); },
      [&call](const auto& fail) { check_stored_communicator(call, fail); });
}

}  // namespace gin
}  // namespace anygin
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_GIN__CHECKS_H_
