// SPDX-License-Identifier: Apache-2.0
#include "perfetto.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

namespace anygin::tools {
namespace {

constexpr double kInstantUs = 0.05;  // how wide things without duration are drawn
constexpr int kLinks = 9999;         // the group of the links
constexpr int kDevices = 5000;       // groups of grids whose rank no event tells

double us(uint64_t time_ps) {
  return static_cast<double>(time_ps) / 1e6;
}

// Output, and the lanes that were named in it.
class Picture {
 public:
  // The number of the lane `name` in group `group`; named when first used.
  int lane(int group, const std::string& name) {
    const auto [it, fresh] = lanes_.emplace(std::pair(group, name), static_cast<int>(lanes_.size()) + 1);
    if (fresh) meta("thread_name", group, it->second, name);
    return it->second;
  }
  void group(int group, const std::string& name) {
    if (groups_.insert(group).second) meta("process_name", group, 0, name);
  }
  void slice(int group, int lane, const std::string& name, double from_us, double us_long) {
    add(fmt::format(R"("ph":"X","pid":{},"tid":{},"name":"{}","ts":{:.4f},"dur":{:.4f})", group, lane, name, from_us,
                    std::max(us_long, kInstantUs)));
  }
  void arrow(const char* phase, int group, int lane, uint64_t id, double at_us) {
    add(fmt::format(R"("ph":"{}","bp":"e","cat":"put","name":"put","id":{},"pid":{},"tid":{},"ts":{:.4f})", phase, id,
                    group, lane, at_us + kInstantUs / 2));
  }
  void span(const char* phase, int group, const std::string& name, uint64_t id, double at_us) {
    add(fmt::format(R"("ph":"{}","cat":"link","name":"{}","id":{},"pid":{},"tid":0,"ts":{:.4f})", phase, name, id,
                    group, at_us));
  }
  std::string text() const { return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + body_ + "\n]}\n"; }

 private:
  void meta(const char* what, int group, int lane, const std::string& name) {
    add(fmt::format(R"("ph":"M","name":"{}","pid":{},"tid":{},"args":{{"name":"{}"}})", what, group, lane, name));
  }
  void add(const std::string& fields) { body_ += (body_.empty() ? "{" : ",\n{") + fields + "}"; }

  std::map<std::pair<int, std::string>, int> lanes_;
  std::set<int> groups_;
  std::string body_;
};

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
    }
  }
  std::string paint() {
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
    return picture_.text();
  }

 private:
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
      lanes_of_block_[{event.grid, event.lane}].push_back(event.value);
      return;
    }
    // Exits do not name their block: the first one that this lane started in and has not left.
    std::vector<uint64_t>& started = lanes_of_block_[{event.grid, event.lane}];
    if (started.empty()) return;
    const uint64_t index = started.front();
    started.erase(started.begin());
    Block& block = blocks_[{event.grid, index}];
    if (--block.alive != 0) return;
    const int group = group_of_grid(event.grid);
    picture_.slice(group, picture_.lane(group, fmt::format("grid {} block {}", event.grid, index)), "block",
                   us(block.since), us(event.time_ps - block.since));
  }

  void wait(const FileEvent& event) {
    const std::tuple key{event.grid, event.lane, event.operation, event.heap, event.offset};
    if (event.kind == "wait_begin") {
      waits_[key] = event.time_ps;
      return;
    }
    const auto begun = waits_.find(key);
    if (begun == waits_.end()) return;
    const int group = group_of_grid(event.grid);
    const int lane = picture_.lane(group, fmt::format("grid {} lane {} waits", event.grid, event.lane));
    picture_.slice(group, lane, fmt::format("{} -> {}", wait_name(event.operation), event.value), us(begun->second),
                   us(event.time_ps - begun->second));
    if (const auto signal = last_signal_.find({event.heap, event.offset}); signal != last_signal_.end()) {
      picture_.arrow("s", signal->second.group, signal->second.lane, ++arrows_, signal->second.at_us);
      picture_.arrow("f", group, lane, arrows_, std::max(us(event.time_ps) - kInstantUs, us(begun->second)));
    }
    waits_.erase(begun);
  }

  void engine(const FileEvent& event, const char* who) {
    const int group = group_of_rank(event.rank);
    picture_.slice(group, picture_.lane(group, who), fmt::format("{} to {}", event.kind, event.peer), us(event.time_ps),
                   kInstantUs);
  }

  void source_read(const FileEvent& event) {
    const int group = group_of_rank(event.rank);
    const int lane = picture_.lane(group, "NIC");
    picture_.slice(group, lane, fmt::format("read {} bytes for {}", event.bytes, event.peer), us(event.time_ps),
                   kInstantUs);
    reads_[{event.rank, event.peer}][event.operation] = {group, lane, us(event.time_ps)};
    picture_.group(kLinks, "links");
    picture_.span("b", kLinks, fmt::format("{} to {}", event.rank, event.peer),
                  link_id(event.rank, event.peer, event.operation), us(event.time_ps));
  }

  void arrival(const FileEvent& event) {
    const int group = group_of_rank(event.rank);
    const int lane = picture_.lane(group, "NIC");
    const std::string name = event.kind == "visible" ? fmt::format("{} bytes visible from {}", event.bytes, event.peer)
                                                     : fmt::format("signal from {}: {}", event.peer, event.value);
    picture_.slice(group, lane, name, us(event.time_ps), kInstantUs);
    auto& reads = reads_[{event.peer, event.rank}];
    // The read of this operation; of a signal, that of its payload just before it.
    auto read = reads.upper_bound(event.operation);
    if (event.kind == "signal") last_signal_[{event.heap, event.offset}] = {group, lane, us(event.time_ps)};
    if (read == reads.begin()) return;
    --read;
    if (event.kind == "visible") {
      picture_.span("e", kLinks, fmt::format("{} to {}", event.peer, event.rank),
                    link_id(event.peer, event.rank, read->first), us(event.time_ps));
    } else {
      picture_.arrow("s", read->second.group, read->second.lane, ++arrows_, read->second.at_us);
      picture_.arrow("f", group, lane, arrows_, us(event.time_ps));
    }
  }
  static uint64_t link_id(int from, int to, uint64_t operation) {
    return (static_cast<uint64_t>(from) << 48) ^ (static_cast<uint64_t>(to) << 32) ^ operation;
  }

  struct Block {
    uint64_t since = 0;
    uint64_t alive = 0;
  };
  struct Place {
    int group = 0, lane = 0;
    double at_us = 0;
  };
  const std::vector<FileEvent>& events_;
  Picture picture_;
  std::map<uint64_t, int> device_, rank_;                                          // by grid
  std::map<std::pair<uint64_t, uint64_t>, Block> blocks_;                          // by (grid, block)
  std::map<std::pair<uint64_t, uint64_t>, std::vector<uint64_t>> lanes_of_block_;  // by (grid, lane)
  std::map<std::tuple<uint64_t, uint64_t, uint64_t, uint64_t, uint64_t>, uint64_t> waits_;
  std::map<std::pair<int, int>, std::map<uint64_t, Place>> reads_;  // by (initiator, target), by operation
  std::map<std::pair<uint64_t, uint64_t>, Place> last_signal_;      // by cell
  uint64_t arrows_ = 0;
};

}  // namespace

std::string to_perfetto(const std::vector<FileEvent>& events) {
  return Painter(events).paint();
}

}  // namespace anygin::tools
