// SPDX-License-Identifier: Apache-2.0
#include "anygin/proxy/proxy_context_set.h"

#include <algorithm>
#include <utility>

#include "anygin/base/world.h"

namespace anygin::proxy {
namespace {

// Appends `count` objects of type T to a layout, on cache lines of their own.
template <typename T>
uint64_t append(uint64_t* end, uint64_t count) {
  const uint64_t at = *end;
  *end = (at + count * sizeof(T) + kCacheLine - 1) / kCacheLine * kCacheLine;
  return at;
}

uint64_t dirty_words(const ContextShape& shape) {
  // A cache line of them a context, so that contexts do not share lines.
  const uint64_t line = kCacheLine / sizeof(uint64_t);
  return ((shape.peers + 63) / 64 + line - 1) / line * line;
}

}  // namespace

ContextMemory::Layout::Layout(const ContextShape& shape) {
  const uint64_t contexts = shape.contexts;
  peers = append<PeerWords>(&bytes, contexts * shape.peers);
  dirty = append<uint64_t>(&bytes, contexts * dirty_words(shape));
  counters = append<uint64_t>(&bytes, contexts * shape.counters);
  rings = append<Gfd>(&bytes, contexts * shape.peers << shape.depth_log2);
  counter_bases = append<uint64_t>(&kernel_bytes, contexts * shape.counters);
  signal_bases = append<uint64_t>(&kernel_bytes, contexts * shape.signals);
  kernel_bytes = std::max<uint64_t>(kernel_bytes, kCacheLine);
}

Result<std::unique_ptr<ContextMemory>> ContextMemory::create(const ContextShape& shape) {
  ANYGIN_ASSERT(shape.contexts > 0 && shape.peers > 0 && shape.depth_log2 <= kDepthLog2Max);
  const Layout layout(shape);
  Result<NearBlock> views = NearBlock::create(shape.contexts * context_bytes(shape.peers), -1);
  if (!views.ok()) return views.status();
  Result<NearBlock> own = NearBlock::create(layout.kernel_bytes, -1);
  if (!own.ok()) return own.status();
  Result<char*> base = world().heap.allocate(layout.bytes, -1);
  if (!base.ok()) return base.status();
  std::unique_ptr<ContextMemory> made(new ContextMemory(shape, layout, *base, std::move(*views), std::move(*own)));
  ANYGIN_TRY(made->publish());
  return made;
}

ContextMemory::ContextMemory(const ContextShape& shape, const Layout& layout, char* base, NearBlock view_block,
                             NearBlock own)
    : shape_(shape), layout_(layout), base_(base), views_(std::move(view_block)), own_(std::move(own)) {
  for (uint32_t i = 0; i < shape_.contexts; ++i) {
    ContextView& view = this->view(i);
    view.rank_count = shape_.peers;
    view.depth_log2 = shape_.depth_log2;
    view.signal_count = shape_.signals;
    view.counter_count = shape_.counters;
    view.rings = array_of<Gfd>(layout_.rings, i, uint64_t{shape_.peers} << shape_.depth_log2);
    view.dirty_peers = array_of<uint64_t>(layout_.dirty, i, dirty_words(shape_));
    view.peers = array_of<PeerWords>(layout_.peers, i, shape_.peers);
    view.counters = counters(i);
    view.counter_bases = array_at<uint64_t>(own_.kernel(), layout_.counter_bases, i, shape_.counters);
    view.signal_bases = array_at<uint64_t>(own_.kernel(), layout_.signal_bases, i, shape_.signals);
    for (uint32_t peer = 0; peer < shape_.peers; ++peer) {
      PeerClaims& claims = claims_of(view)[peer];
      claims.produced = claims.consumed_seen = kFirstIndex;
      view.peers[peer].consumed = kFirstIndex;
    }
  }
}

ContextMemory::~ContextMemory() {
  const Status freed = world().heap.free(base_);
  ANYGIN_ASSERT(freed.ok());
}

uint64_t* ContextMemory::counters(uint32_t context) const {
  return array_of<uint64_t>(layout_.counters, context, shape_.counters);
}

}  // namespace anygin::proxy
