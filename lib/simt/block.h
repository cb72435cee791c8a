// SPDX-License-Identifier: Apache-2.0
// A resident block: its lanes, and what they wait for. One worker owns it; nothing here is atomic.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "anygin/base/clock_steps.h"
#include "anygin/base/wait.h"
#include "anygin/simt/device_runtime.h"
#include "anygin/simt/fiber.h"
#include "anygin/simt/named_barrier.h"
#include "anygin/simt/shared_memory.h"
#include "anygin/simt/warp_ops.h"

namespace anygin::simt {

class Grid;
struct GridCursor;

inline constexpr uint32_t kLanesMax = 1024;
inline constexpr uint32_t kWarpSize = 32;

// A wait that the scheduler tests; lives on the waiting lane's stack.
struct ParkRecord {
  Waiter* waiter = nullptr;
  WaitOutcome outcome = WaitOutcome::kSatisfied;
};

struct ParkedLane {
  ParkRecord* record;
  uint16_t lane;
};

// A sleep of the program's own: part of a loop that polls.
inline bool is_pause(const Waiter& waiter) {
  return waiter.reason.kind == WaitKind::kSpin && waiter.deadline != kNever;
}

// Lanes that asked for the active mask: answered together once nothing else of the block can run.
struct ConvergingLane {
  const void* site;
  volatile uint32_t* mask;
  uint16_t lane;
};

// Text that a lane printed without ending its line.
struct PartialLine {
  uint16_t lane;
  std::string text;
};

// __syncthreads_count/and/or: what has come in so far, and what lanes that were released will read.
struct BarrierReduction {
  BlockReduce kind = BlockReduce::kNone;
  int count = 0;
  int all = 1;
  int any = 0;
};

// Why the lanes of a block may not simply switch to the next ready one: bits of Block::detours.
inline constexpr uint32_t kDetourStart = 1;   // some lanes have not started
inline constexpr uint32_t kDetourShape = 2;   // the block has more than one dimension
inline constexpr uint32_t kDetourReduce = 4;  // the lanes at the block barrier came with a reduction
inline constexpr uint32_t kDetourHome = 8;    // the scheduler wants to be back at every scheduling point

struct alignas(128) Block {
  explicit Block(uint32_t lane_capacity);

  // Prepares a pooled block for its next life.
  void begin(Grid& of_grid, GridCursor& of_cursor, uint64_t linear_block);

  uint32_t ready_count() const { return ready_tail - ready_head; }
  bool has(uint32_t any_of) const { return (detours & any_of) != 0; }
  bool has_unstarted() const { return has(kDetourStart); }
  // The first `count` lanes have started.
  void set_started(uint32_t count) {
    started = count;
    if (count == lanes) detours &= ~kDetourStart;
  }
  bool runnable() const { return has_unstarted() || ready_tail != ready_head; }
  bool finished() const { return live == 0; }
  // Every lane that can run has polled since anything happened.
  bool only_polls() const { return !has_unstarted() && idle_polls >= ready_count(); }
  void push_ready(uint32_t lane) { ready[ready_tail++ & ready_mask] = static_cast<uint16_t>(lane); }
  uint32_t pop_ready() { return ready[ready_head++ & ready_mask]; }
  void push_ready(const uint16_t* first, uint32_t count);
  void arrive_at_barrier() { at_barrier[arrived++] = static_cast<uint16_t>(current); }
  // The lanes at the barrier become ready.
  void release_barrier();
  void note_release() {
    ++releases;
    polls = idle_polls = 0;
  }
  bool has_exited(uint32_t lane) const { return exited[lane / kWarpSize] >> (lane % kWarpSize) & 1; }

  // Written at every switch.
  FiberContext* contexts;  // by lane
  uint16_t* ready;         // ring of lanes that can run, first in first out
  uint16_t* at_barrier;    // lanes at the block barrier, in order of arrival
  uint32_t ready_mask;
  uint32_t ready_head = 0, ready_tail = 0;
  uint32_t lanes = 0;
  uint32_t started = 0;     // lanes below have started; set_started()
  uint32_t live = 0;        // lanes that have not exited, started or not
  uint32_t current = 0;     // the lane that runs
  uint32_t arrived = 0;     // at the block barrier
  uint32_t gathering = 0;   // lanes in warp operations and named barriers: an exit may release them
  uint32_t polls = 0;       // yields since the last release or visit
  uint32_t idle_polls = 0;  // yields since a lane last started, ended, was released or woken
  uint32_t detours = 0;     // kDetour...: one look tells whether the common way is open
  bool apart = false;       // its lanes move one by one though it is large; set once
  uint64_t releases = 0;    // barriers and warp operations completed

  // Fixed while resident.
  Grid* grid = nullptr;
  GridCursor* cursor = nullptr;
  uint64_t linear = 0;
  Index3 index{};

  uint32_t exited[kLanesMax / kWarpSize];
  uint64_t barriers = 0;  // completed block barriers; the parity selects the reduction
  BarrierReduction reductions[2];
  WarpState* warps;                // by warp
  std::vector<ParkedLane> parked;  // in order of arrival
  std::vector<ConvergingLane> converging;
  std::vector<PartialLine> lines;
  NamedBarriers named;
  SharedMemory shared;
  const uint16_t* start_order = nullptr;  // lane to start as the nth; null: the nth
  std::vector<uint16_t> start_order_storage;

  // For EndedUses; times are 0 before the first look.
  uint64_t advances = 0;       // visits that got further than a poll
  uint64_t advances_seen = 0;  // at the last look
  Time look_at = 0;            // not before
  // As an engine's: lanes polled the clock, and when there is no more to do at this time they are to see a later one.
  bool polled_clock = false;
  ClockSteps clock_steps;
  Time ends_at = kNever;  // its grid, if it gets no further
  Time seen_since = 0, polls_since = 0;

  const uint32_t capacity;

 private:
  std::vector<uint16_t> lane_lists_;
  std::vector<FiberContext> context_storage_;
  std::vector<WarpState> warp_storage_;
};

// Blocks that finished wait here for their next life, by size.
class BlockPool {
 public:
  Block* take(uint32_t lanes);
  void give_back(Block* block);

 private:
  static constexpr int kClasses = 6;  // 32, 64 ... 1024 lanes
  std::vector<std::unique_ptr<Block>> owned_;
  std::vector<Block*> free_[kClasses];
};

}  // namespace anygin::simt
