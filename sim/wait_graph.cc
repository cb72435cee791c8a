// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/wait_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace anygin::sim {
namespace {

constexpr size_t kNone = ~size_t{0};

// What the other side would have to do.
std::string wanted_of(WaitKind kind, uint64_t index, uint32_t context) {
  switch (kind) {
    case WaitKind::kSignal:
    case WaitKind::kVaSignal:
      return fmt::format("a signal (context {} index {})", context, index);
    case WaitKind::kGinBarrier:
      return fmt::format("GIN barrier (context {} index {})", context, index);
    case WaitKind::kLsaBarrier:
      return fmt::format("LSA barrier (index {})", index);
    case WaitKind::kElement:
      return "a low-latency element";
    case WaitKind::kCounter:
      return fmt::format("a counter (context {} index {})", context, index);
    case WaitKind::kFlush:
      return "a flush";
    case WaitKind::kCredit:
      return "room in the queue";
    default:
      return "memory to change";
  }
}

bool of_the_own_nic(WaitKind kind) {
  return kind == WaitKind::kCounter || kind == WaitKind::kFlush || kind == WaitKind::kCredit;
}

}  // namespace

WaitGraph::Grid& WaitGraph::grid(uint64_t id) {
  if (id >= grids_.size()) grids_.resize(id + 1);
  return grids_[id];
}

void WaitGraph::on_event(const TraceEvent& event) {
  switch (event.kind) {
    case TraceKind::kLaunch: {
      Grid& one = grid(event.grid);
      one.known = true;
      one.device = event.context;
      one.stream = event.operation;
      one.blocks = event.value;
      one.kernel = event.call_site;
      return;
    }
    case TraceKind::kLaneStart: {
      Grid& one = grid(event.grid);
      one.started = std::max(one.started, event.value + 1);  // blocks are admitted in order
      ++one.live;
      return;
    }
    case TraceKind::kLaneExit:
      --grid(event.grid).live;
      parked_.erase({event.grid, event.lane});
      return;
    case TraceKind::kWaitBegin:
      if (event.rank >= 0) grid(event.grid).rank = event.rank;
      parked_[{event.grid, event.lane}] = {static_cast<WaitKind>(event.operation), event.peer, event.context,
                                           event.bytes};
      return;
    case TraceKind::kWaitEnd:
      parked_.erase({event.grid, event.lane});
      return;
    default:
      return;
  }
}

std::string WaitGraph::describe(size_t id) const {
  return fmt::format("kernel {} (launch {})", name_(grids_[id].kernel), id);
}

// Of each grid; one that has not waited is of the rank that the others of its stream are of.
std::map<size_t, Rank> WaitGraph::ranks() const {
  std::map<std::pair<uint32_t, uint64_t>, Rank> of_stream;
  for (const Grid& one : grids_) {
    if (one.rank >= 0) of_stream[{one.device, one.stream}] = one.rank;
  }
  std::map<size_t, Rank> ranks;
  for (size_t id = 0; id < grids_.size(); ++id) {
    const auto found = of_stream.find({grids_[id].device, grids_[id].stream});
    if (grids_[id].known && found != of_stream.end()) ranks[id] = found->second;
  }
  return ranks;
}

std::map<size_t, std::vector<WaitGraph::Wait>> WaitGraph::waits() const {
  std::map<size_t, std::set<Wait>> each;
  for (const auto& [lane, wait] : parked_) each[lane.first].insert(wait);
  std::map<size_t, std::vector<Wait>> waits;
  for (const auto& [id, some] : each) waits[id].assign(some.begin(), some.end());
  return waits;
}

// The kernel of the same stream that must be over first.
size_t WaitGraph::before(size_t id) const {
  for (size_t earlier = 0; earlier < id; ++earlier) {
    const Grid& one = grids_[earlier];
    if (one.known && !one.over() && one.device == grids_[id].device && one.stream == grids_[id].stream) return earlier;
  }
  return kNone;
}

// Whoever could end it: the kernels of the awaited rank, or of any other rank, that are not over. If the same kernel is
// queued there behind another one, that other one is in the way.
void WaitGraph::add_wait(size_t id, const Wait& wait, const std::map<size_t, Rank>& ranks, Report& report,
                         std::vector<Edge>& edges) const {
  const auto mine = ranks.find(id);
  const std::string who =
      fmt::format("{}{} waits for {}", mine == ranks.end() ? "" : fmt::format("rank {} ", mine->second), describe(id),
                  wanted_of(wait.kind, wait.index, wait.context));
  if (of_the_own_nic(wait.kind)) {
    report.edges.push_back(fmt::format("{}{}: what is in flight decides", who,
                                       wait.peer >= 0 ? fmt::format(" towards rank {}", wait.peer) : ""));
    return;
  }
  std::vector<std::string> could;
  for (const auto& [other, rank] : ranks) {
    const bool candidate = wait.peer >= 0 ? rank == wait.peer : mine == ranks.end() || rank != mine->second;
    if (!candidate || grids_[other].over()) continue;
    if (grids_[other].runs()) {
      could.push_back(fmt::format("rank {} {}, which runs", rank, describe(other)));
      edges.push_back({id, other, false});
      continue;
    }
    const size_t in_the_way = before(other);
    if (in_the_way == kNone) {
      could.push_back(fmt::format("rank {} {}, which has not started", rank, describe(other)));
      continue;
    }
    could.push_back(fmt::format("rank {} {}, which is queued behind {}", rank, describe(other), describe(in_the_way)));
    edges.push_back({id, in_the_way, grids_[other].kernel == grids_[id].kernel});
  }
  const std::string from = wait.peer >= 0 ? fmt::format(" of rank {}", wait.peer) : "";
  if (could.empty()) {
    report.edges.push_back(
        fmt::format("{}{}: no kernel that could {} is left", who, from, wait.peer >= 0 ? "come" : "send it"));
  }
  for (const std::string& one : could) report.edges.push_back(fmt::format("{}{}: {}", who, from, one));
}

std::string WaitGraph::find_circle(const std::vector<Edge>& edges, const std::map<size_t, Rank>& ranks) const {
  // Depth first from each kernel in turn; the first way back to it is told.
  std::vector<const Edge*> way;
  std::set<size_t> seen;
  size_t start = 0;
  const std::function<bool(size_t)> walk = [&](size_t at) {
    for (const Edge& edge : edges) {
      if (edge.from != at) continue;
      way.push_back(&edge);
      if (edge.to == start || (seen.insert(edge.to).second && walk(edge.to))) return true;
      way.pop_back();
    }
    return false;
  };
  for (const Edge& edge : edges) {
    start = edge.from;
    way.clear();
    seen = {start};
    if (walk(start)) break;
  }
  if (way.empty()) return "";
  std::string text = "circle: ";
  bool crossed = false;
  for (const Edge* edge : way) {
    text += fmt::format("rank {} {} -> ", ranks.at(edge->from), describe(edge->from));
    crossed |= std::any_of(edges.begin(), edges.end(),
                           [&](const Edge& one) { return one.queued && one.from == edge->from && one.to == edge->to; });
  }
  text += fmt::format("rank {}", ranks.at(start));
  if (crossed) text += "; crossed kernels: ranks launch kernels that wait for each other in different orders";
  return text;
}

WaitGraph::Report WaitGraph::describe() const {
  Report report;
  std::vector<Edge> edges;
  const std::map<size_t, Rank> owners = ranks();
  for (const auto& [id, some] : waits()) {
    for (const Wait& wait : some) add_wait(id, wait, owners, report, edges);
  }
  for (size_t id = 0; id < grids_.size(); ++id) {
    const Grid& one = grids_[id];
    if (!one.known || one.started == one.blocks || one.started == 0) continue;
    report.edges.push_back(
        fmt::format("{}: {} of {} blocks have not started, as there is no room beside those that wait", describe(id),
                    one.blocks - one.started, one.blocks));
  }
  // A kernel that waits for no rank that is known to be in the graph is in no circle.
  std::erase_if(edges, [&](const Edge& edge) { return owners.count(edge.from) == 0 || owners.count(edge.to) == 0; });
  std::stable_sort(edges.begin(), edges.end(),
                   [&](const Edge& a, const Edge& b) { return owners.at(a.from) < owners.at(b.from); });
  report.circle = find_circle(edges, owners);
  return report;
}

}  // namespace anygin::sim
