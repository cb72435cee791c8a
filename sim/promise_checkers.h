// SPDX-License-Identifier: Apache-2.0
// All checkers of promises that read along in a run, as one.
#pragma once

#include "anygin/sim/flow_checker.h"
#include "anygin/sim/queue_checker.h"

namespace anygin::sim {

class PromiseCheckers final : public Checker, public WireWatcher {
 public:
  explicit PromiseCheckers(const FlowChecker::Report& report) : flows_(report), queues_(report) {}
  // The world whose memory the events name; it outlives this.
  void set_world(World& world) {
    flows_.set_world(&world);
    queues_.set_words([&world](MemName name) {
      const bool ours = name.heap == world.heap.id();
      return ours ? reinterpret_cast<const uint64_t*>(world.memory.address(name)) : nullptr;
    });
  }

  void on_event(const TraceEvent& event) override {
    flows_.on_event(event);
    queues_.on_event(event);
  }
  void on_port_opened(Rank rank) override {
    flows_.on_port_opened(rank);
    queues_.on_port_opened(rank);
  }
  void on_port_closed(Rank rank) override {
    flows_.on_port_closed(rank);
    queues_.on_port_closed(rank);
  }
  void on_sent(Rank from, Rank to, const emulated::Message& message) override { flows_.on_sent(from, to, message); }

 private:
  FlowChecker flows_;
  QueueChecker queues_;
};

}  // namespace anygin::sim
