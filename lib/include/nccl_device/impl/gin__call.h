// SPDX-License-Identifier: Apache-2.0
// Below ncclGin's templates: one plain function an operation. It checks what the caller named, so that nothing wild
// leaves for a NIC, and hands a request to the backend. Called by one thread of the coop.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_GIN__CALL_H_
#define ANYGIN_NCCL_DEVICE_IMPL_GIN__CALL_H_

#include "../gin.h"
#include "../gin/gin_device_api.h"
#include "anygin/base/mutant.h"
#include "gin__checks.h"

#if NCCL_CHECK_CUDACC
namespace anygin {
namespace gin {

inline constexpr uint64_t kNoTimeout = ~uint64_t{0};

struct PutCall {
  ncclWindow_t destination = nullptr;
  ncclWindow_t source = nullptr;
  ncclGinSignalDescriptor signal{};
  ncclGinSignalOp_t signal_op = ncclGinSignalInc;
  uint64_t signal_argument = 0;
  bool device_only = false;  // ncclGin_SegmentDevice
  bool of_library = false;   // a barrier's signal may be strong though the program did without
  PutRequest request;        // all but windows, signal and peer
};

struct GetCall {
  ncclWindow_t remote = nullptr;
  ncclWindow_t local = nullptr;
  bool device_only = false;  // ncclGin_SegmentDevice
  GetRequest request;
};

NCCL_DEVICE_INLINE int backend_peer(const ncclDevComm& comm, int world) {
  return comm.ginConnectionsRailed ? world / comm.lsaSize : world;
}

template <typename Fail>
NCCL_DEVICE_INLINE void check_asked_put(const Call& call, int world, const PutCall& put, const Fail& fail) {
  const PutRequest& request = put.request;
  if (request.bytes > 0) check_asked_window(put.destination, fail);
  if (request.bytes > 0 && !request.is_inline) check_asked_window(put.source, fail);
  if (request.has_counter) check_counter_id(call, request.counter, fail);
  const ncclGinSignalDescriptor& signal = put.signal;
  if (signal.type == NCCL_GIN_SIGNAL_TYPE_NONE) return;
  if (signal.isStrong && !put.of_library && !call.comm->ginStrongLegacySignals && !MUTANT(nccl_strength_ungranted)) {
    fail(Finding{MisuseKind::kStrongNotGranted, world});
  }
  if (signal.type == NCCL_GIN_SIGNAL_TYPE_INDEXED) return;
  check_asked_signal_place(signal.vaSignal.ncclWindow, world, signal.vaSignal.signalOffset, fail);
}

template <typename Fail>
NCCL_DEVICE_INLINE void check_stored_put(const Call& call, int world, const PutCall& put, const Fail& fail) {
  const PutRequest& request = put.request;
  if (request.bytes > 0) {
    check_stored_window(call, put.destination, fail);
    check_stored_memory(put.destination, put.device_only, fail);
    check_stored_range(
        {put.destination, world, request.destination_offset, request.bytes, MisuseKind::kDestinationRange}, fail);
  }
  if (request.bytes > 0 && !request.is_inline) {
    check_stored_window(call, put.source, fail);
    check_stored_memory(put.source, put.device_only, fail);
    check_stored_range({put.source, call.comm->rank, request.source_offset, request.bytes, MisuseKind::kSourceRange},
                       fail);
  }
  if (put.signal.type == NCCL_GIN_SIGNAL_TYPE_INDEXED) {
    check_stored_signal_id(call, put.signal.indexedSignal.signalId, fail);
  }
  if (put.signal.type != NCCL_GIN_SIGNAL_TYPE_VA) return;
  const ncclGinSignalDescriptor::VaSignal& place = put.signal.vaSignal;
  if (!call.comm->resourceWindow_inlined.view->vaSignals) fail(Finding{MisuseKind::kVaNotGranted, world});
  check_stored_signal_place(call, place.ncclWindow, world, place.signalOffset, fail);
}

// Of a signal that was checked.
NCCL_DEVICE_INLINE DeviceSignal backend_signal(const PutCall& put) {
  return device_signal(put.signal, put.signal_op, put.signal_argument);
}

// --- Operations ------------------------------------------------------------------------------------------------------
ANYGIN_NCCL_OUTLINED void post_put(const Call& call, ncclTeam team, int peer, PutCall& put) {
  const int world = ncclTeamRankToWorld(*call.comm, team, peer);
  require(
      call,
      [&](const auto& fail) {
        check_asked_communicator(call, fail);
        check_peer(call, team, peer, world, fail);
        check_asked_put(call, world, put, fail);
      },
      [&](const auto& fail) {
        check_stored_communicator(call, fail);
        check_stored_peer(call, world, fail);
        check_stored_put(call, world, put, fail);
      });
  PutRequest& request = put.request;
  if (MUTANT(nccl_empty_put_dropped) && call.name == DeviceCall::kPut && request.bytes == 0) return;
  request.peer = backend_peer(*call.comm, world);
  request.call_site = call.call_site;
  if (request.bytes > 0) {
    request.destination_window = put.destination->id;
    if (!request.is_inline) request.source_window = put.source->id;
  }
  request.signal = backend_signal(put);
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
  const int world = ncclTeamRankToWorld(*call.comm, team, peer);
  GetRequest& request = get.request;
  const bool moves = request.bytes > 0;
  require(
      call,
      [&](const auto& fail) {
        check_asked_communicator(call, fail);
        check_peer(call, team, peer, world, fail);
        if (moves) check_asked_window(get.remote, fail);
        if (moves) check_asked_window(get.local, fail);
      },
      [&](const auto& fail) {
        check_stored_communicator(call, fail);
        check_stored_peer(call, world, fail);
        if (!moves) return;
        check_stored_window(call, get.remote, fail);
        check_stored_window(call, get.local, fail);
        check_stored_memory(get.remote, get.device_only, fail);
        check_stored_memory(get.local, get.device_only, fail);
        check_stored_range({get.remote, world, request.remote_offset, request.bytes, MisuseKind::kSourceRange}, fail);
        check_stored_range(
            {get.local, call.comm->rank, request.local_offset, request.bytes, MisuseKind::kDestinationRange}, fail);
      });
  if (!moves) return;
  request.peer = backend_peer(*call.comm, world);
  request.call_site = call.call_site;
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
  require(
      call, [bits](const auto& fail) { check_bits(bits, fail); }, NothingStored{});
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
  require(
      call, [bits](const auto& fail) { check_bits(bits, fail); }, NothingStored{});
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
  require(
      call, [&](const auto& fail) { check_asked_communicator(call, fail); },
      [&](const auto& fail) {
        check_stored_communicator(call, fail);
        check_stored_signal_id(call, id, fail);
      });
  return proxy_signal_cell(device_context(call.ctx), id);
}
NCCL_DEVICE_INLINE CellRef counter_cell(const Call& call, ncclGinCounter_t id) {
  require(
      call,
      [&](const auto& fail) {
        check_asked_communicator(call, fail);
        check_counter_id(call, id, fail);
      },
      [&](const auto& fail) { check_stored_communicator(call, fail); });
  return proxy_counter_cell(device_context(call.ctx), id);
}
NCCL_DEVICE_INLINE CellRef va_signal_cell(const Call& call, ncclWindow_t window, size_t offset) {
  require(
      call,
      [&](const auto& fail) {
        check_asked_communicator(call, fail);
        check_asked_signal_place(window, call.comm->rank, offset, fail);
      },
      [&](const auto& fail) {
        check_stored_communicator(call, fail);
        check_stored_signal_place(call, window, call.comm->rank, offset, fail);
      });
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
