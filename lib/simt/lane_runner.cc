// SPDX-License-Identifier: Apache-2.0
// A stack's life, and the scheduler's way into a block and back. What has to happen when a lane goes on is done by
// whoever resumes it, before the jump.
#include "anygin/simt/lane_runner.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <utility>

#include "anygin/base/mutant.h"
#include "anygin/base/world.h"
#include "anygin/simt/device_variable.h"
#include "anygin/simt/lane_fault.h"
#include "anygin/simt/lane_printf.h"
#include "anygin/simt/lane_switch.h"
#include "anygin/simt/launch_syntax.h"

namespace anygin::simt {

extern "C" {
__thread unsigned anygin_linear_thread __attribute__((tls_model("initial-exec")));
__thread int anygin_tick_budget __attribute__((tls_model("initial-exec")));
}

__thread LaneRunner* current_runner __attribute__((tls_model("initial-exec"))) = nullptr;

void refuse_host_thread(const char* what) {
  std::fprintf(stderr, "anygin: %s was used outside of a kernel\n", what);
  std::abort();
}

LaneRunner::LaneRunner(size_t stacks, StackPool::Guards guards) : all_stacks_(stacks, guards) {
  watch_lane_faults();
}

std::string lane_text(const Block& block, uint32_t lane) {
  const Index3 thread = block.grid->thread_of(lane);
  return fmt::format("block ({},{},{}) thread ({},{},{})", block.index.x, block.index.y, block.index.z, thread.x,
                     thread.y, thread.z);
}

// --- Blocks of two and three dimensions ---

void LaneRunner::enter_shaped_lane(const Block& block, uint32_t lane) {
  anygin_thread_idx = block.grid->thread_of(lane);
}

// --- From lane to lane, where the common way is not open ---

void LaneRunner::switch_by_detour(FiberContext* save, Block& block) {
  if (block.has(kDetourHome)) return switch_fiber(save, &home_);
  if (block.has(kDetourStart)) return start_stack(save);
  if (block.ready_head == block.ready_tail) return switch_fiber(save, &home_);
  const uint32_t next = enter_next_ready(block);
  enter_shaped_lane(block, next);
  switch_fiber(save, &block.contexts[next]);
}

// --- A stack's life: lane after lane ---

void LaneRunner::start_stack(FiberContext* save) {
  char* low = stacks_->take();
  start_fiber(save, stacks_->bounds_of(low), stacks_->top_of(low), &run_stack, low);
}

ANYGIN_NEVER_RETURNS void LaneRunner::run_stack(void* low_end) {
  char* low = static_cast<char*>(low_end);
  arrive_on_fresh_stack(current_runner->stacks_->bounds_of(low));
  current_runner->run_fresh_lanes();
  current_runner->end_stack(low);
}

void LaneRunner::run_fresh_lanes() {
  while (true) {
    std::string thrown;
    try {
      const BoundKernel& kernel = block_->grid->kernel;
      return kernel.run_lanes(kernel.arguments);
    } catch (const std::exception& error) {
      thrown = error.what();
    } catch (...) {
      thrown = "not a std::exception";
    }
    fail_lane("an exception left the kernel: " + thrown);
    lane_done(AbortCause::kMisuse);
  }
}

bool LaneRunner::next_lane() {
  Block& block = *block_;
  if (!block.has_unstarted()) return false;
  if (block.has(kDetourHome)) [[unlikely]] {
    if (!may_start_) return false;
    may_start_ = false;
  }
  const uint32_t nth = block.started;
  block.set_started(nth + 1);
  enter_lane(block, block.start_order ? block.start_order[nth] : nth);
  anygin_tick_budget = kFirstTicks;
  if (trace_) [[unlikely]]
    trace_lane(TraceKind::kLaneStart, block, block.current, block.linear);
  return true;
}

void LaneRunner::lane_done(AbortCause cause) {
  Block& block = *block_;
  const uint32_t lane = block.current;
  if (trace_) [[unlikely]]
    trace_lane(TraceKind::kLaneExit, block, lane, static_cast<uint64_t>(cause));
  if (!block.lines.empty()) [[unlikely]]
    flush_partial_line(block, lane);
  block.exited[lane / kWarpSize] |= uint32_t{1} << (lane % kWarpSize);
  --block.live;
  block.idle_polls = 0;
  ++exits_;
  if ((block.arrived | block.gathering) != 0) release_after_exit(block, lane);
}

void LaneRunner::release_after_exit(Block& block, uint32_t lane) {
  if (block.arrived != 0 && block.arrived == block.live && !MUTANT(simt_exit_unnoticed)) release_block_barrier(block);
  if (block.gathering == 0) return;
  release_complete_groups(block, lane / kWarpSize);
  block.named.release_complete(block);
}

void LaneRunner::check_canary(const Block& block, char* low) {
  if (stacks_->intact(low)) [[likely]]
    return;
  StackPool::mend(low);
  const size_t bytes = block.grid->stack_bytes;
  block.grid->fail(
      fmt::format("{}, or one that ran on its stack before it: a stack of {} KiB overflowed, memory of other threads "
                  "may be damaged; {}",
                  lane_text(block, block.current), bytes / 1024, StackRemedy(bytes).text));
}

ANYGIN_NEVER_RETURNS void LaneRunner::end_stack(char* low) {
  Block& block = *block_;
  check_canary(block, low);
  stacks_->give_back(low);
  if (block.has(kDetourHome) || block.ready_head == block.ready_tail) resume_fiber(&home_);
  const uint32_t next = enter_next_ready(block);
  enter_lane(block, next);
  resume_fiber(&block.contexts[next]);
}

// --- The scheduler's side ---

void LaneRunner::enter_block(Block& block) {
  block_ = &block;
  stacks_ = &all_stacks_.of(block.grid->stack_bytes);
  TraceSink& sink = world().trace;
  trace_ = sink.enabled() ? &sink : nullptr;
  block.polls = 0;
  releases_at_visit_ = block.releases;
  anygin_block_idx = block.index;
  anygin_block_dim = block.grid->shape.block;
  anygin_grid_dim = block.grid->shape.grid;
  anygin_thread_idx = {0, 0, 0};
  anygin_device_distance = block.grid->device.variables_distance.load(std::memory_order_relaxed);
}

// Into the block: lanes switch among themselves until one comes home.
void LaneRunner::go() {
  Block& block = *block_;
  ensure_signal_stack();
  current_runner = this;
  set_current_lane_host(this);
  PendingLaunch* const outside = std::exchange(anygin_pending_launch, nullptr);  // calls of kernels run their bodies
  if (block.has(kDetourHome) ? may_start_ : block.has_unstarted()) {
    start_stack(&home_);
  } else {
    const uint32_t next = enter_next_ready(block);
    enter_lane(block, next);
    switch_fiber(&home_, &block.contexts[next]);
  }
  anygin_pending_launch = outside;
  set_current_lane_host(nullptr);
  current_runner = nullptr;
  anygin_device_distance = 0;
}

// Between two looks lanes started, were released together or left.
bool LaneRunner::got_further(const Block& block, const BlockMark& since) const {
  return block.started != since.started || block.releases != since.releases || exits_ != since.exits;
}

bool LaneRunner::visit(Block& block) {
  if (!block.runnable()) return false;
  const BlockMark before{block.started, block.releases, exits_};
  enter_block(block);
  go();
  const bool converged = !block.converging.empty();
  if (converged) answer_converging(block);
  const bool advanced = converged || got_further(block, before);
  block.advances += advanced;
  return advanced;
}

void LaneRunner::run_one(Block& block, bool start_next) {
  const BlockMark before{block.started, block.releases, exits_};
  enter_block(block);
  block.detours |= kDetourHome;
  may_start_ = start_next;
  go();
  block.detours &= ~kDetourHome;
  const bool converged = !block.runnable() && !block.converging.empty();
  if (converged) answer_converging(block);
  block.advances += converged || got_further(block, before);
}

void LaneRunner::abandon(Block& block) {
  enter_block(block);
  for (uint32_t nth = 0; nth < block.started; ++nth) {
    const uint32_t lane = block.start_order ? block.start_order[nth] : nth;
    if (block.has_exited(lane)) continue;
    if (trace_) trace_lane(TraceKind::kLaneExit, block, lane, static_cast<uint64_t>(block.grid->lost_by()));
    char* low = stacks_->low_of(block.contexts[lane].sp);
    if (!stacks_->intact(low)) StackPool::mend(low);
    stacks_->give_back(low);
  }
  flush_partial_lines(block);
  block.set_started(block.lanes);
  block.ready_head = block.ready_tail;
  block.live = 0;
}

extern "C" bool anygin_next_lane() {
  return current_runner->next_lane();
}
extern "C" void anygin_lane_done() {
  current_runner->lane_done();
}

}  // namespace anygin::simt
