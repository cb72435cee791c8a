// SPDX-License-Identifier: Apache-2.0
// The blocks of one worker: which are resident, when the next is admitted, whose waits are over. An engine (one action
// = one lane to its next scheduling point) for a simulator; production loops over pass().
//
// Blocks are admitted on stall: one of each grid at first, one more when one finishes, and one more of every grid when
// a pass over all resident blocks got nowhere, up to what the device declares to hold and the stacks allow. Nothing is
// resident unless something needs it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "anygin/base/engine.h"
#include "anygin/base/executor.h"
#include "anygin/simt/block.h"
#include "anygin/simt/lane_runner.h"

namespace anygin::simt {

// The blocks of a grid that one worker runs. `grid` is valid while any of them is left.
struct GridCursor {
  Grid* grid;
  uint64_t next;  // linear index of the next block to admit
  uint64_t end;
  uint64_t step;
  uint32_t resident = 0;

  bool pending() const { return next < end; }
  uint64_t left() const { return pending() ? (end - next + step - 1) / step : 0; }  // blocks not admitted
};

// Which of `workers` runs a block. Equal blocks of different devices go to the same worker, as they are likely to talk
// to each other; but grids that are too small to employ all workers go to different ones, so that they run side by
// side.
uint64_t worker_of_block(const Grid& grid, uint64_t linear, uint64_t workers);

// In which order the lanes of a block start. Canonical: forward.
enum class LaneOrder : uint8_t { kForward, kReverse, kChosen };

struct SchedulerShape {
  EngineId id;
  uint64_t worker = 0;  // of `workers`: runs the blocks that worker_of_block() says
  uint64_t workers = 1;
  size_t stacks = 0;
  LaneOrder order = LaneOrder::kForward;  // kChosen asks world().choices
  // As an engine: lanes of blocks of at most so many move one by one, larger blocks as a whole.
  uint32_t single_lanes = kLanesMax;
  // Of larger blocks so many stay whole for one whose lanes move one by one, too, as world().choices say. 0: all do.
  // Canonical: all do.
  uint32_t whole_blocks = 0;
  StackPool::Guards guards = StackPool::Guards::kInstalled;
};

class alignas(128) LaneScheduler final : public Engine {
 public:
  explicit LaneScheduler(const SchedulerShape& shape);

  // Hands over this worker's share of the grid, which has one. Any thread. Rings nobody.
  void place(Grid& grid);

  // --- The worker's loop. Owner thread ---
  // Visits every resident block once and polls `executor` after each that ran. True if anything got further.
  bool pass(Executor& executor);
  // After a pass without progress: admits one more block of every grid that has any. True if one was.
  bool admit_on_stall();
  bool idle() const { return resident_.empty() && cursors_.empty(); }
  // Some blocks are not admitted yet.
  bool pending() const;
  // Some lanes spin: they can run, and only their polling tells whether they got somewhere.
  bool spinning() const { return spinning_; }
  // After a pass that got nowhere and took `took_ns`: lanes in raw loops may be spinning as well as computing, so they
  // get longer turns until a pass takes about `wanted_ns`, which bounds what looking around costs them
  // (docs/decisions/0024).
  void pace_spins(uint64_t took_ns, uint64_t wanted_ns);
  // Something got further: lanes that spin look often again.
  void spin_briefly() { runner_.set_later_ticks(LaneRunner::kLaterTicks); }
  // Of the parked lanes, as of the last pass.
  Time earliest_deadline() const { return earliest_deadline_; }

  // --- Engine. Owner token held; a scheduler is driven either this way or by pass() ---
  EngineId id() const override { return shape_.id; }
  std::string_view name() const override { return "lanes"; }
  bool has_work() const override;
  void ready(ActionList& out) override;
  void run(const Action& action, Time now) override;
  void describe_pending(std::vector<std::string>& out) const override;

  // --- Reports. Any thread ---
  struct Counts {
    uint64_t runnable;  // have not started, or their block is not admitted though there is room
    uint64_t blocked;   // wait for something, or only poll
    uint64_t progress;  // counts passes that got somewhere; a lane that slept and looked did not
    uint64_t visits;    // odd while lanes run: the same odd number twice, and one of them ran all the time between
    uint64_t clock_reads;
  };
  Counts counts() const;
  // Calls `visit` for every resident block while none of their lanes runs. False if one ran on for `patience_ns`.
  bool visit_blocks(uint64_t patience_ns, const std::function<void(const Block&)>& visit);
  // For a debugger: the same without the lock, while all threads stand still.
  void visit_blocks_stopped(const std::function<void(const Block&)>& visit) const;
  // Calls `visit` for every grid with blocks that are not resident. Same rules.
  bool visit_pending(uint64_t patience_ns, const std::function<void(const Grid&, uint64_t blocks)>& visit);

 private:
  struct Finished {
    Grid* grid;
    uint64_t blocks;
  };
  enum ActionKind : uint16_t { kStartLane, kResumeLane, kVisitBlock, kAbandon, kAdmit };
  bool has_room(const GridCursor& cursor) const;

  bool take_inbox();
  Block* admit(GridCursor& cursor);
  static constexpr Time kAdmissionPatience = kMillisecond;
  static constexpr int kLongestTurn = 1 << 20;
  bool admit_one_each();
  bool admit_in_time();
  bool admit_lonely();
  void count_visit();
  bool visit(Block& block);
  bool wake_parked(Block& block);
  bool settle(ParkedLane parked);
  void end_if_hopeless(Block& block);
  Block* finish(Block& block);
  void sweep();
  void tell_finished();
  void count_lanes();
  void order_lanes(Block& block);
  Time pass_time();
  bool lock_turn(std::unique_lock<std::mutex>& turn, uint64_t patience_ns) const;
  Block* find_block(uint64_t action_name) const;
  void offer_lanes(Block& block, ActionList& out);
  void run_lane(Block& block, const Action& action);
  void move_lane(Block& block, const Action& action);
  void pace_polls(bool advanced);
  void visit_apart(Block& block);

  const SchedulerShape shape_;
  LaneRunner runner_;
  BlockPool pool_;
  std::vector<Block*> resident_;  // in order of admission; null once finished, until swept
  std::vector<std::unique_ptr<GridCursor>> cursors_;
  std::vector<Finished> finished_;  // not yet told
  size_t lanes_resident_ = 0;       // each may need a stack
  uint64_t barren_steps_ = 0;       // as an engine: since a lane got further than a poll
  bool spinning_ = false;
  bool clock_read_ = false;  // in this pass
  Time now_ = 0;
  Time earliest_deadline_ = kNever;
  Time admitted_at_ = 0;  // when the last block was admitted while others waited

  // Held while lanes run and while the lists change; free between blocks.
  mutable std::mutex turn_;

  alignas(128) std::mutex inbox_mutex_;
  std::vector<Grid*> inbox_;
  std::atomic<bool> inbox_full_{false};

  // Written by the owner.
  alignas(128) std::atomic<uint64_t> runnable_{0};
  std::atomic<uint64_t> blocked_{0};
  std::atomic<uint64_t> progress_{0};
  std::atomic<uint64_t> visits_{0};
  std::atomic<bool> occupied_{false};
};

}  // namespace anygin::simt
