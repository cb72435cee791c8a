// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/sim_executor.h"

#include "anygin/base/assert.h"
#include "anygin/base/host_threads.h"
#include "anygin/sim/wait_outcome.h"

namespace anygin::sim {

bool SimExecutor::poll() {
  if (threads_ == nullptr) return scheduler_.step() == Scheduler::Moved::kRan;
  if (!threads_->on_program_thread()) return false;  // the driver steps engines anyway
  threads_->yield();
  return true;
}

WaitOutcome SimExecutor::block(Waiter& waiter) {
  const BlockingCall blocking;
  if (threads_ == nullptr) return drive(waiter);
  ANYGIN_ASSERT(threads_->on_program_thread());  // engines do not wait
  return threads_->block(waiter);
}

WaitOutcome SimExecutor::drive(Waiter& waiter) {
  while (true) {
    if (const auto over = outcome_of(waiter, clock_.now())) return *over;
    if (scheduler_.step() == Scheduler::Moved::kRan) continue;
    if (waiter.deadline == kNever) return WaitOutcome::kAborted;
    clock_.advance_to(waiter.deadline);
  }
}

void SimExecutor::visit_engines(void (*visit)(Engine&, void*), void* argument) {
  scheduler_.visit([&](Engine& engine) { visit(engine, argument); });
}

}  // namespace anygin::sim
