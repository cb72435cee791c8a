// SPDX-License-Identifier: Apache-2.0
#include "anygin/proxy/proxy_engine.h"

#include <fmt/format.h>

#include <bit>

#include "anygin/base/mutant.h"
#include "anygin/base/world.h"

namespace anygin::proxy {
namespace {

uint64_t ring_name(uint32_t slot, Rank peer) {
  return (uint64_t{slot} << 32) | static_cast<uint32_t>(peer);
}
uint32_t slot_of_name(uint64_t name) {
  return static_cast<uint32_t>(name >> 32);
}
Rank peer_of_name(uint64_t name) {
  return static_cast<Rank>(static_cast<uint32_t>(name));
}

// Calls `visit(index)` for each set bit, lowest first.
template <typename Visit>
void for_each_bit(uint64_t bits, uint32_t first, const Visit& visit) {
  for (; bits != 0; bits &= bits - 1) visit(first + static_cast<uint32_t>(std::countr_zero(bits)));
}

// Is the descriptor `index` of a ring published, in its lap?
bool holds(const ContextView& view, uint32_t peer, RingIndex index) {
  const int depth_log2 = static_cast<int>(view.depth_log2);
  const Gfd* ring = view.rings + (uint64_t{peer} << view.depth_log2);
  return tag_of(observe(&ring[slot_of(index, depth_log2)].words[0])) == lap_tag(index, depth_log2);
}

void touch(const void* address, uint64_t bytes, Access access, Action& action) {
  if (const auto name = world().memory.name_of(address)) action.footprint.push_back({*name, bytes, access});
}

}  // namespace

ProxyEngine::ProxyEngine(const Parts& parts)
    : transport_(parts.transport),
      listener_(parts.listener),
      abort_word_(parts.abort_word),
      rank_(parts.rank),
      id_(world().next_engine_id()),
      kernels_ring_(parts.kernels_ring),
      reserved_(kContextsMax, false) {}

// --- Set-up
// ------------------------------------------------------------------------------------------------------------

Result<std::vector<uint32_t>> ProxyEngine::reserve_slots(uint32_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::vector<uint32_t> slots;
  for (uint32_t slot = 0; slot < kContextsMax && slots.size() < count; ++slot) {
    if (!reserved_[slot]) slots.push_back(slot);
  }
  if (slots.size() < count) {
    return Status(Cause::kBackendLimit, "GIN contexts",
                  fmt::format("{} contexts asked for, but only {} of the communicator's {} are free", count,
                              slots.size(), kContextsMax));
  }
  for (const uint32_t slot : slots) {
    reserved_[slot] = true;
    const uint32_t words = slot / 64 + 1;
    if (doorbell_words_.load() < words) doorbell_words_.store(words);
  }
  return slots;
}

void ProxyEngine::release_slots(const std::vector<uint32_t>& slots) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const uint32_t slot : slots) reserved_[slot] = false;
}

void ProxyEngine::add_context(uint32_t slot, const EngineContext& context) {
  auto added = std::make_unique<Context>();
  const ContextView& view = context.view;
  added->shared = context;
  added->pending.resize((view.rank_count + 63) / 64);
  added->failed.resize(view.rank_count);
  for (uint64_t peer = 0; peer < view.rank_count; ++peer) {
    added->rings.emplace_back(view.rings + (peer << view.depth_log2), view.peers + peer,
                              kernels_ring_ ? context.claims + peer : nullptr, static_cast<int>(view.depth_log2));
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  ANYGIN_ASSERT(reserved_[slot] && !contexts_[slot]);
  contexts_[slot] = std::move(added);
  contexts_open_.fetch_add(1);
}

void ProxyEngine::remove_context(uint32_t slot) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ANYGIN_ASSERT(contexts_[slot]);
  contexts_[slot].reset();
  contexts_open_.fetch_sub(1);
  pending_contexts_[slot / 64] &= ~doorbell_bit(slot);
}

// --- Any thread
// --------------------------------------------------------------------------------------------------------

void ProxyEngine::poison(AbortCause cause, Rank peer, const Status& status) {
  ANYGIN_ASSERT(cause != AbortCause::kAlive && !status.ok());
  const std::lock_guard<std::mutex> lock(mutex_);
  if (first_error_.ok()) {
    first_error_ = status;
    first_error_peer_ = peer;
  }
  poisoned_.store(true, std::memory_order_release);
}

Status ProxyEngine::last_error(Rank* peer) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (peer != nullptr) *peer = first_error_peer_;
  return first_error_;
}

bool ProxyEngine::stopped() const {
  return poisoned_.load(std::memory_order_acquire) || (abort_word_ != nullptr && load_relaxed(abort_word_) != 0);
}

bool ProxyEngine::busy() const {
  if (stopped()) return false;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& context : contexts_) {
    if (!context) continue;
    const ContextView& view = context->shared.view;
    for (uint32_t peer = 0; peer < view.rank_count; ++peer) {
      const RingIndex consumed = load_index(&view.peers[peer].consumed);
      if (kernels_ring_ ? RingIndex(load_relaxed(&context->shared.claims[peer].produced)) != consumed
                        : holds(view, peer, consumed)) {
        return true;
      }
    }
  }
  return false;
}

// --- Engine
// ------------------------------------------------------------------------------------------------------------

bool ProxyEngine::has_work() const {
  if (more_.load(std::memory_order_relaxed) || transport_.has_completions()) return true;
  if (stopped()) return false;
  if (!kernels_ring_) return contexts_open_.load(std::memory_order_relaxed) > 0;
  const uint32_t words = doorbell_words_.load(std::memory_order_relaxed);
  for (uint32_t word = 0; word < words; ++word) {
    if (load_relaxed(&doorbells_[word]) != 0) return true;
  }
  return false;
}

void ProxyEngine::ready(ActionList& out) {
  const size_t before = out.size();
  if (!stopped()) {
    kernels_ring_ ? collect_dirty() : collect_filled();
    for (uint32_t word = 0; word < pending_contexts_.size(); ++word) {
      for_each_bit(pending_contexts_[word], word * 64, [&](uint32_t slot) { offer_decodes(slot, out); });
    }
  }
  if (!skip_poll_ && transport_.has_completions()) out.add(id_, kPoll, 0);
  skip_poll_ = false;
  more_.store(out.size() != before, std::memory_order_relaxed);
}

// Moves dirty bits from the words that devices write to our own.
void ProxyEngine::collect_dirty() {
  const uint32_t words = doorbell_words_.load(std::memory_order_relaxed);
  for (uint32_t word = 0; word < words; ++word) {
    if (load_relaxed(&doorbells_[word]) == 0) continue;
    for_each_bit(take_bits(&doorbells_[word]), word * 64, [&](uint32_t slot) {
      if (!contexts_[slot]) return;
      Context& context = *contexts_[slot];
      for (size_t i = 0; i < context.pending.size(); ++i) {
        context.pending[i] |= take_bits(&context.shared.view.dirty_peers[i]);
      }
      pending_contexts_[slot / 64] |= doorbell_bit(slot);
    });
  }
}

// A kernel's store into the ring is all it says: no word is changed by both sides, as an atomic operation of a GPU in
// host memory is none for the host.
void ProxyEngine::collect_filled() {
  uint32_t left = contexts_open_.load(std::memory_order_relaxed);
  for (uint32_t slot = 0; left > 0; ++slot) {
    if (!contexts_[slot]) continue;
    --left;
    Context& context = *contexts_[slot];
    for (size_t peer = 0; peer < context.rings.size(); ++peer) {
      if (context.failed[peer] || !context.rings[peer].filled()) continue;
      if (MUTANT(proxy_ring_overlooked) && peer == 2) continue;
      context.pending[peer / 64] |= uint64_t{1} << (peer % 64);
      pending_contexts_[slot / 64] |= doorbell_bit(slot);
    }
  }
}

// A ring without a published descriptor is forgotten until its producer rings again; one without room at the NIC waits
// for a completion.
void ProxyEngine::offer_decodes(uint32_t slot, ActionList& out) {
  Context& context = *contexts_[slot];
  uint64_t left = 0;
  for (size_t i = 0; i < context.pending.size(); ++i) {
    for_each_bit(context.pending[i], static_cast<uint32_t>(i * 64), [&](uint32_t bit) {
      const Rank peer = static_cast<Rank>(bit);
      if (context.failed[bit] || !context.rings[bit].filled()) {
        context.pending[i] &= ~(uint64_t{1} << (bit % 64));
      } else if (transport_.has_room(context.shared.ops.transport_context, peer)) {
        Action& action = out.add(id_, kDecode, ring_name(slot, peer));
        if (out.wants_footprints()) add_footprint(context, peer, action);
      }
    });
    left |= context.pending[i];
  }
  if (left == 0) pending_contexts_[slot / 64] &= ~doorbell_bit(slot);
}

void ProxyEngine::add_footprint(const Context& context, Rank peer, Action& action) const {
  touch(&context.rings[static_cast<size_t>(peer)].next(), sizeof(Gfd), Access::kRead, action);
  touch(&context.shared.view.peers[peer], sizeof(PeerWords), Access::kRead, action);
}

void ProxyEngine::run(const Action& action, Time) {
  if (action.kind == kPoll) {
    poll();
  } else {
    ANYGIN_ASSERT(action.kind == kDecode);
    decode(slot_of_name(action.name), peer_of_name(action.name));
  }
  more_.store(true, std::memory_order_relaxed);
}

void ProxyEngine::decode(uint32_t slot, Rank peer) {
  if (stopped()) return;
  Context& context = *contexts_[slot];
  RingReader& ring = context.rings[static_cast<size_t>(peer)];
  ANYGIN_ASSERT(ring.filled() && transport_.has_room(context.shared.ops.transport_context, peer));
  const Gfd gfd = ring.next();
  const GfdFields fields = decode_gfd(gfd.words);
  ANYGIN_ASSERT(well_formed(fields) && reserved_bits_clear(gfd.words));
  record(TraceKind::kDecode, context, peer, fields);
  world().charge(Step::kDecode, sizeof(Gfd));
  Result<Op> op = gfd_to_op(fields, context.shared.ops, peer, windows_, transport_);
  if (!op.ok()) return fail(AbortCause::kMisuse, peer, op.status());
  if (MUTANT(proxy_wrong_queue)) op->peer = (peer + 1) % static_cast<Rank>(context.shared.view.rank_count);
  if (MUTANT(proxy_self_put_empty) && peer == rank_) op->bytes = 0;
  if (MUTANT(proxy_early_counter) && fields.has_counter) {
    publish(&context.shared.counters[fields.counter_id], load_relaxed(&context.shared.counters[fields.counter_id]) + 1);
  }
  op->cookie = ring_name(slot, peer);
  ring.take();
  world().charge(Step::kPost, op->bytes);
  record(TraceKind::kPost, context, peer, fields);
  transport_.post(*op);
}

void ProxyEngine::poll() {
  std::array<OpCompletion, kPollBatch> completions;
  world().charge(Step::kPoll, 0);
  const size_t count = transport_.poll(completions);
  for (size_t i = 0; i < count; ++i) complete(completions[i]);
  skip_poll_ = count == 0;
  if (count > 0) ring(world().executor.wake_word());
}

void ProxyEngine::complete(const OpCompletion& completion) {
  const auto& context = contexts_[slot_of_name(completion.cookie)];
  const Rank peer = peer_of_name(completion.cookie);
  ANYGIN_ASSERT(context && context->shared.ops.transport_context == completion.context);
  RingReader& ring = context->rings[static_cast<size_t>(peer)];
  if (context->failed[static_cast<size_t>(peer)]) return;
  const GfdFields fields = decode_gfd(ring.oldest().words);
  if (completion.error != Cause::kNone && !MUTANT(proxy_error_counts)) {
    context->failed[static_cast<size_t>(peer)] = true;
    if (stopped()) return;  // what an abort or the first error flushed
    return fail(AbortCause::kNicError, peer,
                Status(completion.error, "GIN",
                       fmt::format("context {} to rank {}: {} failed: {}", context->shared.index, peer,
                                   describe(fields), completion.what)));
  }
  ANYGIN_ASSERT(ring.in_flight() > 0);
  if (fields.has_counter && !MUTANT(proxy_early_counter)) {
    uint64_t* counter = &context->shared.counters[fields.counter_id];
    publish(counter, load_relaxed(counter) + (MUTANT(proxy_counted_twice) ? 2 : 1));
  }
  record(TraceKind::kLocalDone, *context, peer, fields);
  world().charge(Step::kComplete, fields.bytes);
  ring.complete();
}

void ProxyEngine::fail(AbortCause cause, Rank peer, const Status& status) {
  poison(cause, peer, status);
  listener_.on_error(cause, peer, status);
}

void ProxyEngine::record(TraceKind kind, const Context& context, Rank peer, const GfdFields& gfd) const {
  TraceSink& sink = world().trace;
  if (!sink.enabled()) return;
  TraceEvent event;
  event.kind = kind;
  event.rank = rank_;
  event.peer = peer;
  event.context = context.shared.index;
  event.operation = gfd.operation;
  event.bytes = gfd.bytes;
  event.value = static_cast<uint64_t>(gfd.op);
  const uint64_t* cell = &context.shared.view.peers[peer].consumed;
  if (kind == TraceKind::kPost) cell = gfd.has_counter ? &context.shared.counters[gfd.counter_id] : nullptr;
  if (cell != nullptr) event.at = world().memory.name_of(cell).value_or(MemName{});
  event.call_site = reinterpret_cast<const void*>(gfd.call_site);
  sink.record(event);
}

void ProxyEngine::describe_pending(std::vector<std::string>& out) const {
  for (const auto& context : contexts_) {
    if (!context) continue;
    for (size_t peer = 0; peer < context->rings.size(); ++peer) {
      const RingReader& ring = context->rings[peer];
      if (ring.in_flight() == 0 && ring.waiting() == 0) continue;
      const bool described = ring.in_flight() > 0 || ring.filled();
      out.push_back(fmt::format("proxy rank {} context {} to rank {}: {} at the NIC, {} in the ring{}{}", rank_,
                                context->shared.index, peer, ring.in_flight(), ring.waiting(),
                                described ? "; oldest: " : "",
                                described ? describe(decode_gfd(ring.oldest().words)) : std::string()));
    }
  }
  transport_.describe_pending(out);
}

}  // namespace anygin::proxy
