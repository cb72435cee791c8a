// SPDX-License-Identifier: Apache-2.0
// Who waits for whom, at any moment of a run, from the event stream: kernels that run, kernels that are queued behind
// them, and waits of their lanes. When nothing can move any more it names the circle, if there is one, and kernels that
// ranks launched in crossed orders.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "anygin/base/trace.h"
#include "anygin/sim/sim_trace.h"

namespace anygin::sim {

class WaitGraph final : public Checker {
 public:
  // Names a kernel by its address.
  using KernelName = std::function<std::string(const void*)>;
  explicit WaitGraph(KernelName name) : name_(std::move(name)) {}

  void on_event(const TraceEvent& event) override;

  struct Report {
    std::vector<std::string> edges;  // a line each
    std::string circle;              // one line; empty if there is none
  };
  Report describe() const;

 private:
  struct Grid {
    bool known = false;
    Rank rank = -1;  // -1: no event has told yet
    uint32_t device = 0;
    uint64_t stream = 0;
    uint64_t blocks = 0, started = 0;  // blocks
    uint64_t live = 0;                 // lanes
    const void* kernel = nullptr;
    bool over() const { return known && started == blocks && live == 0; }
    bool runs() const { return known && started > 0 && !over(); }
  };
  struct Wait {
    WaitKind kind = WaitKind::kNone;
    Rank peer = -1;
    uint32_t context = 0;
    uint64_t index = 0;
    friend auto operator<=>(const Wait&, const Wait&) = default;
  };
  // One kernel waits for another, and why.
  struct Edge {
    size_t from, to;
    bool queued = false;  // the wanted kernel is queued behind `to`
  };

  Grid& grid(uint64_t id);
  std::string describe(size_t id) const;
  std::map<size_t, Rank> ranks() const;
  std::map<size_t, std::vector<Wait>> waits() const;  // of each grid, each kind once
  size_t before(size_t id) const;
  void add_wait(size_t id, const Wait& wait, const std::map<size_t, Rank>& ranks, Report& report,
                std::vector<Edge>& edges) const;
  std::string find_circle(const std::vector<Edge>& edges, const std::map<size_t, Rank>& ranks) const;

  const KernelName name_;
  std::vector<Grid> grids_;                               // by id
  std::map<std::pair<uint64_t, uint64_t>, Wait> parked_;  // by (grid, lane)
};

}  // namespace anygin::sim
