// SPDX-License-Identifier: Apache-2.0
// Waits of one lane, time, and the ways out of a kernel.
#include <fmt/format.h>

#include <climits>
#include <cstdio>
#include <cstdlib>

#include "anygin/base/mutant.h"
#include "anygin/base/world.h"
#include "anygin/simt/lane_report.h"
#include "anygin/simt/lane_switch.h"

namespace anygin::simt {

WaitOutcome LaneRunner::park(Waiter& waiter) {
  ParkRecord record{&waiter, WaitOutcome::kSatisfied};
  block_->parked.push_back({&record, static_cast<uint16_t>(block_->current)});
  block_->idle_polls = is_pause(waiter) ? block_->idle_polls + 1 : 0;
  if (trace_) [[unlikely]]
    trace_wait(TraceKind::kWaitBegin, waiter);
  switch_away(*block_);
  if (trace_ && !MUTANT(simt_wait_end_untold)) [[unlikely]]
    trace_wait(TraceKind::kWaitEnd, waiter);
  return *const_cast<volatile WaitOutcome*>(&record.outcome);
}

// A block whose ready lanes have all polled without a release in between gives way to the next block.
void LaneRunner::yield() {
  Block& block = *block_;
  block.push_ready(block.current);
  ++block.idle_polls;
  if (!block.has_unstarted() && ++block.polls >= block.ready_count()) return switch_home(block);
  switch_away(block);
}

void LaneRunner::fail_lane(std::string_view why) {
  block_->grid->fail(fmt::format("{}: {}", lane_text(*block_, block_->current), why));
}

ANYGIN_NEVER_RETURNS void LaneRunner::exit_lane(AbortCause cause) {
  char* low = stacks_->low_of(static_cast<char*>(__builtin_frame_address(0)));
  check_canary(*block_, low);
  lane_done(cause);
  restart_fiber(stacks_->bounds_of(low), stacks_->top_of(low), &run_stack, low);
}

void LaneRunner::fail_and_exit(const char* why) {
  fail_lane(why);
  exit_lane(AbortCause::kMisuse);
}

void LaneRunner::leave(AbortCause cause) {
  block_->grid->fail(fmt::format("{}: {}", lane_text(*block_, block_->current), describe_cause(cause)), cause);
  exit_lane(cause);
}

void LaneRunner::on_worker_stack(FiberEntry call, void* argument) {
  constexpr uintptr_t kBelowFrame = 256;  // clear of the red zone of the frame that waits there
  const uintptr_t top = (reinterpret_cast<uintptr_t>(home_.sp) - kBelowFrame) & ~uintptr_t{15};
  call_on_stack(reinterpret_cast<char*>(top), call, argument);
}

extern "C" void anygin_tick_slow() {
  if (current_runner) {
    current_runner->yield();
  } else {
    anygin_tick_budget = INT_MAX;  // host code
  }
}

extern "C" void anygin_nanosleep(unsigned ns) {
  LaneRunner& runner = runner_of_caller("__nanosleep()");
  Waiter waiter;
  waiter.test = [](const void*) { return false; };
  waiter.deadline = world().clock.now() + Time{ns} * kNanosecond;
  waiter.reason.kind = WaitKind::kSpin;
  waiter.reason.call_site = __builtin_return_address(0);
  runner.park(waiter);
}

// A loop on the clock may be a spin: who reads it for a program's code ticks.
extern "C" uint64_t anygin_clock_ns() {
  if (current_runner) current_runner->count_clock_read();
  return world().clock.now() / kNanosecond;
}

extern "C" int anygin_lane_active() {
  return current_runner != nullptr;
}

extern "C" void anygin_trap(const char* what) {
  LaneRunner& runner = runner_of_caller("trap");
  runner.fail_and_exit(what ? what : "trap");
}

extern "C" void anygin_lane_exit() {
  runner_of_caller("exit").exit_lane(AbortCause::kAlive);
}

}  // namespace anygin::simt
