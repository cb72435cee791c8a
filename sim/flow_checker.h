// SPDX-License-Identifier: Apache-2.0
// The promises about puts and signals, checked on every event of every run, independently of the code that keeps them:
// what was sent is taken from the wires, what happened from the event stream.
//
//   order      a strong signal is applied when all before it in its flow is visible; any signal after its own payload
//              (P1, P2); in profile inorder everything is in order
//   exactness  no byte becomes visible twice, no signal is applied twice, cells change by what was added, or from zero (P4)
//   bounds     bytes land inside one live allocation (M6)
//   honesty    an operation is acknowledged when it is visible as a whole (P31)
//   quiet      a communicator that ends in peace has nothing in flight
//
// Two communicators of one process with a rank in common cannot be told apart in events: then the checks of that rank
// stop.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "anygin/base/heap.h"
#include "anygin/base/options.h"
#include "anygin/base/world.h"
#include "anygin/sim/sim_fabric.h"
#include "anygin/sim/sim_trace.h"

namespace anygin::sim {

class FlowChecker final : public Checker, public WireWatcher {
 public:
  using Report = std::function<void(std::string)>;
  explicit FlowChecker(Report report) : report_(std::move(report)) {}
  // The world whose memory the events name; null: bounds are not checked.
  void set_world(World* world) { world_ = world; }

  void on_event(const TraceEvent& event) override;
  void on_port_opened(Rank rank) override;
  void on_port_closed(Rank rank) override;
  void on_sent(Rank from, Rank to, const emulated::Message& message) override;

 private:
  struct Operation {
    bool is_add = false, is_read = false, may_pass = false, grouped = false;
    uint32_t total = 0;
    uint32_t unsettled = 0;
    uint64_t add = 0;
    uint64_t visible = 0;  // bytes; of an add, 8 once applied
    bool acknowledged = false;
    bool done() const { return is_read || visible >= (is_add ? 8 : total); }
  };
  struct FlowName {
    Rank target, source;
    uint32_t queue_pair;  // the target's
    friend auto operator<=>(const FlowName&, const FlowName&) = default;
  };
  struct Flow {
    std::map<uint32_t, Operation> operations;  // by sequence
    uint32_t floor = 0;                        // the initiator knows all before it to be visible
    bool below_floor(uint32_t sequence) const { return static_cast<int32_t>(sequence - floor) < 0; }
  };
  bool watched(Rank rank) const { return open_.count(rank) != 0 && shared_.count(rank) == 0; }
  void take_request(const FlowName& name, const emulated::Message& message);
  void take_visible(const TraceEvent& event);
  void take_signal(const TraceEvent& event);
  void take_acknowledgement(const FlowName& name, const emulated::Message& message);
  Operation* find(const TraceEvent& event, FlowName* name);
  void check_before(const FlowName& name, uint32_t sequence, const Operation& operation, const char* what);
  void check_bounds(const TraceEvent& event);
  void check_cell(const FlowName& name, const TraceEvent& event, uint64_t add);
  std::optional<Allocation> allocation_at(const MemName& name) const;
  void complain(const FlowName& name, uint32_t sequence, const std::string& what);

  const Report report_;
  World* world_ = nullptr;
  std::map<FlowName, Flow> flows_;
  // The allocation's serial, 0 if it is not known: memory that is given out again begins at zero.
  struct Cell {
    uint64_t allocation = 0, value = 0;  // after the last add
  };
  std::map<std::pair<uint32_t, uint64_t>, Cell> cells_;  // by (heap, offset)
  std::map<Rank, int> open_;
  std::set<Rank> shared_;  // ranks that two open ports have
};

}  // namespace anygin::sim
