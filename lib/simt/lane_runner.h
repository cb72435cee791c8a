// SPDX-License-Identifier: Apache-2.0
// Runs the lanes of one block at a time on the worker's thread: which lane is next, on which stack, and how it leaves.
// A pooled stack runs lane after lane until one blocks; that lane keeps the stack, and the next start on another.
// Order within a block: lanes that have not started, then those that can run, first in first out.
#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "anygin/base/executor.h"
#include "anygin/base/trace.h"
#include "anygin/simt/block.h"
#include "anygin/simt/fiber.h"
#include "anygin/simt/grid.h"
#include "anygin/simt/stack_pool.h"

namespace anygin::simt {

class LaneRunner final : public LaneHost {
 public:
  LaneRunner(size_t stacks, StackPool::Guards guards);

  // --- Called by the scheduler, on the worker's own stack ---
  // Runs lanes of `block` until none can, or they have only polled. True if a lane got further than its next poll.
  bool visit(Block& block);
  // One lane to its next scheduling point: the next to start, or the first that is ready.
  void run_one(Block& block, bool start_next);
  // Retires every lane that is left, where it stands: nothing on their stacks is unwound.
  void abandon(Block& block);
  // Turns of a spinning loop that a lane has each time it goes on.
  static constexpr int kLaterTicks = 32;
  int later_ticks() const { return later_ticks_; }
  void set_later_ticks(int ticks) { later_ticks_ = ticks; }
  // Of each size.
  size_t stacks() const { return all_stacks_.count(); }
  // Before blocks of grids with such stacks are run. False if there is no address space for them.
  bool prepare_stacks(size_t bytes) { return all_stacks_.prepare(bytes); }

  // --- Called on a lane ---
  Block& block() { return *block_; }
  const Block& block() const { return *block_; }
  const StackPool& stacks_of_block() const { return *stacks_; }
  void sync_block();
  int sync_block_reduce(BlockReduce reduce, int predicate);
  void sync_named(int id, int threads);
  void arrive_named(int id, int threads);
  void warp_op(WarpOp& op);
  uint32_t active_mask(const void* site);
  bool next_lane();
  void lane_done(AbortCause cause = AbortCause::kAlive);
  WaitOutcome park(Waiter& waiter) override;
  void yield() override;
  [[noreturn]] void leave(AbortCause cause) override;
  // The lane's grid fails with `why`. The lane itself goes on; usually into exit_lane().
  void fail_lane(std::string_view why);
  // The lane is done here and now. Nothing on its stack is unwound: no frame above may own anything.
  [[noreturn]] void exit_lane(AbortCause cause);
  // Both.
  [[noreturn]] void fail_and_exit(const char* why);
  // The lane looked at the clock.
  void count_clock_read() { clock_reads_.store(clock_reads() + 1, std::memory_order_relaxed); }
  // So many lanes did. Any thread.
  uint64_t clock_reads() const { return clock_reads_.load(std::memory_order_relaxed); }
  // Runs `call` on the worker's stack: for library code that needs more than a lane has.
  void on_worker_stack(FiberEntry call, void* argument);

 private:
  static void run_stack(void* low);
  void run_fresh_lanes();
  void enter_block(Block& block);
  void go();
  void enter_lane(Block& block, uint32_t lane);
  void enter_shaped_lane(const Block& block, uint32_t lane);
  uint32_t enter_next_ready(Block& block);
  void switch_away(Block& block);
  void switch_by_detour(FiberContext* save, Block& block);
  static constexpr uint64_t kReleasesPerVisit = 4096;
  void pause_after_release(Block& block);
  struct BlockMark {
    uint32_t started;
    uint64_t releases, exits;
  };
  bool got_further(const Block& block, const BlockMark& since) const;
  void switch_home(Block& block);
  void start_stack(FiberContext* save);
  [[noreturn]] void end_stack(char* low);
  void check_canary(const Block& block, char* low);
  void release_after_exit(Block& block, uint32_t lane);
  // Releases the lanes at the block barrier.
  void release_block_barrier(Block& block);
  void complete_block_barrier(Block& block);
  void sync_block_by_detour(Block& block);

  // Counts the current lane's warp in; `how` is the instruction. Misuse does not return.
  NamedBarrier& join_named(const char* how, int id, int threads);

  // --- Events, where somebody records them ---
  void trace_lane(TraceKind kind, const Block& block, uint32_t lane, uint64_t value);
  void trace_wait(TraceKind kind, const Waiter& waiter);
  void record_on_worker_stack(TraceEvent& event);

  FiberContext home_;  // the scheduler, while lanes run
  Block* block_ = nullptr;
  int later_ticks_ = kLaterTicks;
  bool may_start_ = false;  // kDetourHome: may the stack take a lane that has not started?
  uint64_t exits_ = 0;
  uint64_t releases_at_visit_ = 0;  // the block's, when the visit began
  TraceSink* trace_ = nullptr;      // the world's if it is on; looked up when a block is entered
  StackPool* stacks_ = nullptr;     // the block's
  LaneStacks all_stacks_;
  std::atomic<uint64_t> clock_reads_{0};  // written by the owner
};

// The runner whose lane runs on this thread; null on host threads and between lanes.
extern __thread LaneRunner* current_runner __attribute__((tls_model("initial-exec")));

// Says that `what` needs a kernel, and aborts.
[[noreturn]] void refuse_host_thread(const char* what);

// The runner of the calling lane. Does not return on a host thread.
inline LaneRunner& runner_of_caller(const char* what) {
  if (!current_runner) [[unlikely]]
    refuse_host_thread(what);
  return *current_runner;
}

// Gives lanes that asked for the active mask their answer: lanes of a warp that came to the same place while nothing
// else could run are active together.
void answer_converging(Block& block);
// "block (0,0,0) thread (3,0,0)"
std::string lane_text(const Block& block, uint32_t lane);

}  // namespace anygin::simt
