// SPDX-License-Identifier: Apache-2.0
#include "perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace anygin::tools {
namespace {

constexpr int kLinks = 9999;    // the group of the links
constexpr int kDevices = 5000;  // groups of grids whose rank no event tells

double us(uint64_t time_ps) {
  return static_cast<double>(time_ps) / 1e6;
}

const char* wait_name(uint64_t kind) {
  constexpr const char* kNames[] = {"a wait", "waitSignal",  "waitSignal (window)", "waitCounter", "flush",
                                    "credit", "GIN barrier", "LSA barrier",         "reset",       "an element",
                                    "a spin"};
  return kind < std::size(kNames) ? kNames[kind] : "a wait";
}

class Painter {
 public:
  explicit Painter(const std::vector<FileEvent>& events) : events_(events) {
    for (const FileEvent& event : events_) {
      if (event.kind == "launch") device_[event.grid] = static_cast<int>(event.context);
      if (event.kind == "wait_begin" && event.rank >= 0) rank_[event.grid] = event.rank;
      if (event.kind == "source_read") senders_[{event.rank, event.peer}].insert(event.context);
      if (event.kind == "visible") receivers_[{event.peer, event.rank}].insert(event.context);
    }
  }
  Picture paint() {
    for (const FileEvent& event : events_) {
      if (event.kind.rfind("lane_", 0) == 0) {
        lane(event);
      } else if (event.kind.rfind("wait_", 0) == 0) {
        wait(event);
      } else if (event.kind == "post" || event.kind == "local_done" || event.kind == "decode") {
        engine(event, "proxy");
      } else if (event.kind == "source_read") {
        source_read(event);
      } else if (event.kind == "visible" || event.kind == "signal") {
        arrival(event);
      }
    }
    for (const auto& [flow, reads] : reads_) draw_links(flow, reads);
    return std::move(picture_);
  }

 private:
  struct Read {
    Picture::Place place;
    double visible = 0;  // the last granule
  };

  int group_of_rank(int rank) {
    picture_.group(rank + 1, fmt::format("rank {}", rank));
    return rank + 1;
  }
  int group_of_grid(uint64_t grid) {
    const auto rank = rank_.find(grid);
    if (rank != rank_.end()) return group_of_rank(rank->second);
    const int device = device_[grid];
    picture_.group(kDevices + device, fmt::format("device {}", device));
    return kDevices + device;
  }

  // A block is from its first lane's start to its last lane's exit.
  void lane(const FileEvent& event) {
    if (event.kind == "lane_start") {
      Block& block = blocks_[{event.grid, event.value}];
      if (block.alive++ == 0) block.since = event.time_ps;
      (void)lane_of_block(event.grid, event.value);  // above the lanes of its waits
      lanes_of_block_[{event.grid, event.lane}].push_back(event.value);
      return;
    }
    // Exits do not name their block: the first one that this lane started in and has not left.
    std::vector<uint64_t>& started = lanes_of_block_[{event.grid, event.lane}];
    if (started.empty()) return;
    const uint64_t index = started.front();
    started.erase(started.begin());
    Block& block = blocks_[{event.grid, index}];
    if (--block.alive == 0) draw_block(event.grid, index, block.since, event.time_ps);
    leave_waits(event);
  }
  Picture::Place lane_of_block(uint64_t grid, uint64_t index) {
    const int group = group_of_grid(grid);
    return {group, picture_.lane(group, fmt::format("grid {} block {}", grid, index)), 0};
  }
  void draw_block(uint64_t grid, uint64_t index, uint64_t from_ps, uint64_t to_ps) {
    Picture::Place place = lane_of_block(grid, index);
    place.at = us(from_ps);
    picture_.slice(place, "block", us(to_ps - from_ps));
  }
  Picture::Place lane_of_wait(uint64_t grid, uint64_t lane) {
    const int group = group_of_grid(grid);
    return {group, picture_.lane(group, fmt::format("grid {} lane {} waits", grid, lane)), 0};
  }
  // A lane that leaves in a wait has no end of it.
  void leave_waits(const FileEvent& exit) {
    for (auto it = waits_.lower_bound({exit.grid, exit.lane, 0, 0, 0}); it != waits_.end();) {
      const auto& [grid, lane, kind, heap, offset] = it->first;
      if (grid != exit.grid || lane != exit.lane) return;
      Picture::Place place = lane_of_wait(grid, lane);
      place.at = us(it->second);
      picture_.slice(place, fmt::format("{} -> never", wait_name(kind)), us(exit.time_ps - it->second));
      it = waits_.erase(it);
    }
  }

  void wait(const FileEvent& event) {
    const std::tuple key{event.grid, event.lane, event.operation, event.heap, event.offset};
    if (event.kind == "wait_begin") {
      waits_[key] = event.time_ps;
      return;
    }
    const auto begun = waits_.find(key);
    if (begun == waits_.end()) return;
    Picture::Place place = lane_of_wait(event.grid, event.lane);
    place.at = us(begun->second);
    picture_.slice(place, fmt::format("{} -> {}", wait_name(event.operation), event.value),
                   us(event.time_ps - begun->second));
    if (const auto signal = last_signal_.find({event.heap, event.offset}); signal != last_signal_.end()) {
      place.at = std::max({us(event.time_ps) - Picture::kInstant, place.at, signal->second.at});
      picture_.arrow(signal->second, place);
    }
    waits_.erase(begun);
  }

  void engine(const FileEvent& event, const char* who) {
    const int group = group_of_rank(event.rank);
    picture_.slice({group, picture_.lane(group, who), us(event.time_ps)},
                   fmt::format("{} to {}", event.kind, event.peer));
  }

  Picture::Place nic(const FileEvent& event) {
    const int group = group_of_rank(event.rank);
    return {group, picture_.lane(group, "NIC"), us(event.time_ps)};
  }

  // Each side numbers its queue pairs anew: the n-th of those that read sources is the n-th of those at which something
  // became visible. -1: it cannot be told.
  int flow_number(const std::pair<int, int>& ranks, uint64_t queue_pair, bool at_target) const {
    const auto sent = senders_.find(ranks), seen = receivers_.find(ranks);
    if (sent == senders_.end() || seen == receivers_.end() || sent->second.size() != seen->second.size()) return -1;
    const std::set<uint64_t>& pairs = at_target ? seen->second : sent->second;
    const auto found = pairs.find(queue_pair);
    return found == pairs.end() ? -1 : static_cast<int>(std::distance(pairs.begin(), found));
  }

  void source_read(const FileEvent& event) {
    const Picture::Place place = nic(event);
    picture_.slice(place, fmt::format("read {} bytes for {}", event.bytes, event.peer));
    const int flow = flow_number({event.rank, event.peer}, event.context, false);
    if (flow >= 0) reads_[{event.rank, event.peer, flow}].emplace(event.operation, Read{place, 0});
  }

  void arrival(const FileEvent& event) {
    const Picture::Place place = nic(event);
    const bool is_signal = event.kind == "signal";
    picture_.slice(place, is_signal ? fmt::format("signal from {}: {}", event.peer, event.value)
                                    : fmt::format("{} bytes visible from {}", event.bytes, event.peer));
    if (is_signal) last_signal_[{event.heap, event.offset}] = place;
    const int flow = flow_number({event.peer, event.rank}, event.context, true);
    auto& reads = reads_[{event.peer, event.rank, flow}];
    // The read of this operation; of a signal, that of its payload just before it.
    const auto read = reads.find(is_signal ? event.operation - 1 : event.operation);
    if (read == reads.end()) return;
    if (is_signal) {
      picture_.arrow(read->second.place, place);
    } else {
      read->second.visible = place.at;
    }
  }

  // A put is on its link from the first read of its source until its last granule is visible.
  void draw_links(const std::tuple<int, int, int>& flow, const std::map<uint64_t, Read>& reads) {
    for (const auto& [operation, read] : reads) {
      if (read.visible < read.place.at) continue;
      picture_.group(kLinks, "links");
      picture_.span(kLinks, fmt::format("{} to {}", std::get<0>(flow), std::get<1>(flow)), read.place.at, read.visible);
    }
  }

  struct Block {
    uint64_t since = 0;
    uint64_t alive = 0;
  };
  const std::vector<FileEvent>& events_;
  Picture picture_;
  std::map<uint64_t, int> device_, rank_;                                          // by grid
  std::map<std::pair<uint64_t, uint64_t>, Block> blocks_;                          // by (grid, block)
  std::map<std::pair<uint64_t, uint64_t>, std::vector<uint64_t>> lanes_of_block_;  // by (grid, lane)
  std::map<std::tuple<uint64_t, uint64_t, uint64_t, uint64_t, uint64_t>, uint64_t> waits_;
  std::map<std::pair<int, int>, std::set<uint64_t>> senders_, receivers_;  // queue pairs, by (initiator, target)
  std::map<std::tuple<int, int, int>, std::map<uint64_t, Read>> reads_;    // by (initiator, target, flow), by operation
  std::map<std::pair<uint64_t, uint64_t>, Picture::Place> last_signal_;    // by cell
};

}  // namespace

Picture picture_of(const std::vector<FileEvent>& events) {
  return Painter(events).paint();
}

}  // namespace anygin::tools
