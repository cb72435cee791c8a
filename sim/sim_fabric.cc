// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/sim_fabric.h"

#include <fmt/format.h>

#include <algorithm>

#include "anygin/base/assert.h"
#include "anygin/base/world.h"

namespace anygin::sim {
namespace {

using emulated::Message;
using emulated::MessageKind;

constexpr uint32_t kFabricTag = 0x004d4953;  // "SIM"
constexpr uint64_t kLateChance = 4;          // one message in four takes longer,
constexpr uint64_t kLateMicroseconds = 16;   // by less than this

bool is_request(MessageKind kind) {
  return kind == MessageKind::kWrite || kind == MessageKind::kFetchAdd || kind == MessageKind::kRead;
}
bool is_acknowledgement(MessageKind kind) {
  return kind == MessageKind::kVisible || kind == MessageKind::kAccepted;
}
uint64_t wire_name(uint32_t from, uint32_t to) {
  return uint64_t{from} << 32 | to;
}

}  // namespace

class SimFabric::SimPort final : public emulated::Port {
 public:
  SimPort(SimFabric& fabric, World& world, Rank rank, uint32_t number)
      : fabric_(fabric), world_(world), rank_(rank), number_(number) {
    fabric_.ports_[number_] = this;
    if (fabric_.watcher_) fabric_.watcher_->on_port_opened(rank_);
  }
  ~SimPort() override {
    if (fabric_.watcher_) fabric_.watcher_->on_port_closed(rank_);
    fabric_.ports_.erase(number_);
    for (auto it = fabric_.wires_.begin(); it != fabric_.wires_.end();) {
      const bool mine = it->first >> 32 == number_ || static_cast<uint32_t>(it->first) == number_;
      if (mine) {
        fabric_.flying_ -= it->second->flying.size();
        fabric_.full_wires_ -= it->second->full_until != 0 ? 1 : 0;
      }
      it = mine ? fabric_.wires_.erase(it) : std::next(it);
    }
  }
  void meet(const std::vector<emulated::PortAddress>& addresses) {
    addresses_ = addresses;
    alive_.assign(addresses.size(), true);
  }

  Rank rank() const override { return rank_; }
  int size() const override { return static_cast<int>(addresses_.size()); }
  emulated::PortAddress address() const override { return {1, number_, kFabricTag}; }
  std::optional<Rank> find(const emulated::PortAddress& address) const override {
    const auto found = std::find(addresses_.begin(), addresses_.end(), address);
    if (found == addresses_.end()) return std::nullopt;
    return static_cast<Rank>(found - addresses_.begin());
  }
  bool send(Rank to, const Message& header, const char* payload) override {
    if (!reachable(to)) return true;  // nobody hears it
    Wire& wire = wire_to(to);
    if (header.bytes > 0 && !fabric_.has_room(world_, wire)) return false;
    if (fabric_.watcher_) fabric_.watcher_->on_sent(rank_, to, header);
    fabric_.send(world_, wire, &wire_from(to), header, payload);
    return true;
  }
  bool has_room(Rank to) const override {
    return !reachable(to) || fabric_.has_room(world_, const_cast<SimPort*>(this)->wire_to(to));
  }
  bool has_inbound() const override {
    return std::any_of(fabric_.wires_.begin(), fabric_.wires_.end(), [this](const auto& one) {
      return static_cast<uint32_t>(one.first) == number_ && !one.second->arrived.empty();
    });
  }
  bool receive(emulated::MessageHandler& handler, int budget) override {
    for (Rank from = 0; from < size(); ++from) {
      Wire& wire = wire_from(from);
      for (; !wire.arrived.empty() && budget > 0; --budget) {
        const Packet packet = std::move(wire.arrived.front());
        wire.arrived.pop_front();
        wire.bytes -= packet.bytes.size();
        if (alive_[static_cast<size_t>(from)]) handler.on_message(from, packet.bytes.data(), packet.bytes.size());
      }
    }
    return has_inbound();
  }
  emulated::MrTableMemory& regions() override { return *regions_; }
  const emulated::MappedPeer* mapped(Rank) const override { return nullptr; }
  void wake(Rank) override {}
  void fail_peer(Rank peer) override { alive_[static_cast<size_t>(peer)] = false; }

 private:
  uint32_t number_of(Rank rank) const { return addresses_[static_cast<size_t>(rank)].port; }
  bool reachable(Rank rank) const {
    if (fabric_.lost_.count(rank) != 0 || fabric_.lost_.count(rank_) != 0) return false;
    return alive_[static_cast<size_t>(rank)] && fabric_.ports_.count(number_of(rank)) != 0;
  }
  Wire& wire(uint32_t from, uint32_t to, Rank from_rank, Rank to_rank) {
    std::unique_ptr<Wire>& slot = fabric_.wires_[wire_name(from, to)];
    if (!slot) slot = std::make_unique<Wire>();
    slot->from = from_rank;
    slot->to = to_rank;
    return *slot;
  }
  Wire& wire_to(Rank to) { return wire(number_, number_of(to), rank_, to); }
  Wire& wire_from(Rank from) { return wire(number_of(from), number_, from, rank_); }

  SimFabric& fabric_;
  World& world_;
  const Rank rank_;
  const uint32_t number_;
  std::vector<emulated::PortAddress> addresses_;
  std::vector<bool> alive_;
  const std::unique_ptr<emulated::MrTableMemory> regions_ = std::make_unique<emulated::MrTableMemory>();
};

Result<std::unique_ptr<emulated::Port>> SimFabric::open_port(World& world, Bootstrap& bootstrap, const Options&) {
  auto port = std::make_unique<SimPort>(*this, world, bootstrap.rank(), ++ports_opened_);
  Result<std::vector<emulated::PortAddress>> addresses =
      all_gather_value(bootstrap, "simulated fabric: ports", port->address());
  if (!addresses.ok()) return addresses.status();
  port->meet(*addresses);
  return std::unique_ptr<emulated::Port>(std::move(port));
}

bool SimFabric::has_room(World& world, Wire& wire) {
  const Time now = world.clock.now();
  if (wire.full_until > now) return false;
  return wire.bytes < kWireBytes;
}

void SimFabric::fly(Wire& wire, const Message& header, const char* payload, Time due) {
  char head[emulated::kWireHeaderBytes];
  encode_message(header, head);
  Packet packet{std::string(head, sizeof(head)), due};
  if (header.bytes > 0) packet.bytes.append(payload, header.bytes);
  wire.bytes += packet.bytes.size();
  wire.flying.push_back(std::move(packet));
  ++flying_;
}

// `back`: the wire in the other direction.
void SimFabric::send(World& world, Wire& wire, Wire* back, const Message& header, const char* payload) {
  ChoiceSource& choices = world.choices;
  Time due = world.clock.now();
  if (choices.pick_below(ChoiceKind::kDelay, kLateChance) == 0) {
    due += choices.pick_below(ChoiceKind::kDelay, kLateMicroseconds) * kMicrosecond;
  }
  if (is_acknowledgement(header.kind) && faults_.happens(FaultKind::kLostAck, choices)) due += kRetransmission;
  if (is_request(header.kind)) {
    emulated::WireStatus code{};
    if (faults_.happens(FaultKind::kError, choices, &code)) {
      Message answer;
      answer.kind = MessageKind::kNack;
      answer.status = code;
      answer.queue_pair = header.source_pair;
      answer.source_pair = header.queue_pair;
      answer.sequence = header.sequence;
      return fly(*back, answer, nullptr, due);
    }
    if (faults_.happens(FaultKind::kFull, choices)) {
      full_wires_ += wire.full_until == 0 ? 1 : 0;
      wire.full_until = world.clock.now() + kFullFor;
    }
  }
  fly(wire, header, payload, due);
  if (is_request(header.kind) && faults_.happens(FaultKind::kDuplicate, choices)) fly(wire, header, payload, due);
}

void SimFabric::lose(Rank rank) {
  lost_.insert(rank);
  for (const auto& [name, wire] : wires_) {
    if (wire->from != rank && wire->to != rank) continue;
    flying_ -= wire->flying.size();
    wire->flying.clear();
  }
}

// A wire keeps its order: only what is first on it can arrive.
void SimFabric::ready(ActionList& out) {
  for (const auto& [name, wire] : wires_) {
    if (wire->full_until > out.now()) {
      out.wake_at(wire->full_until);
    } else if (wire->full_until != 0) {
      wire->full_until = 0;
      --full_wires_;
    }
    if (wire->flying.empty()) continue;
    const Time due = wire->flying.front().due;
    if (due <= out.now()) {
      out.add(id_, 0, name);
    } else {
      out.wake_at(due);
    }
  }
}

void SimFabric::run(const Action& action, Time) {
  Wire& wire = *wires_.at(action.name);
  ANYGIN_ASSERT(!wire.flying.empty());
  wire.arrived.push_back(std::move(wire.flying.front()));
  wire.flying.pop_front();
  --flying_;
}

void SimFabric::describe_pending(std::vector<std::string>& out) const {
  for (const auto& [name, wire] : wires_) {
    if (wire->flying.empty() && wire->arrived.empty()) continue;
    out.push_back(fmt::format("from rank {} to port {}: {} on the wire, {} not yet taken", wire->from,
                              static_cast<uint32_t>(name), wire->flying.size(), wire->arrived.size()));
  }
}

}  // namespace anygin::sim
