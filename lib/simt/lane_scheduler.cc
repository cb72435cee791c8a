// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/lane_scheduler.h"

#include <fmt/format.h>

#include <algorithm>

#include "anygin/base/env_real.h"
#include "anygin/base/mutant.h"
#include "anygin/base/order.h"
#include "anygin/base/wait_reason.h"
#include "anygin/base/world.h"
#include "anygin/simt/lane_report.h"

namespace anygin::simt {

LaneScheduler::LaneScheduler(const SchedulerShape& shape) : shape_(shape), runner_(shape.stacks, shape.guards) {}

uint64_t worker_of_block(const Grid& grid, uint64_t linear, uint64_t workers) {
  const auto first = grid.blocks < workers ? static_cast<uint64_t>(grid.device.device) : 0;
  return (first + linear) % workers;
}

// --- Grids come in ---

void LaneScheduler::place(Grid& grid) {
  const std::lock_guard lock(inbox_mutex_);
  inbox_.push_back(&grid);
  inbox_full_.store(true, std::memory_order_release);
}

bool LaneScheduler::take_inbox() {
  if (!inbox_full_.load(std::memory_order_acquire)) return false;
  std::vector<Grid*> grids;
  {
    const std::lock_guard lock(inbox_mutex_);
    grids.swap(inbox_);
    inbox_full_.store(false, std::memory_order_relaxed);
  }
  const std::lock_guard turn(turn_);
  occupied_.store(true, std::memory_order_relaxed);
  for (Grid* grid : grids) {
    const uint64_t first =
        (shape_.worker + shape_.workers - worker_of_block(*grid, 0, shape_.workers)) % shape_.workers;
    cursors_.push_back(std::make_unique<GridCursor>(GridCursor{grid, first, grid->blocks, shape_.workers}));
    if (Block* block = admit(*cursors_.back())) resident_.push_back(block);
  }
  return true;
}

// --- Blocks come and go ---

bool LaneScheduler::has_room(const GridCursor& cursor) const {
  const uint32_t lanes = cursor.grid->lanes_per_block;
  return lanes_resident_ + lanes <= runner_.stacks() && cursor.grid->device.has_room(lanes);
}

Block* LaneScheduler::admit(GridCursor& cursor) {
  if (!cursor.pending() || cursor.grid->abandoned()) return nullptr;
  if (!runner_.prepare_stacks(cursor.grid->stack_bytes)) {
    cursor.grid->fail(
        fmt::format("no address space for stacks of {} KiB (cudaLimitStackSize)", cursor.grid->stack_bytes / 1024));
    return nullptr;
  }
  const uint32_t lanes = cursor.grid->lanes_per_block;
  if (lanes_resident_ + lanes > runner_.stacks() || !cursor.grid->device.take(lanes)) return nullptr;
  lanes_resident_ += lanes;
  ++cursor.resident;
  Block* block = pool_.take(lanes);
  block->begin(*cursor.grid, cursor, cursor.next);
  block->apart = shape_.whole_blocks > 0 && lanes > shape_.single_lanes &&
                 world().choices.pick_below(ChoiceKind::kLaneOrder, shape_.whole_blocks + 1) == 0;
  cursor.next += cursor.step;
  if (cursor.pending()) admitted_at_ = pass_time();
  if (shape_.order != LaneOrder::kForward) order_lanes(*block);
  return block;
}

// Only other policies than the canonical one are decisions.
void LaneScheduler::order_lanes(Block& block) {
  std::vector<uint16_t>& order = block.start_order_storage;
  order.resize(block.lanes);
  for (uint32_t nth = 0; nth < block.lanes; ++nth) order[nth] = static_cast<uint16_t>(block.lanes - 1 - nth);
  if (shape_.order == LaneOrder::kChosen) {
    for (size_t left = order.size(); left > 1; --left) {
      std::swap(order[left - 1], order[world().choices.pick_below(ChoiceKind::kLaneOrder, left)]);
    }
  }
  block.start_order = order.data();
}

bool LaneScheduler::pending() const {
  return std::any_of(cursors_.begin(), cursors_.end(), [](const auto& cursor) { return cursor->pending(); });
}

bool LaneScheduler::admit_on_stall() {
  const std::lock_guard turn(turn_);
  clock_read_ = false;
  return admit_one_each();
}

bool LaneScheduler::admit_one_each() {
  if (MUTANT(simt_admission_never)) return false;
  bool admitted = false;
  for (const auto& cursor : cursors_) {
    if (Block* block = admit(*cursor)) {
      resident_.push_back(block);
      admitted = true;
    }
  }
  return admitted;
}

// Lanes that poll, sleep and meet again may look like progress for ever while they wait for a block that has not
// started: on a device all would be resident. So a grid gets its next block after a while, whatever the others do.
bool LaneScheduler::admit_in_time() {
  if (!pending()) return false;
  return pass_time() - admitted_at_ >= kAdmissionPatience && admit_one_each();
}

// Grids that found the device full when they came get their first block as soon as there is room.
bool LaneScheduler::admit_lonely() {
  bool admitted = false;
  for (const auto& cursor : cursors_) {
    if (cursor->resident != 0) continue;
    if (Block* block = admit(*cursor)) {
      resident_.push_back(block);
      admitted = true;
    }
  }
  return admitted;
}

// The block has no lane left. Returns the one that takes its place, if any. The grid may be gone afterwards.
Block* LaneScheduler::finish(Block& block) {
  GridCursor& cursor = *block.cursor;
  Grid& grid = *block.grid;
  lanes_resident_ -= block.lanes;
  grid.device.give_back(block.lanes);
  --cursor.resident;
  pool_.give_back(&block);
  Block* next = admit(cursor);
  uint64_t finished = 1;
  if (grid.abandoned()) {
    finished += cursor.left();
    cursor.next = cursor.end;
  }
  finished_.push_back({&grid, finished});
  return next;
}

// Tells the streams what is finished; not under turn_: they may place the next grid here.
void LaneScheduler::tell_finished() {
  for (const Finished& one : finished_) {
    if (one.grid->blocks_left.fetch_sub(one.blocks, std::memory_order_acq_rel) != one.blocks) continue;
    const std::function<void()> done = std::move(one.grid->done);
    done();
  }
  finished_.clear();
}

// Takes finished blocks and spent cursors off the lists. A grid that failed before any block was admitted ends here.
void LaneScheduler::sweep() {
  std::erase(resident_, nullptr);
  for (const auto& cursor : cursors_) {
    if (cursor->resident != 0 || !cursor->pending() || !cursor->grid->abandoned()) continue;
    finished_.push_back({cursor->grid, cursor->left()});
    cursor->next = cursor->end;
  }
  std::erase_if(cursors_, [](const auto& cursor) { return cursor->resident == 0 && !cursor->pending(); });
}

// --- The worker's pass ---

bool LaneScheduler::pass(Executor& executor) {
  bool progress = take_inbox();
  if (idle()) return progress;
  clock_read_ = false;
  earliest_deadline_ = kNever;
  bool further = progress;
  for (size_t i = 0; i < resident_.size(); ++i) {
    Block& block = *resident_[i];
    bool ran;
    {
      const std::lock_guard turn(turn_);
      const uint64_t advances = block.advances;
      count_visit();
      ran = visit(block);
      count_visit();
      further |= ran && (block.advances != advances || block.grid->abandoned());
      if (block.finished()) resident_[i] = finish(block);
    }
    if (!finished_.empty()) tell_finished();
    if (ran) executor.poll_nearby();
    progress |= ran;
  }
  {
    const std::lock_guard turn(turn_);
    sweep();
    const bool lonely = admit_lonely();
    const bool admitted = admit_in_time() || lonely;
    progress |= admitted;
    further |= admitted;
    count_lanes();
  }
  tell_finished();
  if (further) progress_.store(progress_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  return progress;
}

void LaneScheduler::count_visit() {
  visits_.store(visits_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

bool LaneScheduler::visit(Block& block) {
  const bool woken = !block.parked.empty() && wake_parked(block);
  if (block.grid->device.ended.any()) [[unlikely]]
    end_if_hopeless(block);
  if (block.grid->abandoned()) {
    runner_.abandon(block);
    return true;
  }
  return runner_.visit(block) || woken;
}

void LaneScheduler::pace_spins(uint64_t took_ns, uint64_t wanted_ns) {
  const int ticks = runner_.later_ticks();
  if (took_ns < wanted_ns / 2) {
    runner_.set_later_ticks(std::min(ticks * 2, kLongestTurn));
  } else if (took_ns > wanted_ns * 2) {
    runner_.set_later_ticks(std::max(ticks / 2, LaneRunner::kLaterTicks));
  }
}

Time LaneScheduler::pass_time() {
  if (!clock_read_) now_ = world().clock.now();
  clock_read_ = true;
  return now_;
}

// True if the wait is over; its record then says how.
bool LaneScheduler::settle(ParkedLane parked) {
  const Waiter& waiter = *parked.record->waiter;
  if (waiter.test(waiter.object)) {
    parked.record->outcome = WaitOutcome::kSatisfied;
    return true;
  }
  if (waiter.abort_word && load_relaxed(waiter.abort_word) != 0) {
    parked.record->outcome = WaitOutcome::kAborted;
    return true;
  }
  if (waiter.deadline == kNever) return false;
  if (pass_time() >= waiter.deadline) {
    parked.record->outcome = WaitOutcome::kDeadline;
    return true;
  }
  earliest_deadline_ = std::min(earliest_deadline_, waiter.deadline);
  return false;
}

namespace {

// Some lane polls memory, with or without pauses.
bool polls(const Block& block) {
  return block.runnable() || std::any_of(block.parked.begin(), block.parked.end(),
                                         [](const ParkedLane& one) { return is_pause(*one.record->waiter); });
}

// The lane leaves, and with its device lost so do all others of the grid: none goes on from where it waits.
void fail_hopeless(const Block& block, const ParkedLane& parked) {
  const Waiter& waiter = *parked.record->waiter;
  const auto cause = static_cast<AbortCause>(load_relaxed(waiter.abort_word));
  block.grid->fail(
      lane_text(block, parked.lane) + ": " + describe_cause(cause) + ", in " + describe_reason(waiter.reason), cause);
}

}  // namespace

bool LaneScheduler::wake_parked(Block& block) {
  std::vector<ParkedLane>& parked = block.parked;
  size_t kept = 0;
  for (const ParkedLane& one : parked) {
    if (!settle(one)) {
      parked[kept++] = one;
      continue;
    }
    if (MUTANT(simt_wakeup_lost)) continue;
    block.push_ready(one.lane);
    if (!is_pause(*one.record->waiter)) {
      block.idle_polls = 0;
      ++block.advances;
    }
    if (one.record->outcome == WaitOutcome::kAborted && !block.grid->abandoned()) fail_hopeless(block, one);
  }
  const bool woken = kept != parked.size();
  parked.resize(kept);
  return woken;
}

// Looks at the block now and then. Its grid fails if a communicator that it hopes for has ended.
void LaneScheduler::end_if_hopeless(Block& block) {
  const Time now = pass_time();
  if (now < block.look_at || block.grid->abandoned()) return;
  const bool got_on = block.look_at == 0 || block.advances != block.advances_seen;
  if (block.look_at == 0) block.seen_since = now;
  if (got_on || block.polls_since == kNever) block.polls_since = polls(block) ? now : kNever;
  block.advances_seen = block.advances;
  block.look_at = now + kEndedUseLook;
  const auto [why, again] = block.grid->device.ended.judge({*block.grid, block.seen_since, block.polls_since}, now);
  if (!why.empty())
    block.grid->fail(fmt::format("block ({},{},{}): {}", block.index.x, block.index.y, block.index.z, why), AbortCause::kAborted);
  block.ends_at = again;
}

// --- Reports ---

void LaneScheduler::count_lanes() {
  uint64_t runnable = 0, blocked = 0;
  spinning_ = false;
  for (const Block* block : resident_) {
    const uint32_t unstarted = block->lanes - block->started;
    runnable += unstarted;
    blocked += block->live - unstarted;
    spinning_ |= block->runnable();
  }
  runnable_.store(runnable, std::memory_order_relaxed);
  blocked_.store(blocked, std::memory_order_relaxed);
  occupied_.store(!idle(), std::memory_order_relaxed);
}

LaneScheduler::Counts LaneScheduler::counts() const {
  const bool coming = inbox_full_.load(std::memory_order_relaxed);
  return {runnable_.load(std::memory_order_relaxed) + coming, blocked_.load(std::memory_order_relaxed),
          progress_.load(std::memory_order_relaxed), visits_.load(std::memory_order_relaxed), runner_.clock_reads()};
}

bool LaneScheduler::lock_turn(std::unique_lock<std::mutex>& turn, uint64_t patience_ns) const {
  const Time give_up = world().clock.now() + patience_ns * kNanosecond;
  while (!turn.try_lock()) {
    if (world().clock.now() >= give_up) return false;
    yield_thread();
  }
  return true;
}

bool LaneScheduler::visit_pending(uint64_t patience_ns, const std::function<void(const Grid&, uint64_t)>& visit) {
  std::unique_lock turn(turn_, std::defer_lock);
  if (!lock_turn(turn, patience_ns)) return false;
  for (const auto& cursor : cursors_) {
    if (cursor->pending()) visit(*cursor->grid, cursor->left());
  }
  return true;
}

bool LaneScheduler::visit_blocks(uint64_t patience_ns, const std::function<void(const Block&)>& visit) {
  std::unique_lock turn(turn_, std::defer_lock);
  if (!lock_turn(turn, patience_ns)) return false;
  visit_blocks_stopped(visit);
  return true;
}

void LaneScheduler::visit_blocks_stopped(const std::function<void(const Block&)>& visit) const {
  for (const Block* block : resident_) {
    if (block && !block->finished()) visit(*block);
  }
}

}  // namespace anygin::simt
