// SPDX-License-Identifier: Apache-2.0
// The control carrier of the simulated world: ranks of one process meet in a table, links are queues, and the control
// loop is an engine, so that the order of control work is a choice like any other.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <vector>

#include "anygin/base/engine.h"
#include "anygin/comm/control_carrier.h"

namespace anygin::sim {

class SimControl final : public comm::ControlCarrier, public comm::ControlLoop, public Engine {
 public:
  explicit SimControl(EngineId id) : id_(id) {}

  // --- Carrier ---
  comm::ControlLoop& loop() override { return *this; }
  Result<comm::UniqueId> open_place(const Options& options) override;
  Status prepare(const comm::UniqueId& id, Rank rank, const Options& options) override;
  Result<std::unique_ptr<comm::Assembly>> assemble(const comm::UniqueId& id, const comm::Member& me,
                                                   comm::Patience patience) override;

  // Every other rank's connection to `rank` ends, as if its process had died.
  // False if nobody is connected to such a rank.
  bool lose(Rank rank);

  // --- Loop ---
  void post(std::function<void()> work) override;
  void drain() override;
  void set_beat(uint64_t, std::function<void()>) override {}  // the scheduler judges hangs

  // --- Engine ---
  EngineId id() const override { return id_; }
  std::string_view name() const override { return "control plane"; }
  bool has_work() const override { return !posted_.empty() || ready_links_ > 0; }
  void ready(ActionList& out) override;
  void run(const Action& action, Time now) override;
  // Ranks that wait for others to join.
  void describe_pending(std::vector<std::string>& out) const override;

 private:
  class Link;
  class Party;
  struct Place;
  enum ActionKind : uint16_t { kPosted, kMessage };

  const EngineId id_;
  uint64_t places_ = 0;
  uint64_t links_made_ = 0;
  std::map<std::string, std::shared_ptr<Place>> open_places_;  // by token
  std::deque<std::function<void()>> posted_;
  uint64_t posts_ = 0, posts_run_ = 0;
  std::map<uint64_t, Link*> links_;  // started ones, by number
  size_t ready_links_ = 0;           // with something to deliver
};

}  // namespace anygin::sim
