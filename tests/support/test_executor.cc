// SPDX-License-Identifier: Apache-2.0
#include "support/test_executor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "anygin/base/assert.h"
#include "anygin/base/order.h"

namespace anygin::testing {
namespace {

std::string describe(const WaitReason& reason) {
  std::string text = fmt::format("kind {} rank {} peer {} context {} index {} want {}", static_cast<int>(reason.kind),
                                 reason.rank, reason.peer, reason.context, reason.index, reason.want);
  if (reason.cell) text += fmt::format(" saw {}", load_relaxed(reason.cell) - reason.offset);
  return text;
}

}  // namespace

// The ids after the one that ran last come first, so that no engine keeps the others from running.
bool TestExecutor::run_ready_action() {
  std::vector<uint32_t> order;
  for (const auto& [id, entry] : engines_) order.push_back(id);
  std::rotate(order.begin(), std::upper_bound(order.begin(), order.end(), last_run_), order.end());
  for (const uint32_t id : order) {
    const auto found = engines_.find(id);
    if (found == engines_.end()) continue;
    Entry& entry = found->second;
    if (entry.wake > clock_.now() && !entry.engine->has_work()) continue;
    ActionList actions(clock_.now());
    entry.engine->ready(actions);
    entry.wake = actions.next_wake();
    if (actions.empty()) continue;
    entry.engine->run(actions[0], clock_.now());
    last_run_ = id;
    progress_.fetch_add(1);
    return true;
  }
  return false;
}

// Moves the clock to the next wake-up, if one was named and it is not after `limit`.
bool TestExecutor::jump_to(Time limit) {
  Time earliest = kNever;
  for (const auto& [id, entry] : engines_) earliest = std::min(earliest, entry.wake);
  if (earliest == kNever || earliest > limit) return false;
  clock_.advance_to(std::max(earliest, clock_.now()));
  return true;
}

bool TestExecutor::step_once() {
  std::lock_guard lock(mutex_);
  while (!run_ready_action()) {
    if (!jump_to(kNever)) return false;
  }
  return true;
}

bool TestExecutor::run_until(const std::function<bool()>& condition, size_t budget) {
  for (size_t ran = 0; !condition(); ++ran) {
    if (ran == budget || !step_once()) return false;
  }
  return true;
}

size_t TestExecutor::run_until_idle(size_t budget) {
  size_t ran = 0;
  while (step_once()) ANYGIN_ASSERT(++ran < budget);
  return ran;
}

std::string TestExecutor::pending() {
  std::lock_guard lock(mutex_);
  std::string text;
  for (const auto& [id, entry] : engines_) {
    std::vector<std::string> lines;
    entry.engine->describe_pending(lines);
    for (const std::string& line : lines) text += fmt::format("{} {}: {}\n", entry.engine->name(), id, line);
  }
  return text;
}

void TestExecutor::add(Engine& engine) {
  std::lock_guard lock(mutex_);
  ANYGIN_ASSERT(engines_.emplace(engine.id().value, Entry{&engine}).second);
}

void TestExecutor::remove(Engine& engine) {
  std::lock_guard lock(mutex_);
  ANYGIN_ASSERT(engines_.erase(engine.id().value) == 1);
}

void TestExecutor::kick(Engine&) {}

bool TestExecutor::poll() {
  return step_once();
}

WaitOutcome TestExecutor::block(Waiter& waiter) {
  while (true) {
    if (waiter.test(waiter.object)) {
      observe_then_read();
      return WaitOutcome::kSatisfied;
    }
    if (waiter.abort_word && observe(waiter.abort_word) != 0) return WaitOutcome::kAborted;
    if (clock_.now() >= waiter.deadline) return WaitOutcome::kDeadline;
    std::lock_guard lock(mutex_);
    if (run_ready_action() || jump_to(waiter.deadline)) continue;
    if (waiter.deadline != kNever) {
      clock_.advance_to(waiter.deadline);
      continue;
    }
    ADD_FAILURE() << "a wait can never be satisfied: " << describe(waiter.reason) << "\n" << pending();
    return WaitOutcome::kAborted;
  }
}

void TestExecutor::visit_engines(void (*visit)(Engine&, void*), void* argument) {
  std::lock_guard lock(mutex_);
  for (auto& [id, entry] : engines_) visit(*entry.engine, argument);
}

}  // namespace anygin::testing
