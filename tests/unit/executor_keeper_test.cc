// SPDX-License-Identifier: Apache-2.0
// Who steps an engine, and who is woken (decision 0017).
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "anygin/base/thread_executor.h"
#include "support/virtual_time.h"
#include "unit/scripted_engine.h"

namespace anygin {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::ScriptedEngine;
using testing::VirtualClock;

constexpr uint32_t kTurn = ThreadExecutor::kForeignTurn;

// On another thread, so that it is the keeper.
void step_elsewhere(ThreadExecutor& executor, ScriptedEngine& engine) {
  std::thread([&] {
    engine.push(0, 0);
    EXPECT_TRUE(executor.poll_nearby());
  }).join();
}

TEST(ExecutorKeeper, AnEngineThatNobodyKeepsIsNearEveryThread) {
  VirtualClock clock;
  ThreadExecutor executor(clock, 0);
  ScriptedEngine engine(1);
  executor.add(engine);
  engine.push(0, 1);
  EXPECT_TRUE(executor.poll_nearby());
  engine.push(0, 2);
  EXPECT_TRUE(executor.poll_nearby());
  executor.remove(engine);
}

TEST(ExecutorKeeper, AnEngineLeftAloneIsTakenOverAfterTwoLooksAndKept) {
  VirtualClock clock;
  ThreadExecutor executor(clock, 0);
  ScriptedEngine engine(1);
  executor.add(engine);
  step_elsewhere(executor, engine);
  engine.push(0, 1);
  uint32_t polls = 1;
  while (!executor.poll_nearby() && polls < 10 * kTurn) ++polls;
  EXPECT_GT(polls, kTurn);
  EXPECT_LE(polls, 2 * kTurn);
  engine.push(0, 2);
  EXPECT_TRUE(executor.poll_nearby());
  executor.remove(engine);
}

TEST(ExecutorKeeper, AnEngineThatItsKeeperStepsIsLeftToIt) {
  VirtualClock clock;
  ThreadExecutor executor(clock, 0);
  ScriptedEngine engine(1);
  executor.add(engine);
  std::atomic<int> steps_wanted{0};
  std::atomic<int> steps_done{0};
  std::thread keeper([&] {
    while (steps_wanted.load() >= 0) {
      if (steps_done.load() < steps_wanted.load() && executor.poll_nearby()) steps_done.fetch_add(1);
    }
  });
  const auto until = steady_clock::now() + seconds(10);
  const auto step_by_keeper = [&] {
    engine.push(0, 1);
    steps_wanted.fetch_add(1);
    while (steps_done.load() != steps_wanted.load()) {
      ASSERT_LT(steady_clock::now(), until) << "the keeper did not step its engine";
    }
  };
  step_by_keeper();
  for (int round = 0; round < 20; ++round) {
    engine.push(0, 2);
    // One look at the others' engines: it has work, but its keeper stepped it since the look before.
    for (uint32_t i = 0; i < kTurn; ++i) EXPECT_FALSE(executor.poll_nearby()) << round;
    step_by_keeper();
  }
  steps_wanted.store(-1);
  keeper.join();
  executor.remove(engine);
}

TEST(ExecutorKeeper, PollTakesEveryEngine) {
  VirtualClock clock;
  ThreadExecutor executor(clock, 0);
  ScriptedEngine engine(1);
  executor.add(engine);
  step_elsewhere(executor, engine);
  engine.push(0, 1);
  EXPECT_TRUE(executor.poll());
  executor.remove(engine);
}

// Not on the word that the work of engines rings; ring_everybody() wakes it.
TEST(ExecutorKeeper, ABlockedHostThreadSleepsWhileAWorkerPolls) {
  VirtualClock clock;
  ThreadExecutor executor(clock, 0);
  std::atomic<bool> stop{false}, flag{false}, returned{false};
  std::thread worker([&] {
    while (!stop.load()) {
      executor.poll_nearby();
      clock.advance_to(clock.now() + kMicrosecond);
    }
  });
  std::thread host([&] {
    Waiter waiter;
    waiter.test = [](const void* object) { return static_cast<const std::atomic<bool>*>(object)->load(); };
    waiter.object = &flag;
    EXPECT_EQ(executor.block(waiter), WaitOutcome::kSatisfied);
    returned.store(true);
  });
  const auto until = steady_clock::now() + seconds(10);
  while (executor.host_word().sleepers.load() == 0) {
    ASSERT_LT(steady_clock::now(), until) << "the host thread does not sleep on the host word";
  }
  flag.store(true);
  ring_everybody(executor);
  while (!returned.load()) ASSERT_LT(steady_clock::now(), until) << "the host thread was not woken";
  stop.store(true);
  worker.join();
  host.join();
}

}  // namespace
}  // namespace anygin
