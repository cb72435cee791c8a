// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/lane_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <tuple>

#include "anygin/base/code_site.h"
#include "anygin/base/wait_reason.h"
#include "anygin/simt/device.h"
#include "anygin/simt/grid.h"
#include "anygin/simt/lane_machine.h"

namespace anygin::simt {

namespace {

void describe_named_barriers(const Block& block, std::vector<LaneState>& out) {
  for (int id = 1; id < NamedBarriers::kCount; ++id) {
    const NamedBarrier& barrier = block.named.at(id);
    for (const uint16_t lane : barrier.lanes) {
      out.push_back(
          {lane, fmt::format("bar.sync {}: {} threads came, {} wanted", id, barrier.lanes.size(), barrier.threads)});
    }
  }
}

// " (at ring.cu:31)", or nothing.
std::string line_of(const void* site, SourceLines lines) {
  return lines == SourceLines::kYes ? fmt::format(" (at {})", describe_line(site)) : "";
}

void describe_warp_groups(const Block& block, SourceLines lines, std::vector<LaneState>& out) {
  if (block.gathering == 0) return;
  for (uint32_t warp = 0; warp * kWarpSize < block.lanes; ++warp) {
    const WarpState& state = block.warps[warp];
    for (uint32_t i = 0; i < state.group_count; ++i) {
      const WarpGroup& group = state.groups[i];
      for (uint32_t rest = group.arrived; rest != 0; rest &= rest - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
        out.push_back(
            {warp * kWarpSize + lane, fmt::format("warp operation of mask {:#x}: {:#x} came{}", group.mask,
                                                  group.arrived, line_of(state.ops[lane]->call_site, lines))});
      }
    }
  }
}

}  // namespace

std::string describe_cause(AbortCause cause) {
  switch (cause) {
    case AbortCause::kAlive:
      return "left the kernel";
    case AbortCause::kAborted:
      return "left the kernel: the communicator was aborted";
    case AbortCause::kPeerDied:
      return "left the kernel: a peer died";
    case AbortCause::kNicError:
      return "left the kernel: the NIC reported an error";
    case AbortCause::kMisuse:
      return "left the kernel: the device API was misused";
    case AbortCause::kHang:
      return "left the kernel: a hang was found";
    case AbortCause::kRevoked:
      return "left the kernel: the communicator was revoked";
  }
  return fmt::format("left the kernel: abort cause {}", static_cast<uint32_t>(cause));
}

std::vector<LaneState> describe_lanes(const Block& block, SourceLines source_lines) {
  std::vector<LaneState> lanes;
  const uint32_t unstarted = block.lanes - block.started;
  for (uint32_t i = 0; i < block.arrived; ++i) {
    lanes.push_back({block.at_barrier[i], fmt::format("__syncthreads: {} of {} came{}", block.arrived, block.live,
                                                      unstarted != 0 ? ", some have not started" : "")});
  }
  for (const ParkedLane& parked : block.parked) {
    WaitReason reason = parked.record->waiter->reason;
    if (source_lines == SourceLines::kNo) reason.call_site = nullptr;
    lanes.push_back({parked.lane, describe_reason(reason)});
  }
  for (const ConvergingLane& one : block.converging) lanes.push_back({one.lane, "__activemask"});
  for (uint32_t at = block.ready_head; at != block.ready_tail; ++at) {
    const uint16_t lane = block.ready[at & block.ready_mask];
    lanes.push_back({lane, source_lines == SourceLines::kYes
                               ? fmt::format("spins at {}", describe_line(block.contexts[lane].pc))
                               : std::string("can run")});
  }
  describe_named_barriers(block, lanes);
  describe_warp_groups(block, source_lines, lanes);
  std::sort(lanes.begin(), lanes.end(), [](const LaneState& a, const LaneState& b) { return a.lane < b.lane; });
  return lanes;
}

namespace {

constexpr uint64_t kPatienceNs = 100'000'000;

auto place_of(const BlockedLane& lane) {
  return std::make_tuple(lane.device, lane.grid, lane.block[2], lane.block[1], lane.block[0], lane.thread[2],
                         lane.thread[1], lane.thread[0]);
}

void add_lanes(const Block& block, std::vector<BlockedLane>& out) {
  const std::string kernel = block.grid->name();
  for (LaneState& state : describe_lanes(block)) {
    const Index3 thread = block.grid->thread_of(state.lane);
    out.push_back({block.grid->device.device,
                   kernel,
                   block.grid->id,
                   {block.index.x, block.index.y, block.index.z},
                   {thread.x, thread.y, thread.z},
                   std::move(state.what)});
  }
}

}  // namespace

std::vector<std::string> unplaced_blocks() {
  struct Pending {
    std::string kernel, room;
    uint64_t blocks = 0;
  };
  std::map<uint64_t, Pending> pending;  // by grid
  for (LaneScheduler* scheduler : lane_machine().schedulers()) {
    scheduler->visit_pending(kPatienceNs, [&](const Grid& grid, uint64_t blocks) {
      const DeviceLoad& load = grid.device;
      Pending& one = pending[grid.id];
      one.kernel = grid.name();
      one.room = fmt::format("device {} holds {} of {} threads, {} of {} blocks", load.device, load.lanes.load(),
                             load.lanes_max, load.blocks.load(), load.blocks_max);
      one.blocks += blocks;
    });
  }
  std::vector<std::string> lines;
  lines.reserve(pending.size());
  for (const auto& [id, one] : pending) {
    lines.push_back(
        fmt::format("kernel {} (grid {}): {} blocks wait for room; {}", one.kernel, id, one.blocks, one.room));
  }
  return lines;
}

std::vector<BlockedLane> blocked_lanes(size_t limit) {
  std::vector<BlockedLane> lanes;
  for (LaneScheduler* scheduler : lane_machine().schedulers()) {
    if (!scheduler->visit_blocks(kPatienceNs, [&](const Block& block) { add_lanes(block, lanes); })) {
      lanes.push_back({-1, "a worker", 0, {}, {}, "runs a lane that came to no scheduling point for 100 ms"});
    }
  }
  std::sort(lanes.begin(), lanes.end(), [](const auto& a, const auto& b) { return place_of(a) < place_of(b); });
  if (lanes.size() > limit) lanes.resize(limit);
  return lanes;
}

uint64_t runnable_lanes() {
  uint64_t sum = 0;
  for (LaneScheduler* scheduler : lane_machine().schedulers()) sum += scheduler->counts().runnable;
  return sum;
}

uint64_t parked_lanes() {
  uint64_t sum = 0;
  for (LaneScheduler* scheduler : lane_machine().schedulers()) sum += scheduler->counts().blocked;
  return sum;
}

bool LaneWatch::look() {
  const auto& schedulers = lane_machine().schedulers();
  seen_.resize(schedulers.size());
  bool moves = false;
  for (size_t i = 0; i < seen_.size(); ++i) {
    const LaneScheduler::Counts counts = schedulers[i]->counts();
    moves |= (counts.visits % 2 == 1 && counts.visits == seen_[i].visits) || counts.clock_reads != seen_[i].clock_reads;
    seen_[i] = {counts.visits, counts.clock_reads};
  }
  return moves;
}

uint64_t lane_progress() {
  uint64_t sum = 0;
  for (LaneScheduler* scheduler : lane_machine().schedulers()) sum += scheduler->counts().progress;
  return sum;
}

}  // namespace anygin::simt
