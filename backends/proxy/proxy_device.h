// SPDX-License-Identifier: Apache-2.0
// The proxy's device half: a put or get becomes descriptors in the ring of (context, peer), which the engine reads.
// Signals are cells that NICs add to, counters are cells that the engine adds to; a reset remembers the raw value
// (contract 7.9.8), so that nothing that arrives later is lost. C++17: cpu target, CUDA, host code. See
// device_backend.h for what each function promises.
#pragma once

#include <type_traits>

#include "anygin/backends/device_backend.h"
#include "anygin/base/mutant.h"
#include "anygin/base/order.h"
#include "anygin/proxy/proxy_gfd.h"

namespace anygin::proxy {

struct PeerWords {
  alignas(kCacheLine) uint64_t consumed;  // the engine writes: operations locally complete, in order; a RingIndex
};

// Beside the kernels; where those run in another memory than the engine, it does not read them.
struct PeerClaims {
  alignas(kCacheLine) uint32_t produced;  // descriptors claimed
  uint32_t consumed_seen;                 // an earlier value of `consumed`, where reading that takes long
};

// One context, for kernels: plain pointers into memory that device and engine share. Owned by ContextMemory; valid
// until it is destroyed. Its claims follow it, so that a kernel finds both without a load in between.
struct alignas(kCacheLine) ContextView {
  // Fixed after creation, in the order in which a GPU needs it: 32 bytes are one load there.
  uint32_t rank_count;
  uint32_t depth_log2;
  uint32_t signal_count;
  uint32_t counter_count;
  Gfd* rings;                // devices write, the engine reads: rank_count rings of 1 << depth_log2
  PeerWords* peers;          // the engine writes, devices read: rank_count
  const uint64_t* signals;   // NICs write, devices read
  uint64_t* signal_bases;    // devices only
  const uint64_t* counters;  // the engine writes, devices read
  uint64_t* counter_bases;   // devices only
  void* engine;              // for ring_doorbell
  uint64_t* dirty_peers;     // devices write, the engine reads: a bit a peer: its ring has new descriptors
  uint64_t* doorbell;        // devices write, the engine reads: a bit a context: it has dirty peers
  uint64_t doorbell_bit;     // this context, in *doorbell
};
static_assert(std::is_trivially_copyable_v<ContextView> && std::is_standard_layout_v<ContextView>,
              "kernels get it as bytes");

// From one context to the next.
ANYGIN_HOST_DEVICE constexpr size_t context_bytes(uint32_t peers) {
  return sizeof(ContextView) + peers * sizeof(PeerClaims);
}
// Devices write. The engine reads claims where kernels are code of its process.
ANYGIN_HOST_DEVICE inline PeerClaims* claims_of(const ContextView& view) {
  return reinterpret_cast<PeerClaims*>(const_cast<ContextView*>(&view + 1));
}

ANYGIN_DEVICE inline const ContextView& view_of(const DeviceContext& context) {
  const size_t offset = context.context * context_bytes(static_cast<uint32_t>(context.rank_count));
  return *reinterpret_cast<const ContextView*>(static_cast<const char*>(context.handle) + offset);
}

// One peer's ring. A lane looks it up before it claims a slot: what it reads is on its way together.
struct PeerRing {
  Gfd* slots;
  int depth_log2;
};
ANYGIN_DEVICE inline PeerRing ring_of(const ContextView& view, int peer) {
  return {view.rings + (static_cast<uint64_t>(static_cast<uint32_t>(peer)) << view.depth_log2),
          static_cast<int>(view.depth_log2)};
}

// The consumer index of a ring, and a wait for it to reach `want`.
ANYGIN_DEVICE inline RingIndex load_index(const uint64_t* consumed) {
  return RingIndex(static_cast<uint32_t>(poll(consumed)));
}
ANYGIN_DEVICE inline WaitReason reason_of(const DeviceContext& context, WaitKind kind, int peer, RingIndex want,
                                          const void* call_site) {
  WaitReason reason;
  reason.kind = kind;
  reason.rank = context.rank;
  reason.peer = peer;
  reason.context = context.context;
  reason.bits = 32;
  reason.want = want.raw();
  reason.cell = &view_of(context).peers[peer].consumed;
  reason.call_site = call_site;
  return reason;
}

// Waits until the ring has room for `index` (P33: a full ring delays). False if the context was aborted. `seen` is an
// earlier value of the consumer index, where reading that takes long.
ANYGIN_DEVICE inline bool wait_for_credit(const DeviceContext& context, int peer, int depth_log2, RingIndex index,
                                          RingIndex* seen, const void* call_site) {
  const ContextView& view = view_of(context);
  const uint64_t* consumed = &view.peers[peer].consumed;
  const uint32_t depth = (uint32_t{1} << depth_log2) + (MUTANT(proxy_credit_off_by_one) ? 1u : 0u);
  const auto has_credit = [consumed, index, depth] { return index.distance_from(load_index(consumed)) < depth; };
  const RingIndex want = index + (1 - depth);
#if defined(ANYGIN_TARGET_CUDA)
  if (index.distance_from(*seen) < depth) return true;
#endif
  const WaitOutcome outcome =
      wait_until(has_credit, context.abort_word, reason_of(context, WaitKind::kCredit, peer, want, call_site));
#if defined(ANYGIN_TARGET_CUDA)
  *seen = load_index(consumed);
  // Of several lanes an older value may stay: it promises less.
  store_relaxed(&claims_of(view)[peer].consumed_seen, seen->raw());
#else
  (void)seen;
#endif
  return outcome == WaitOutcome::kSatisfied;
}

// Tells the engine that the ring of `peer` has a new descriptor. Engines of CUDA kernels look at every ring.
ANYGIN_DEVICE inline void ring_peer(const ContextView& view, int peer) {
#if defined(ANYGIN_TARGET_CUDA)
  (void)view, (void)peer;
#else
  const uint32_t bit = static_cast<uint32_t>(peer);
  raise_bits(&view.dirty_peers[bit / 64], uint64_t{1} << (bit % 64));
  ring_doorbell(view.doorbell, view.doorbell_bit, view.engine);
#endif
}

// Writes one descriptor into its slot; the slot is the caller's. Word 0 goes last: it makes the others official, and
// its release is the system-scope release that the kernel's earlier writes need.
ANYGIN_DEVICE inline void post_gfd(const ContextView& view, int peer, const PeerRing& ring, RingIndex index,
                                   const GfdFields& fields) {
  uint64_t words[kGfdWords];
  encode_gfd(fields, lap_tag(index, ring.depth_log2), words);
  uint64_t* slot = ring.slots[slot_of(index, ring.depth_log2)].words;
#if defined(ANYGIN_MUTANTS)
  if (MUTANT(proxy_publish_before_payload)) {
    publish(&slot[0], words[0]);
    ring_peer(view, peer);
    anygin_yield();
  }
#endif
  store_words<1, kGfdWords>(slot, words);
  publish(&slot[0], words[0]);
  if (!MUTANT(proxy_lost_doorbell)) ring_peer(view, peer);
}

// Posts `bytes` in pieces of at most kGfdBytesMax; `last` holds the fields of the last piece, and places of the first.
ANYGIN_DEVICE inline void post_pieces(const DeviceContext& context, int peer, GfdFields last, uint64_t bytes) {
  const ContextView& view = view_of(context);
  const uint32_t more = bytes == 0 ? 0 : static_cast<uint32_t>((bytes - 1) / kGfdBytesMax);
  const PeerRing ring = ring_of(view, peer);
  PeerClaims& claims = claims_of(view)[peer];
  const RingIndex first(claim(&claims.produced, more + 1));
  RingIndex seen(load_relaxed(&claims.consumed_seen));
  const void* call_site = reinterpret_cast<const void*>(last.call_site);
  last.operation = first.raw();
  for (uint32_t i = 0; i <= more; ++i) {
    const uint64_t done = i * kGfdBytesMax;
    GfdFields piece = last;
    if (i < more) piece.has_signal = piece.strong = piece.signal_in_window = piece.has_counter = false;
    piece.bytes = static_cast<uint32_t>(i < more ? kGfdBytesMax : bytes - done);
    if (piece.bytes > 0) {
      piece.local.offset += done;
      piece.remote.offset += done;
    }
    if (!wait_for_credit(context, peer, ring.depth_log2, first + i, &seen, call_site)) return;
    post_gfd(view, peer, ring, first + i, piece);
  }
}

}  // namespace anygin::proxy

namespace anygin {

// The signal of a put in pieces is strong: it promises all of them (P1), and a weak one may overtake earlier pieces.
ANYGIN_DEVICE inline void proxy_put(const DeviceContext& context, const PutRequest& request) {
  const DeviceSignal& signal = request.signal;
  proxy::GfdFields gfd;
  gfd.has_signal = signal.target != SignalTarget::kNone;
  gfd.has_counter = request.has_counter;
  if (request.bytes == 0 && !gfd.has_signal && !gfd.has_counter) return;
  gfd.op = request.is_inline ? proxy::GfdOp::kPutInline : proxy::GfdOp::kPut;
  gfd.inline_value = request.inline_value;
  gfd.local.window = request.source_window;
  gfd.local.offset = request.source_offset;
  gfd.remote.window = request.destination_window;
  gfd.remote.offset = request.destination_offset;
  if (gfd.has_signal) {
    gfd.strong = signal.strong || request.bytes > proxy::kGfdBytesMax;
    gfd.signal_in_window = signal.target == SignalTarget::kWindow;
    gfd.signal_id = MUTANT(proxy_signal_of_16_bits) ? static_cast<uint16_t>(signal.id) : signal.id;
    gfd.signal_place.window = signal.window;
    gfd.signal_place.offset = signal.offset;
    gfd.signal_add = signal.add;
  }
  gfd.counter_id = request.counter;
  gfd.call_site = reinterpret_cast<uint64_t>(request.call_site);
  proxy::post_pieces(context, request.peer, gfd, request.bytes);
}

ANYGIN_DEVICE inline void proxy_get(const DeviceContext& context, const GetRequest& request) {
  if (request.bytes == 0) return;
  proxy::GfdFields gfd;
  gfd.op = proxy::GfdOp::kGet;
  gfd.local.window = request.local_window;
  gfd.local.offset = request.local_offset;
  gfd.remote.window = request.remote_window;
  gfd.remote.offset = request.remote_offset;
  gfd.call_site = reinterpret_cast<uint64_t>(request.call_site);
  proxy::post_pieces(context, request.peer, gfd, request.bytes);
}

// A request names its peer and the first index that it need not wait for.
ANYGIN_DEVICE inline void proxy_flush_async(const DeviceContext& context, int peer, FlushRequest* request) {
  request->opaque[0] = static_cast<uint64_t>(static_cast<uint32_t>(peer));
  const uint32_t produced = load_relaxed(&proxy::claims_of(proxy::view_of(context))[peer].produced);
  request->opaque[1] = MUTANT(proxy_flush_one_short) ? produced - 1 : produced;
}

ANYGIN_DEVICE inline WaitOutcome proxy_wait(const DeviceContext& context, const FlushRequest& request, Time deadline) {
  const int peer = static_cast<int>(request.opaque[0]);
  const proxy::RingIndex want(static_cast<uint32_t>(request.opaque[1]));
  const uint64_t* consumed = &proxy::view_of(context).peers[peer].consumed;
  const auto complete = [consumed, want] { return !before(proxy::load_index(consumed), want); };
  return wait_until(complete, context.abort_word, proxy::reason_of(context, WaitKind::kFlush, peer, want, nullptr),
                    deadline);
}

ANYGIN_DEVICE inline CellRef proxy_signal_cell(const DeviceContext& context, uint32_t id) {
  const proxy::ContextView& view = proxy::view_of(context);
  CellRef cell;
  cell.cell = const_cast<uint64_t*>(&view.signals[id]);
  cell.base = &view.signal_bases[id];
  return cell;
}

ANYGIN_DEVICE inline CellRef proxy_counter_cell(const DeviceContext& context, uint32_t id) {
  const proxy::ContextView& view = proxy::view_of(context);
  CellRef cell;
  cell.cell = const_cast<uint64_t*>(&view.counters[id]);
  cell.base = &view.counter_bases[id];
  return cell;
}

ANYGIN_DEVICE inline void proxy_reset_signal(const DeviceContext& context, uint32_t id) {
  const proxy::ContextView& view = proxy::view_of(context);
  if (!MUTANT(proxy_signal_reset_lost)) store_relaxed(&view.signal_bases[id], load_relaxed(&view.signals[id]));
}

ANYGIN_DEVICE inline void proxy_reset_counter(const DeviceContext& context, uint32_t id) {
  const proxy::ContextView& view = proxy::view_of(context);
  if (!MUTANT(proxy_counter_reset_lost)) store_relaxed(&view.counter_bases[id], load_relaxed(&view.counters[id]));
}

}  // namespace anygin
