// SPDX-License-Identifier: Apache-2.0
// How ports of one communicator find each other: an all-gather of addresses with the process pages' files, and one of
// the heaps' files. Ranks of one process share its mappings.
#include <fmt/format.h>
#include <unistd.h>

#include <cstring>

#include "anygin/emulated/fabric/direct.h"

namespace anygin::emulated {
namespace {

constexpr uint32_t kFabricTag = 0x44495245;  // "DIRE"
constexpr uint64_t kHelloMagic = 0x6f6c6c6548474941;
constexpr const char* kWhere = "direct fabric";

// What each rank says of itself.
struct Hello {
  uint64_t magic = kHelloMagic;
  PortAddress address;
  uint64_t area_offset = 0;
  uint64_t page_bytes = 0;
  uint64_t heap_bytes = 0;
  uint32_t profile = 0;
  uint32_t reserved = 0;
};

// Differs between any two live processes of a host: a pid is below 2^22.
uint64_t process_identity(const ControlPage& page) {
  return page.start_time << 22 ^ page.pid;
}

void close_all(const std::vector<Gift>& gifts, size_t from) {
  for (size_t i = from; i < gifts.size(); ++i) {
    if (gifts[i].fd >= 0) close(gifts[i].fd);
  }
}

}  // namespace

DirectPort::DirectPort(World& world, Rank rank, int size)
    : world_(world),
      rank_(rank),
      area_offset_(world.page.allocate(sizeof(PortArea))),
      area_(reinterpret_cast<PortArea*>(world.page.at(area_offset_))),
      peers_(static_cast<size_t>(size)) {}

// A ring with messages that a living peer has not yet taken is left to it, with the area that names it: they end with
// the process. Peers that still ring this port's doorbells set bits in what the next port gets: it looks, and finds
// nothing.
DirectPort::~DirectPort() {
  bool all_taken = true;
  for (const Peer& peer : peers_)
    all_taken = all_taken && (!peer.alive || !peer.outgoing.open() || peer.outgoing.drained());
  for (size_t i = 0; i < peers_.size(); ++i) {
    Peer& peer = peers_[i];
    if (peer.heap.base()) world_.memory.remove(peer.foreign_heap);
    if (!all_taken) continue;
    area_->outgoing[i].store(0, std::memory_order_release);
    if (peer.ring_offset != 0) world_.page.release(peer.ring_offset, sizeof(ByteRing));
  }
  if (all_taken) world_.page.release(area_offset_, sizeof(PortArea));
}

Result<std::unique_ptr<Port>> DirectPort::open(World& world, Bootstrap& bootstrap, Profile profile) {
  if (bootstrap.size() > kPortPeersMax) {
    return Status(Cause::kBackendLimit, kWhere,
                  fmt::format("{} ranks; it connects at most {}", bootstrap.size(), kPortPeersMax));
  }
  std::unique_ptr<DirectPort> port(new DirectPort(world, bootstrap.rank(), bootstrap.size()));
  ANYGIN_TRY(port->join(bootstrap, profile));
  return std::unique_ptr<Port>(std::move(port));
}

Status DirectPort::join(Bootstrap& bootstrap, Profile profile) {
  Hello mine;
  mine.address = {process_identity(world_.page.control()), static_cast<uint32_t>(area_offset_ / kCacheLine),
                  kFabricTag};
  mine.area_offset = area_offset_;
  mine.page_bytes = world_.page.bytes();
  mine.heap_bytes = world_.heap.capacity();
  mine.profile = static_cast<uint32_t>(profile);
  Gift gift{std::string(reinterpret_cast<const char*>(&mine), sizeof(mine)), world_.page.fd()};
  Result<std::vector<Gift>> hellos = bootstrap.all_gather("direct fabric: ports", gift);
  if (!hellos.ok()) return hellos.status();
  Result<std::vector<Gift>> heaps = bootstrap.all_gather("direct fabric: heaps", Gift{"", world_.heap.fd()});
  if (!heaps.ok()) {
    close_all(*hellos, 0);
    return heaps.status();
  }
  peers_[static_cast<size_t>(rank_)].address = mine.address;
  for (size_t i = 0; i < peers_.size(); ++i) {
    const Status status = map_peer(static_cast<Rank>(i), (*hellos)[i], (*heaps)[i].fd, profile);
    if (status.ok()) continue;
    close_all(*hellos, i + 1);
    close_all(*heaps, i + 1);
    return status;
  }
  return {};
}

// Owns both files from here on.
Status DirectPort::map_peer(Rank rank, const Gift& gift, int heap_fd, Profile profile) {
  SharedMapping heap_file;
  Hello hello;
  const auto refuse = [&](std::string why) {
    if (heap_fd >= 0) close(heap_fd);
    return Status(Cause::kPeerUnreachable, kWhere, fmt::format("rank {}: {}", rank, why));
  };
  if (gift.fd < 0) return refuse("no process page came: it runs on another host, which this fabric does not reach");
  if (gift.bytes.size() != sizeof(hello)) {
    close(gift.fd);
    return refuse("it runs another build of AnyGIN");
  }
  std::memcpy(&hello, gift.bytes.data(), sizeof(hello));
  Result<PeerPage> page = PeerPage::map(gift.fd, hello.page_bytes);
  if (!page.ok()) return refuse(page.status().detail());
  const bool area_inside = hello.page_bytes >= sizeof(PortArea) &&
                           hello.area_offset <= hello.page_bytes - sizeof(PortArea) &&
                           hello.area_offset % kCacheLine == 0;
  if (hello.magic != kHelloMagic || !area_inside) {
    return refuse("it runs another build of AnyGIN");
  }
  if (hello.profile != static_cast<uint32_t>(profile)) {
    return refuse(fmt::format("ANYGIN_PROFILE is {} there and {} here; all ranks must agree",
                              hello.profile <= static_cast<uint32_t>(Profile::kSrd)
                                  ? name_of(static_cast<Profile>(hello.profile))
                                  : "unknown",
                              name_of(profile)));
  }
  Peer& peer = peers_[static_cast<size_t>(rank)];
  peer.address = hello.address;
  peer.page = std::move(*page);
  peer.page_bytes = hello.page_bytes;
  peer.area = reinterpret_cast<PortArea*>(peer.page.at(hello.area_offset, sizeof(PortArea)));
  peer.mapped.regions = &peer.area->regions;
  peer.mapped.heap_bytes = hello.heap_bytes;
  if (hello.address.process == address().process) {
    if (heap_fd >= 0) close(heap_fd);
    peer.mapped.heap = world_.heap.id();
    return {};
  }
  if (heap_fd < 0) return refuse("no heap came with its process page");
  Result<SharedMapping> heap = SharedMapping::adopt(heap_fd, hello.heap_bytes);
  if (!heap.ok())
    return Status(Cause::kPeerUnreachable, kWhere, fmt::format("rank {}: {}", rank, heap.status().detail()));
  peer.heap = std::move(*heap);
  peer.foreign_heap = world_.memory.add(peer.heap.base(), hello.heap_bytes);
  peer.mapped.heap = peer.foreign_heap;
  return {};
}

FabricProvider& direct_fabric() {
  class Provider final : public FabricProvider {
    Result<std::unique_ptr<Port>> open_port(World& world, Bootstrap& bootstrap, const Options& options) override {
      return DirectPort::open(world, bootstrap, options.profile);
    }
  };
  static Provider& provider = *new Provider;
  return provider;
}

}  // namespace anygin::emulated
