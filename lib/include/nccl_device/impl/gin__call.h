// SPDX-License-Identifier: Apache-2.0
// Below ncclGin's templates: one plain function an operation. It checks what the caller named, so that nothing wild
// leaves for a NIC, and hands a request to the backend. Called by one thread of the coop.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_GIN__CALL_H_
#define ANYGIN_NCCL_DEVICE_IMPL_GIN__CALL_H_

#include "../gin.h"
#include "../gin/gin_device_api.h"
#include "anygin/backends/misuse.h"
#include "anygin/base/mutant.h"
#include "comm__funcs.h"
#include "core__funcs.h"

#if NCCL_CHECK_CUDACC
#if defined(ANYGIN_TARGET_CPU)
#define ANYGIN_NCCL_OUTLINED inline __attribute__((noinline))
#else
#define ANYGIN_NCCL_OUTLINED __device__ __noinline__ inline
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

inline constexpr uint64_t kNoTimeout = ~uint64_t{0};

struct PutCall {
  ncclWindow_t destination = nullptr;
  ncclWindow_t source = nullptr;
  ncclGinSignalDescriptor signal{};
  ncclGinSignalOp_t signal_op = ncclGinSignalInc;
  uint64_t signal_argument = 0;
  bool of_library = false;  // a barrier's signal may be strong though the program did without
  PutRequest request;       // all but windows, signal and peer
};

struct GetCall {
  ncclWindow_t remote = nullptr;
  ncclWindow_t local = nullptr;
  GetRequest request;
};

// The coop meets behind what one of its lanes did. A lane that left the kernel meanwhile takes the others with it.
template <typename Coop>
NCCL_DEVICE_INLINE void meet(Coop& coop, ncclDevComm const& comm) {
  coop.sync();
  leave_with_others(comm.abortFlag);
}

// --- Checks ----------------------------------------------------------------------------------------------------------
ANYGIN_NCCL_OUTLINED void misuse(const Call& call, MisuseKind kind, int peer, uint64_t value, uint64_t limit,
                                 uint64_t bytes = 0) {
  const anyginDevCommView* view = call.comm->resourceWindow_inlined.view;
  Misuse misuse;
  misuse.kind = kind;
  misuse.call = call.name;
  misuse.rank = call.comm->rank;
  misuse.peer = peer;
  misuse.context = call.context;
  misuse.value = value;
  misuse.bytes = bytes;
  misuse.limit = limit;
  misuse.call_site = call.call_site;
  misuse.abort_word = call.comm->abortFlag;
  misuse.sink = view ? view->misuseSink : nullptr;
  report_misuse(misuse);
}

// The device communicator is alive and has GIN.
NCCL_DEVICE_INLINE void check_communicator(const Call& call) {
  const anyginDevCommView* view = call.comm->resourceWindow_inlined.view;
  if (view == nullptr || view->live != kAnyginDevCommLive) misuse(call, MisuseKind::kDeadCommunicator, -1, 0, 0);
  if (call.ctx.handle == nullptr) misuse(call, MisuseKind::kNoGin, -1, 0, 0);
}

// World rank of rank `peer` of `team`.
NCCL_DEVICE_INLINE int checked_peer(const Call& call, ncclTeam team, int peer) {
  const ncclDevComm& comm = *call.comm;
  const int world = ncclTeamRankToWorld(comm, team, peer);
  if (static_cast<unsigned>(peer) >= static_cast<unsigned>(team.nRanks) ||
      static_cast<unsigned>(world) >= static_cast<unsigned>(comm.nRanks)) {
    misuse(call, MisuseKind::kPeer, world, static_cast<uint64_t>(static_cast<int64_t>(peer)),
           static_cast<uint64_t>(team.nRanks));
  }
  if ((comm.ginConnectionsRailed || comm.ginContextsRailed) && world % comm.lsaSize != comm.lsaRank) {
    misuse(call, MisuseKind::kPeerOffRail, world, static_cast<uint64_t>(world), static_cast<uint64_t>(comm.lsaSize));
  }
  return world;
}

NCCL_DEVICE_INLINE int backend_peer(const ncclDevComm& comm, int world) {
  return comm.ginConnectionsRailed ? world / comm.lsaSize : world;
}

NCCL_DEVICE_INLINE void check_window(const Call& call, ncclWindow_t window) {
  if (window == nullptr) misuse(call, MisuseKind::kNullWindow, -1, 0, 0);
  if (window->live != kAnyginWindowLive) misuse(call, MisuseKind::kDeadWindow, -1, 0, 0);
  if (window->communicator != call.comm->resourceWindow_inlined.view->communicator) {
    misuse(call, MisuseKind::kForeignWindow, -1, 0, 0);
  }
}

// [offset, offset + bytes) lies within what `rank` registered.
NCCL_DEVICE_INLINE void check_range(const Call& call, ncclWindow_t window, int rank, uint64_t offset, uint64_t bytes,
                                    MisuseKind kind) {
  if (MUTANT(nccl_range_unchecked)) return;
  const uint64_t size = window->sizes[rank];
  if (offset > size || bytes > size - offset) misuse(call, kind, rank, offset, size, bytes);
}

NCCL_DEVICE_INLINE void check_bits(const Call& call, int bits) {
  if (bits < 1 || bits > 64) {
    misuse(call, MisuseKind::kBits, -1, static_cast<uint64_t>(static_cast<int64_t>(bits)), 64);
  }
}

// A place of a signal within the window of `rank`.
NCCL_DEVICE_INLINE void check_signal_place(const Call& call, ncclWindow_t window, int rank, uint64_t offset) {
  check_window(call, window);
  if ((window->flags & NCCL_WIN_STRICT_ORDERING) == 0) misuse(call, MisuseKind::kSignalNotOrdered, rank, offset, 0);
  if (offset % 8 != 0) misuse(call, MisuseKind::kSignalMisaligned, rank, offset, 8);
  check_range(call, window, rank, offset, 8, MisuseKind::kSignalRange);
}

NCCL_DEVICE_INLINE void check_signal_id(const Call& call, ncclGinSignal_t id) {
  const anyginDevCommView& view = *call.comm->resourceWindow_inlined.view;
  const uint32_t signals = static_cast<uint32_t>(call.comm->ginSignalCount);
  const bool reserved = id >= view.reservedSignal0 && id < view.reservedSignalEnd;
  if (reserved && call.name != DeviceCall::kGinBarrier && !MUTANT(nccl_signal_reserved)) {
    misuse(call, MisuseKind::kSignalReserved, -1, id, view.reservedSignal0);
  }
  if (id >= signals && !MUTANT(nccl_signal_unchecked)) {
    const bool own_only = view.reservedSignalEnd == signals;  // all behind the program's own are the library's
    misuse(call, MisuseKind::kSignalIndex, -1, id, own_only ? view.reservedSignal0 : signals);
  }
}
NCCL_DEVICE_INLINE void check_counter_id(const Call& call, ncclGinCounter_t id) {
  if (id >= static_cast<uint32_t>(call.comm->ginCounterCount)) {
    misuse(call, MisuseKind::kCounterIndex, -1, id, static_cast<uint64_t>(call.comm->ginCounterCount));
  }
}

ANYGIN_NCCL_OUTLINED DeviceSignal checked_signal(const Call& call, int world, const PutCall& put) {
  ncclGinSignalDescriptor descriptor = put.signal;
  if (descriptor.type == NCCL_GIN_SIGNAL_TYPE_NONE) return DeviceSignal{};
  if (descriptor.isStrong && !put.of_library && !call.comm->ginStrongLegacySignals) {
    misuse(call, MisuseKind::kStrongNotGranted, world, 0, 0);
  }
  if (descriptor.type == NCCL_GIN_SIGNAL_TYPE_VA) {
    ncclWindow_t window = descriptor.vaSignal.ncclWindow;
    if (!call.comm->resourceWindow_inlined.view->vaSignals) misuse(call, MisuseKind::kVaNotGranted, world, 0, 0);
    check_signal_place(call, window, world, descriptor.vaSignal.signalOffset);
    descriptor.vaSignal.signalWindow = reinterpret_cast<ncclGinWindow_t>(static_cast<uintptr_t>(window->id.value));
  } else {
    check_signal_id(call, descriptor.indexedSignal.signalId);
  }
  return device_signal(descriptor, put.signal_op, put.signal_argument);
}

// --- Operations ------------------------------------------------------------------------------------------------------
ANYGIN_NCCL_OUTLINED void post_put(const Call& call, ncclTeam team, int peer, PutCall& put) {
  check_communicator(call);
  const int world = checked_peer(call, team, peer);
  PutRequest& request = put.request;
  if (MUTANT(nccl_empty_put_dropped) && call.name == DeviceCall::kPut && request.bytes == 0) return;
  request.peer = backend_peer(*call.comm, world);
  request.call_site = call.call_site;
  if (request.bytes > 0) {
    check_window(call, put.destination);
    check_range(call, put.destination, world, request.destination_offset, request.bytes, MisuseKind::kDestinationRange);
    request.destination_window = put.destination->id;
    if (!request.is_inline) {
      check_window(call, put.source);
      check_range(call, put.source, call.comm->rank, request.source_offset, request.bytes, MisuseKind::kSourceRange);
      request.source_window = put.source->id;
    }
  }
  if (request.has_counter) check_counter_id(call, request.counter);
  request.signal = checked_signal(call, world, put);
  proxy_put(device_context(call.ctx), request);
}

// A value of 1 to 8 bytes; sizes that are no power of two go in pieces, and the signal, on the last, covers all.
ANYGIN_NCCL_OUTLINED void post_value(const Call& call, ncclTeam team, int peer, PutCall& whole) {
  const uint64_t bytes = whole.request.bytes;
  const uint64_t offset = whole.request.destination_offset;
  const uint64_t value = whole.request.inline_value;
  for (uint64_t done = 0; done < bytes;) {
    const uint64_t rest = bytes - done;
    const uint64_t size = rest >= 8 ? 8 : rest >= 4 ? 4 : rest >= 2 ? 2 : 1;
    PutCall piece = whole;
    piece.request.is_inline = true;
    piece.request.bytes = MUTANT(nccl_value_of_eight) ? 8 : size;
    piece.request.destination_offset = offset + done;
    piece.request.inline_value = value >> (8 * done);
    if (size < rest) piece.signal = ncclGinSignalDescriptor{};
    if (size < bytes && size == rest) {
      piece.of_library = !piece.signal.isStrong;  // strong for the pieces' sake
      piece.signal.isStrong = true;
    }
    post_put(call, team, peer, piece);
    done += size;
  }
}

ANYGIN_NCCL_OUTLINED void post_get(const Call& call, ncclTeam team, int peer, GetCall& get) {
  check_communicator(call);
  const int world = checked_peer(call, team, peer);
  GetRequest& request = get.request;
  request.peer = backend_peer(*call.comm, world);
  request.call_site = call.call_site;
  if (request.bytes == 0) return;
  check_window(call, get.remote);
  check_window(call, get.local);
  check_range(call, get.remote, world, request.remote_offset, request.bytes, MisuseKind::kSourceRange);
  check_range(call, get.local, call.comm->rank, request.local_offset, request.bytes, MisuseKind::kDestinationRange);
  request.remote_window = get.remote->id;
  request.local_window = get.local->id;
  proxy_get(device_context(call.ctx), request);
}

// --- Waits and reads -------------------------------------------------------------------------------------------------
// `cycles` of clock64() from now, as a deadline. On CUDA a cycle counts as a nanosecond of the global timer, so that
// the deadline is late by the factor of the clock rate in GHz.
NCCL_DEVICE_INLINE Time deadline_after(uint64_t cycles) {
  if (cycles == kNoTimeout) return kNever;
#if defined(ANYGIN_TARGET_CPU)
  const uint64_t now_ns = ::anygin::simt::anygin_clock_ns();  // clock64() counts the same
#else
  uint64_t now_ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns));
#endif
  return cycles >= kNever / kNanosecond - 1 - now_ns ? kNever : (now_ns + cycles) * kNanosecond;
}

// A limit that began when a thread entered a call, for several waits in a row.
struct Limit {
  uint64_t cycles;
  uint64_t start;

  NCCL_DEVICE_INLINE explicit Limit(uint64_t limit_cycles) : cycles(limit_cycles), start(0) {
    if (limit_cycles != kNoTimeout) start = static_cast<uint64_t>(clock64());
  }
  NCCL_DEVICE_INLINE uint64_t rest() const {
    if (cycles == kNoTimeout) return kNoTimeout;
    const uint64_t took = static_cast<uint64_t>(clock64()) - start;
    return took < cycles ? cycles - took : 0;
  }
};

// wait_until with a limit in cycles of clock64() from now.
template <typename Predicate>
NCCL_DEVICE_INLINE WaitOutcome wait_limited(const Predicate& predicate, const uint32_t* abort_word,
                                            const WaitReason& reason, uint64_t timeout_cycles) {
  if (timeout_cycles == kNoTimeout) return wait_until(predicate, abort_word, reason);
#if defined(ANYGIN_TARGET_CPU)
  return wait_until(predicate, abort_word, reason, deadline_after(timeout_cycles));
#else
  const uint64_t start = static_cast<uint64_t>(clock64());
  bool late = false;
  const auto reached_or_late = [&] {
    if (predicate()) return true;
    late = static_cast<uint64_t>(clock64()) - start > timeout_cycles;
    return late;
  };
  const WaitOutcome outcome = wait_until(reached_or_late, abort_word, reason);
  return late ? WaitOutcome::kDeadline : outcome;
#endif
}

NCCL_DEVICE_INLINE uint64_t value_of(const CellRef& cell) {
  const uint64_t base = cell.base ? load_relaxed(cell.base) : 0;
  return poll(cell.cell) - base;
}

ANYGIN_NCCL_OUTLINED uint64_t read_cell(const Call& call, const CellRef& cell, int bits, cuda::memory_order order) {
  check_bits(call, bits);
  const uint64_t value = value_of(cell);
  if (order != cuda::memory_order_relaxed) observe_then_read();
  return value & (~uint64_t{0} >> (64 - bits));
}

// What a wait waits for: a cell of this context.
struct Awaited {
  CellRef cell;
  WaitKind kind = WaitKind::kSignal;
  uint32_t index = 0;
  int peer = -1;
};

ANYGIN_NCCL_OUTLINED WaitOutcome wait_cell(const Call& call, const Awaited& awaited, uint64_t least, int bits,
                                           uint64_t timeout_cycles) {
  check_bits(call, bits);
  const CellRef cell = awaited.cell;
  const auto reached = [cell, least, bits] {
    if (MUTANT(nccl_compare_plain)) return value_of(cell) << (64 - bits) >= least << (64 - bits);
    return rolling_reached(least, value_of(cell), bits);
  };
  WaitReason reason;
  reason.kind = awaited.kind;
  reason.rank = call.comm->rank;
  reason.peer = awaited.peer;
  reason.context = call.context;
  reason.index = awaited.index;
  reason.bits = bits;
  reason.want = least;
  reason.cell = cell.cell;
  reason.offset = cell.base ? load_relaxed(cell.base) : 0;
  reason.call_site = call.call_site;
  return wait_limited(reached, call.ctx.abortFlag, reason, timeout_cycles);
}

NCCL_DEVICE_INLINE CellRef signal_cell(const Call& call, ncclGinSignal_t id) {
  check_communicator(call);
  check_signal_id(call, id);
  return proxy_signal_cell(device_context(call.ctx), id);
}
NCCL_DEVICE_INLINE CellRef counter_cell(const Call& call, ncclGinCounter_t id) {
  check_communicator(call);
  check_counter_id(call, id);
  return proxy_counter_cell(device_context(call.ctx), id);
}
NCCL_DEVICE_INLINE CellRef va_signal_cell(const Call& call, ncclWindow_t window, size_t offset) {
  check_communicator(call);
  check_signal_place(call, window, call.comm->rank, offset);
  CellRef cell;
  cell.cell = reinterpret_cast<uint64_t*>(window->lsaBases[window->lsaRank] + offset);
  return cell;
}
NCCL_DEVICE_INLINE Awaited awaited_signal(const Call& call, ncclGinSignal_t id) {
  return {signal_cell(call, id), WaitKind::kSignal, id, -1};
}
NCCL_DEVICE_INLINE Awaited awaited_counter(const Call& call, ncclGinCounter_t id) {
  return {counter_cell(call, id), WaitKind::kCounter, id, -1};
}
NCCL_DEVICE_INLINE Awaited awaited_place(const Call& call, ncclWindow_t window, size_t offset) {
  return {va_signal_cell(call, window, offset), WaitKind::kVaSignal, 0, -1};
}
NCCL_DEVICE_INLINE ncclResult_t timed_wait_cell(const Call& call, const Awaited& awaited, uint64_t least, int bits,
                                                uint64_t timeout_cycles) {
  return wait_cell(call, awaited, least, bits, timeout_cycles) == WaitOutcome::kDeadline ? ncclTimeout : ncclSuccess;
}

// Drains what was posted on the context to backend rank `peer` before.
ANYGIN_NCCL_OUTLINED WaitOutcome flush_peer(const Call& call, int peer, uint64_t timeout_cycles) {
  const DeviceContext context = device_context(call.ctx);
  FlushRequest request;
  proxy_flush_async(context, peer, &request);
  return proxy_wait(context, request, deadline_after(timeout_cycles));
}

}  // namespace gin
}  // namespace anygin
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_GIN__CALL_H_
