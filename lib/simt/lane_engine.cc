// SPDX-License-Identifier: Apache-2.0
// The scheduler as an engine: a simulator picks which lane goes to its next scheduling point, and when a block is
// admitted. Canonical order: blocks as admitted; in a block the next lane to start, then the ready ones; then blocks
// that could be admitted. On a device all that fit are resident at once, so an admission is offered whenever there is
// room.
#include <fmt/format.h>

#include <algorithm>

#include "anygin/base/assert.h"
#include "anygin/base/world.h"
#include "anygin/simt/lane_report.h"
#include "anygin/simt/lane_scheduler.h"

namespace anygin::simt {

namespace {

// An action's name: which grid, block and lane. Grids and blocks beyond the fields' range share names; find_block()
// takes the first.
constexpr int kLaneBits = 11;
constexpr int kBlockBits = 31;

uint64_t name_of(uint64_t grid, uint64_t block, uint32_t lane) {
  return grid << (kBlockBits + kLaneBits) | (block & ((uint64_t{1} << kBlockBits) - 1)) << kLaneBits | lane;
}
uint64_t name_of(const Block& block, uint32_t lane) {
  return name_of(block.grid->id, block.linear, lane);
}
uint32_t lane_of(uint64_t name) {
  return name & ((1u << kLaneBits) - 1);
}

// Moves `lane` to the front of the ready ring; the others keep their order.
void bring_to_front(Block& block, uint32_t lane) {
  uint32_t at = block.ready_head;
  while (block.ready[at & block.ready_mask] != lane) ++at;
  ANYGIN_ASSERT(at - block.ready_head < block.ready_count());
  for (; at != block.ready_head; --at) block.ready[at & block.ready_mask] = block.ready[(at - 1) & block.ready_mask];
  block.ready[block.ready_head & block.ready_mask] = static_cast<uint16_t>(lane);
}

}  // namespace

bool LaneScheduler::has_work() const {
  return inbox_full_.load(std::memory_order_relaxed) || occupied_.load(std::memory_order_relaxed);
}

void LaneScheduler::ready(ActionList& out) {
  take_inbox();
  clock_read_ = false;
  earliest_deadline_ = kNever;
  for (Block* block : resident_) offer_lanes(*block, out);
  out.wake_at(earliest_deadline_);
  for (const auto& cursor : cursors_) {
    if (!cursor->pending()) continue;
    // One that failed before any block was admitted ends when it is run.
    const bool ends = cursor->grid->abandoned() && cursor->resident == 0;
    if (ends || (!cursor->grid->abandoned() && has_room(*cursor)))
      out.add(shape_.id, kAdmit, name_of(cursor->grid->id, cursor->next, 0));
  }
}

void LaneScheduler::offer_lanes(Block& block, ActionList& out) {
  if (!block.parked.empty()) wake_parked(block);
  if (block.grid->device.ended.any()) {
    end_if_hopeless(block);
    if (block.ends_at != kNever) out.wake_at(std::min(block.look_at, block.ends_at));
  }
  if (block.grid->abandoned()) {
    out.add(shape_.id, kAbandon, name_of(block, 0));
    return;
  }
  if (block.polled_clock && block.only_polls()) {  // a delay loop: time goes on for it
    if (block.clock_steps.look(pass_time())) block.polled_clock = false;
    out.wake_at(block.clock_steps.next());
  }
  if (block.lanes > shape_.single_lanes) {
    if (block.runnable()) out.add(shape_.id, kVisitBlock, name_of(block, 0)).only_polls = block.only_polls();
    return;
  }
  if (block.has_unstarted()) {
    const uint32_t lane = block.start_order ? block.start_order[block.started] : block.started;
    out.add(shape_.id, kStartLane, name_of(block, lane));
  }
  const bool only_polls = block.only_polls();
  for (uint32_t at = block.ready_head; at != block.ready_tail; ++at) {
    out.add(shape_.id, kResumeLane, name_of(block, block.ready[at & block.ready_mask])).only_polls = only_polls;
  }
}

Block* LaneScheduler::find_block(uint64_t action_name) const {
  for (Block* block : resident_) {
    if (block && name_of(*block, 0) >> kLaneBits == action_name >> kLaneBits) return block;
  }
  return nullptr;
}

void LaneScheduler::run_lane(Block& block, const Action& action) {
  const uint64_t advances = block.advances, clock_reads = runner_.clock_reads();
  move_lane(block, action);
  block.polled_clock |= runner_.clock_reads() != clock_reads;
  if (block.advances != advances) block.clock_steps.begin_again();
  pace_polls(block.advances != advances);
  if (!block.finished()) return;
  for (Block*& slot : resident_) {
    if (slot == &block) slot = finish(block);
  }
}

// Raw loops that get nowhere for long may compute: they get longer turns, by steps alone, so that a seed's run is the
// same everywhere.
void LaneScheduler::pace_polls(bool advanced) {
  constexpr uint64_t kPatience = 2048;
  constexpr int kLongest = 2048;
  if (advanced) {
    barren_steps_ = 0;
    spin_briefly();
  } else if (++barren_steps_ % kPatience == 0) {
    runner_.set_later_ticks(std::min(runner_.later_ticks() * 2, kLongest));
  }
}

void LaneScheduler::move_lane(Block& block, const Action& action) {
  if (action.kind == kAbandon) {
    runner_.abandon(block);
  } else if (action.kind == kVisitBlock) {
    block.apart ? visit_apart(block) : void(runner_.visit(block));
  } else {
    if (action.kind == kResumeLane) bring_to_front(block, lane_of(action.name));
    runner_.run_one(block, action.kind == kStartLane);
  }
}

// Lanes of a large block one by one: an action each would cost too much, so an action is a burst of them.
void LaneScheduler::visit_apart(Block& block) {
  constexpr int kBurst = 32;
  for (int step = 0; step < kBurst && block.runnable() && !block.grid->abandoned(); ++step) {
    const uint32_t ready = block.ready_count();
    const uint64_t chosen = world().choices.pick_below(ChoiceKind::kLaneOrder, ready + (block.has_unstarted() ? 1 : 0));
    if (chosen < ready) {
      const auto at = block.ready_head + static_cast<uint32_t>(chosen);
      std::swap(block.ready[block.ready_head & block.ready_mask], block.ready[at & block.ready_mask]);
    }
    runner_.run_one(block, chosen == ready);
    if (block.only_polls()) return;
  }
}

void LaneScheduler::run(const Action& action, Time) {
  {
    const std::lock_guard turn(turn_);
    if (action.kind == kAdmit) {
      for (const auto& cursor : cursors_) {
        if (name_of(cursor->grid->id, cursor->next, 0) != action.name) continue;
        if (Block* block = admit(*cursor)) resident_.push_back(block);
      }
    } else {
      Block* block = find_block(action.name);
      ANYGIN_ASSERT(block);
      run_lane(*block, action);
    }
    sweep();
    admit_lonely();
    count_lanes();
  }
  tell_finished();
  progress_.fetch_add(1, std::memory_order_relaxed);
}

void LaneScheduler::describe_pending(std::vector<std::string>& out) const {
  for (const Block* block : resident_) {
    if (!block) continue;
    for (const LaneState& lane : describe_lanes(*block)) {
      out.push_back(fmt::format("{} {}: {}", block->grid->name(), lane_text(*block, lane.lane), lane.what));
    }
  }
}

}  // namespace anygin::simt
