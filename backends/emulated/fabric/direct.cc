// SPDX-License-Identifier: Apache-2.0
// Messages and doorbells of the direct fabric; direct_join.cc brings the peers together.
#include "anygin/emulated/fabric/direct.h"

#include "anygin/base/order.h"

namespace anygin::emulated {

namespace {

constexpr size_t kBitsOfWord = 64;
constexpr uint64_t bit_of(Rank rank) {
  return uint64_t{1} << (static_cast<size_t>(rank) % kBitsOfWord);
}
constexpr size_t word_of(Rank rank) {
  return static_cast<size_t>(rank) / kBitsOfWord;
}

}  // namespace

std::optional<Rank> DirectPort::find(const PortAddress& address) const {
  for (size_t i = 0; i < peers_.size(); ++i) {
    if (peers_[i].address == address) return static_cast<Rank>(i);
  }
  return std::nullopt;
}

void DirectPort::open_outgoing(Rank to) {
  Peer& peer = peers_[static_cast<size_t>(to)];
  peer.ring_offset = world_.page.allocate(sizeof(ByteRing));
  peer.outgoing = RingProducer(reinterpret_cast<ByteRing*>(world_.page.at(peer.ring_offset)));
  area_->outgoing[to].store(peer.ring_offset, std::memory_order_release);
}

bool DirectPort::send(Rank to, const Message& header, const char* payload) {
  Peer& peer = peers_[static_cast<size_t>(to)];
  if (!peer.alive) return true;  // nobody hears it
  if (!peer.outgoing.open()) open_outgoing(to);
  char head[kWireHeaderBytes];
  encode_message(header, head);
  if (!peer.outgoing.push(head, sizeof(head), payload, header.bytes)) return false;
  raise_bits(&peer.area->doorbells[word_of(rank_)], bit_of(rank_));
  wake(to);
  return true;
}

bool DirectPort::has_room(Rank to) const {
  const Peer& peer = peers_[static_cast<size_t>(to)];
  return !peer.alive || !peer.outgoing.open() || peer.outgoing.fits(ring_detail::kMessageMax);
}

bool DirectPort::has_inbound() const {
  if (has_more_.load(std::memory_order_acquire)) return true;
  for (size_t word = 0; word <= word_of(size() - 1); ++word) {
    if (observe(&area_->doorbells[word]) != 0) return true;
  }
  return false;
}

bool DirectPort::receive(MessageHandler& handler, int budget) {
  for (size_t word = 0; word <= word_of(size() - 1); ++word) {
    if (observe(&area_->doorbells[word]) == 0) continue;
    const uint64_t bits = take_bits(&area_->doorbells[word]);
    for (size_t i = 0; i < kBitsOfWord; ++i) {
      const size_t from = word * kBitsOfWord + i;
      if (((bits >> i) & 1) != 0 && from < peers_.size()) peers_[from].has_more = true;
    }
  }
  bool any_left = false;
  for (Rank from = 0; from < size(); ++from) {
    Peer& peer = peers_[static_cast<size_t>(from)];
    if (!peer.has_more) continue;
    if (budget > 0 && !receive_from(from, handler, &budget)) handler.on_broken_peer(from);
    any_left = any_left || peer.has_more;
  }
  has_more_.store(any_left, std::memory_order_release);
  return any_left;
}

bool DirectPort::open_incoming(Peer& peer) {
  const uint64_t offset = peer.area->outgoing[rank_].load(std::memory_order_acquire);
  const bool inside = offset != 0 && offset % kCacheLine == 0 && offset <= peer.page_bytes &&
                      sizeof(ByteRing) <= peer.page_bytes - offset;
  peer.incoming_offset = offset;
  if (inside) peer.incoming = RingConsumer(reinterpret_cast<ByteRing*>(peer.page.at(offset, sizeof(ByteRing))));
  return inside;
}

bool DirectPort::has_left(const Peer& peer) const {
  return peer.area->outgoing[rank_].load(std::memory_order_acquire) != peer.incoming_offset;
}

bool DirectPort::receive_from(Rank from, MessageHandler& handler, int* budget) {
  Peer& peer = peers_[static_cast<size_t>(from)];
  while (peer.alive && *budget > 0) {
    const char* data = nullptr;
    uint64_t bytes = 0;
    if (!peer.incoming.open() && !open_incoming(peer)) break;
    const RingConsumer::Got got = peer.incoming.front(&data, &bytes);
    if (got == RingConsumer::Got::kNothing || has_left(peer)) break;
    if (got == RingConsumer::Got::kNonsense) return false;
    handler.on_message(from, data, bytes);
    if (!peer.alive) break;  // the handler failed it
    peer.incoming.pop();
    --*budget;
    if (*budget == 0) return true;  // has_more stays
  }
  peer.has_more = false;
  return true;
}

void DirectPort::wake(Rank peer) {
  ring(peers_[static_cast<size_t>(peer)].page.control().wake);
}

void DirectPort::fail_peer(Rank peer) {
  peers_[static_cast<size_t>(peer)].alive = false;
  peers_[static_cast<size_t>(peer)].has_more = false;
}

}  // namespace anygin::emulated
