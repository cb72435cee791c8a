// SPDX-License-Identifier: Apache-2.0
// The fabric of one host: ports in the process pages, which all peers map (docs/decisions/0004). A port's owner writes
// its region table and its outgoing rings; peers write the doorbell bits and, in the owner's rings towards them, how
// far they have read. Messages wake their receiver through its process's wake word.
#pragma once

#include <atomic>
#include <vector>

#include "anygin/base/process_page.h"
#include "anygin/base/world.h"
#include "anygin/emulated/fabric/byte_ring.h"
#include "anygin/emulated/fabric/fabric.h"

namespace anygin::emulated {

inline constexpr int kPortPeersMax = 1024;

// In the owner's process page; zero-filled when given out.
struct PortArea {
  // Peers raise: bit r of the whole: rank r's ring towards this port has something new.
  alignas(kCacheLine) uint64_t doorbells[kPortPeersMax / 64];
  // Owner writes, peers read: offset in the page of the ring towards each rank, 0 before its first use.
  alignas(kCacheLine) std::atomic<uint64_t> outgoing[kPortPeersMax];
  MrTableMemory regions;
};

class DirectPort final : public Port {
 public:
  // Collective.
  static Result<std::unique_ptr<Port>> open(World& world, Bootstrap& bootstrap, Profile profile);
  ~DirectPort() override;

  Rank rank() const override { return rank_; }
  int size() const override { return static_cast<int>(peers_.size()); }
  PortAddress address() const override { return peers_[static_cast<size_t>(rank_)].address; }
  std::optional<Rank> find(const PortAddress& address) const override;
  bool send(Rank to, const Message& header, const char* payload) override;
  bool has_room(Rank to) const override;
  bool has_inbound() const override;
  bool receive(MessageHandler& handler, int budget) override;
  MrTableMemory& regions() override { return area_->regions; }
  const MappedPeer* mapped(Rank peer) const override { return &peers_[static_cast<size_t>(peer)].mapped; }
  void wake(Rank peer) override;
  void fail_peer(Rank peer) override;

 private:
  struct Peer {
    PortAddress address;
    PeerPage page;
    uint64_t page_bytes = 0;
    PortArea* area = nullptr;
    SharedMapping heap;     // empty if the peer is in this process
    HeapId foreign_heap{};  // of `heap`
    MappedPeer mapped;
    bool alive = true;
    uint64_t ring_offset = 0;  // of the ring towards the peer, in our page
    RingProducer outgoing;
    RingConsumer incoming;
    uint64_t incoming_offset = 0;  // of the peer's ring towards us, in its page
    bool has_more = false;         // its ring was not empty when we last looked
  };

  DirectPort(World& world, Rank rank, int size);
  Status join(Bootstrap& bootstrap, Profile profile);
  Status map_peer(Rank rank, const Gift& hello, int heap_fd, Profile profile);
  void open_outgoing(Rank to);
  bool open_incoming(Peer& peer);
  // The peer closed its port in good order: its ring is no more.
  bool has_left(const Peer& peer) const;
  // Hands over what one peer sent. False: it sent nonsense.
  bool receive_from(Rank from, MessageHandler& handler, int* budget);

  World& world_;
  const Rank rank_;
  uint64_t area_offset_;
  PortArea* area_;
  std::vector<Peer> peers_;
  std::atomic<bool> has_more_{false};
};

}  // namespace anygin::emulated
