// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/litmus/stack_world.h"

#include <fmt/format.h>

#include <algorithm>

#include "anygin/base/assert.h"
#include "anygin/base/order.h"
#include "anygin/base/trace_file.h"

namespace anygin::litmus {

void StackExecutor::collect(std::vector<Ready>& out) {
  out.clear();
  next_wake_ = kNever;
  const Time now = clock_.now();
  for (auto& [id, entry] : engines_) {
    if (entry.wake > now && !entry.engine->has_work()) {
      next_wake_ = std::min(next_wake_, entry.wake);
      continue;
    }
    if (!entry.actions || entry.at != now) {
      entry.actions.emplace(now);
      entry.at = now;
    }
    entry.actions->clear();
    entry.engine->ready(*entry.actions);
    entry.wake = entry.actions->next_wake();
    for (size_t i = 0; i < entry.actions->size(); ++i) out.push_back({entry.engine, &(*entry.actions)[i]});
    next_wake_ = std::min(next_wake_, entry.wake);
  }
}

bool StackExecutor::drain() {
  constexpr size_t kActionsMax = 100'000;
  std::vector<Ready> ready;
  for (size_t ran = 0; ran < kActionsMax; ++ran) {
    collect(ready);
    if (!ready.empty()) {
      run(ready.front());
    } else if (time_may_pass()) {
      pass_time();
    } else {
      return true;
    }
  }
  return false;
}

std::string StackExecutor::pending() {
  std::string text;
  for (auto& [id, entry] : engines_) {
    std::vector<std::string> lines;
    entry.engine->describe_pending(lines);
    for (const std::string& line : lines) text += fmt::format("\n  {}: {}", entry.engine->name(), line);
  }
  return text;
}

void StackExecutor::add(Engine& engine) {
  ANYGIN_ASSERT(engines_.emplace(engine.id().value, Entry{&engine, {}}).second);
}

void StackExecutor::remove(Engine& engine) {
  ANYGIN_ASSERT(engines_.erase(engine.id().value) == 1);
}

WaitOutcome StackExecutor::block(Waiter& waiter) {
  if (waiter.test(waiter.object)) {
    observe_then_read();
    return WaitOutcome::kSatisfied;
  }
  if (waiter.abort_word != nullptr && observe(waiter.abort_word) != 0) return WaitOutcome::kAborted;
  ANYGIN_ASSERT(waiter.deadline != kNever);  // litmus threads look, and look again
  return WaitOutcome::kDeadline;
}

void StackExecutor::visit_engines(void (*visit)(Engine&, void*), void* argument) {
  for (auto& [id, entry] : engines_) visit(*entry.engine, argument);
}

struct StackWorld::Parts {
  static constexpr size_t kHeapBytes = size_t{16} << 20;  // sparse

  sim::VirtualClock clock;
  StackChoices choices;
  StackExecutor executor{clock};
  NullTrace trace;
  MemoryMap memory;
  DeviceHeap heap{memory, kHeapBytes};
  ProcessPage page;
};

std::unique_ptr<StackWorld> StackWorld::create() {
  return std::unique_ptr<StackWorld>(new StackWorld(std::make_unique<Parts>()));
}

StackWorld::StackWorld(std::unique_ptr<Parts> parts)
    : World(parts->clock, parts->choices, parts->executor, parts->trace, parts->memory, parts->heap, parts->page),
      parts_(std::move(parts)) {
  executor.use_wake_word(page.control().wake);
  set_world_for_test(this);
}

StackWorld::~StackWorld() {
  set_world_for_test(nullptr);
}

StackExecutor& StackWorld::stack_executor() {
  return parts_->executor;
}

StackChoices& StackWorld::stack_choices() {
  return parts_->choices;
}

}  // namespace anygin::litmus
