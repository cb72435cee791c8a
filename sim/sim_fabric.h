// SPDX-License-Identifier: Apache-2.0
// The fabric of the simulated world: every pair of NICs has a wire each way, in order, and every arrival is an action.
// No memory counts as mapped: all goes by messages, so that the NIC at the target decides what becomes visible when,
// and a watcher sees every operation. Delays are choices; faults come from the plan.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "anygin/base/engine.h"
#include "anygin/emulated/fabric/fabric.h"
#include "anygin/sim/fault_plan.h"

namespace anygin::sim {

// Hears of every message when it is sent, before any fault.
class WireWatcher {
 public:
  virtual ~WireWatcher() = default;
  virtual void on_port_opened(Rank rank) = 0;
  // Every port of the process with that rank is closed in peace when its communicator ends.
  virtual void on_port_closed(Rank rank) = 0;
  virtual void on_sent(Rank from, Rank to, const emulated::Message& message) = 0;
};

class SimFabric final : public emulated::FabricProvider, public Engine {
 public:
  static constexpr uint64_t kWireBytes = 256 * 1024;
  static constexpr Time kRetransmission = 500 * kMicrosecond;  // after which a lost message goes again
  static constexpr Time kFullFor = 100 * kMicrosecond;

  SimFabric(EngineId id, FaultPlan& faults, WireWatcher* watcher) : id_(id), faults_(faults), watcher_(watcher) {}

  Result<std::unique_ptr<emulated::Port>> open_port(World& world, Bootstrap& bootstrap,
                                                    const Options& options) override;

  // Nothing goes to or from `rank` any more.
  void lose(Rank rank);

  EngineId id() const override { return id_; }
  std::string_view name() const override { return "wires"; }
  bool has_work() const override { return flying_ > 0 || full_wires_ > 0; }
  void ready(ActionList& out) override;
  void run(const Action& action, Time now) override;
  void describe_pending(std::vector<std::string>& out) const override;

 private:
  class SimPort;
  struct Packet {
    std::string bytes;
    Time due = 0;
  };
  struct Wire {
    Rank from = -1, to = -1;
    std::deque<Packet> flying, arrived;
    uint64_t bytes = 0;
    Time full_until = 0;
  };

  void fly(Wire& wire, const emulated::Message& header, const char* payload, Time due);
  void send(World& world, Wire& wire, Wire* back, const emulated::Message& header, const char* payload);
  bool has_room(World& world, Wire& wire);

  const EngineId id_;
  FaultPlan& faults_;
  WireWatcher* const watcher_;
  std::map<uint32_t, SimPort*> ports_;  // open ones, by number
  uint32_t ports_opened_ = 0;
  std::map<uint64_t, std::unique_ptr<Wire>> wires_;  // by (from port, to port)
  std::set<Rank> lost_;
  size_t flying_ = 0, full_wires_ = 0;
};

}  // namespace anygin::sim
