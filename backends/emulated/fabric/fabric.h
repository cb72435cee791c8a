// SPDX-License-Identifier: Apache-2.0
// How software HCAs reach each other. A fabric carries the messages of wire.h between the NICs of one communicator,
// reliably and in order per pair, and says which peers' memory is mapped here. flow_send and flow_receive order;
// a fabric never does.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "anygin/base/bootstrap.h"
#include "anygin/base/ids.h"
#include "anygin/base/options.h"
#include "anygin/base/status.h"
#include "anygin/emulated/fabric/mr_table.h"
#include "anygin/emulated/wire.h"

namespace anygin {
class World;
}

namespace anygin::emulated {

// What a NIC's GID says: which NIC of which process. 16 bytes, the same in every process.
struct PortAddress {
  uint64_t process = 0;  // not 0; differs between any two live processes of the fabric
  uint32_t port = 0;     // unique in its process
  uint32_t fabric = 0;   // tag of the kind of fabric

  friend bool operator==(const PortAddress&, const PortAddress&) = default;
};
static_assert(sizeof(PortAddress) == 16);

// A peer whose registered heap memory is mapped here: operations on it may be loads, stores and atomics.
struct MappedPeer {
  const MrTableMemory* regions = nullptr;
  HeapId heap{};
  uint64_t heap_bytes = 0;
};

// Gets what arrives. The view is valid during the call.
class MessageHandler {
 public:
  virtual ~MessageHandler() = default;
  virtual void on_message(Rank from, const char* data, size_t bytes) = 0;
  // `from` sent what no sound peer sends; the connection to it is gone.
  virtual void on_broken_peer(Rank from) = 0;
};

// One NIC's attachment. Calls are serialized by its NIC, but for has_inbound().
class Port {
 public:
  virtual ~Port() = default;

  virtual Rank rank() const = 0;
  virtual int size() const = 0;
  virtual PortAddress address() const = 0;
  virtual std::optional<Rank> find(const PortAddress& address) const = 0;

  // Sends header and payload as one message. False: no room now, nothing was sent; try again later.
  virtual bool send(Rank to, const Message& header, const char* payload) = 0;
  // Would send() take a message with a whole chunk?
  virtual bool has_room(Rank to) const = 0;
  // Could receive() find something? Any thread, cheap; false positives allowed.
  virtual bool has_inbound() const = 0;
  // Hands at most `budget` messages to the handler. True if there may be more.
  virtual bool receive(MessageHandler& handler, int budget) = 0;

  // Where this NIC publishes its regions. Zero-filled.
  virtual MrTableMemory& regions() = 0;
  // Null if the peer's memory is not mapped here. The peer may be this NIC itself.
  virtual const MappedPeer* mapped(Rank peer) const = 0;
  // Something was stored into the peer's mapped memory: wakes whoever sleeps there.
  virtual void wake(Rank peer) = 0;
  // No message from or to the peer is carried any more.
  virtual void fail_peer(Rank peer) = 0;
};

// Makes ports. A World may bring its own (World::fabrics); otherwise Options::fabric chooses one of ours.
class FabricProvider {
 public:
  virtual ~FabricProvider() = default;
  // Collective over the ranks of `bootstrap`.
  virtual Result<std::unique_ptr<Port>> open_port(World& world, Bootstrap& bootstrap, const Options& options) = 0;
};

// Shared memory of one host: fabric/direct.cc.
FabricProvider& direct_fabric();

}  // namespace anygin::emulated
