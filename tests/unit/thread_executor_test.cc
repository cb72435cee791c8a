// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/thread_executor.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

#include "anygin/base/order.h"
#include "support/virtual_time.h"
#include "unit/scripted_engine.h"

namespace anygin {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::ScriptedEngine;
using testing::VirtualClock;

class SteadyClock final : public Clock {
 public:
  Time now() override {
    return static_cast<Time>(
               std::chrono::duration_cast<std::chrono::nanoseconds>(steady_clock::now() - start_).count()) *
           kNanosecond;
  }

 private:
  const steady_clock::time_point start_ = steady_clock::now();
};

template <typename Condition>
bool comes_true(const Condition& condition) {
  const auto until = steady_clock::now() + seconds(10);
  while (!condition()) {
    if (steady_clock::now() > until) return false;
    std::this_thread::sleep_for(milliseconds(1));
  }
  return true;
}

Waiter waiter_for(const std::atomic<bool>& flag) {
  Waiter waiter;
  waiter.test = [](const void* object) { return static_cast<const std::atomic<bool>*>(object)->load(); };
  waiter.object = &flag;
  return waiter;
}

TEST(ThreadExecutor, PollStepsEnginesInIdOrder) {
  VirtualClock clock;
  ThreadExecutor executor(clock, 0);
  std::vector<int> order;
  ScriptedEngine late(9);
  ScriptedEngine early(2);
  late.push(0, 1, [&](Time) { return order.push_back(9), kNever; });
  early.push(0, 1, [&](Time) { return order.push_back(2), kNever; });
  executor.add(late);
  executor.add(early);
  EXPECT_TRUE(executor.poll());
  EXPECT_FALSE(executor.poll());
  EXPECT_EQ(order, (std::vector<int>{2, 9}));
  EXPECT_EQ(executor.progress(), 2u);
  executor.remove(late);
  executor.remove(early);
}

TEST(ThreadExecutor, HelpersThatAlwaysLookNeedNoRing) {
  SteadyClock clock;
  ThreadExecutor executor(clock, 2, ThreadExecutor::Helping::kAlways);
  ScriptedEngine engine(1);
  executor.add(engine);
  std::this_thread::sleep_for(milliseconds(5));
  for (uint64_t number = 1; number <= 20; ++number) {
    engine.push(0, number);  // nobody is kicked
    ASSERT_TRUE(comes_true([&] { return engine.ran().size() == number; })) << number;
  }
  executor.remove(engine);
  EXPECT_FALSE(engine.was_stepped_twice_at_a_time());
}

TEST(ThreadExecutor, HonoursWakeUpTimes) {
  VirtualClock clock;
  ThreadExecutor executor(clock, 0);
  ScriptedEngine engine(1);
  engine.push(0, 1, [](Time now) { return now + 500; });
  engine.push(0, 2);
  executor.add(engine);
  engine.hide_work(false);
  EXPECT_TRUE(executor.poll());
  engine.push(0, 3);
  engine.hide_work(true);
  clock.advance_to(499);
  EXPECT_FALSE(executor.poll());
  clock.advance_to(500);
  EXPECT_TRUE(executor.poll());
  EXPECT_EQ(engine.ran(), (std::vector<uint64_t>{1, 2, 3}));
  executor.remove(engine);
}

TEST(ThreadExecutor, AnEngineIsSteppedByOneThreadAtATime) {
  SteadyClock clock;
  ThreadExecutor executor(clock, 1);
  ScriptedEngine engine(1, 4);
  executor.add(engine);
  constexpr uint64_t kActions = 20'000;
  std::vector<std::thread> threads;
  std::atomic<bool> stop{false};
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!stop.load()) executor.poll();
    });
  }
  for (uint64_t i = 0; i < kActions; ++i) engine.push(i % 4, i);
  EXPECT_TRUE(comes_true([&] { return executor.progress() == kActions; }));
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
  executor.remove(engine);
  EXPECT_FALSE(engine.was_stepped_twice_at_a_time());
  EXPECT_EQ(engine.ran().size(), kActions);
}

TEST(ThreadExecutor, PollPassesByAnEngineThatSomebodySteps) {
  SteadyClock clock;
  ThreadExecutor executor(clock, 0);
  ScriptedEngine engine(1);
  executor.add(engine);
  std::atomic<bool> inside{false};
  std::atomic<bool> go_on{false};
  engine.push(0, 1, [&](Time) {
    inside.store(true);
    EXPECT_TRUE(comes_true([&] { return go_on.load(); }));
    return kNever;
  });
  std::thread owner([&] { executor.poll(); });
  EXPECT_TRUE(comes_true([&] { return inside.load(); }));
  engine.push(0, 2);
  EXPECT_FALSE(executor.poll());
  EXPECT_EQ(engine.ready_calls(), 1u);
  go_on.store(true);
  owner.join();
  EXPECT_FALSE(engine.was_stepped_twice_at_a_time());
  EXPECT_EQ(engine.ran(), (std::vector<uint64_t>{1, 2}));
  executor.remove(engine);
}

TEST(ThreadExecutor, TheHelperStepsWhenNobodyDoes) {
  SteadyClock clock;
  ThreadExecutor executor(clock, 1);
  ScriptedEngine engine(1);
  executor.add(engine);
  for (uint64_t round = 1; round <= 3; ++round) {
    std::this_thread::sleep_for(milliseconds(5));  // long enough for the helper to fall asleep
    engine.push(0, round);
    executor.kick(engine);
    EXPECT_TRUE(comes_true([&] { return executor.progress() == round; })) << "round " << round;
  }
  executor.remove(engine);
}

TEST(ThreadExecutor, TheHelperHonoursWakeUpTimes) {
  SteadyClock clock;
  ThreadExecutor executor(clock, 1);
  ScriptedEngine engine(1);
  executor.add(engine);
  engine.push(0, 1, [&](Time now) {
    engine.hide_work(true);
    return now + 50 * kMillisecond;
  });
  executor.kick(engine);
  EXPECT_TRUE(comes_true([&] { return executor.progress() == 1; }));
  engine.push(0, 2);  // hidden and not kicked
  EXPECT_TRUE(comes_true([&] { return executor.progress() == 2; }));
  EXPECT_GE(clock.now(), 50 * kMillisecond);
  executor.remove(engine);
}

TEST(ThreadExecutor, WithoutHelperNobodySteps) {
  SteadyClock clock;
  ThreadExecutor executor(clock, 0);
  ScriptedEngine engine(1);
  executor.add(engine);
  engine.push(0, 1);
  executor.kick(engine);
  std::this_thread::sleep_for(milliseconds(20));
  EXPECT_EQ(executor.progress(), 0u);
  executor.remove(engine);
}

TEST(ThreadExecutor, ABlockedThreadStepsEnginesItself) {
  SteadyClock clock;
  ThreadExecutor executor(clock, 0);
  ScriptedEngine engine(1);
  std::atomic<bool> done{false};
  engine.push(0, 1, [&](Time) { return done.store(true), kNever; });
  executor.add(engine);
  Waiter waiter = waiter_for(done);
  EXPECT_EQ(executor.block(waiter), WaitOutcome::kSatisfied);
  executor.remove(engine);
}

TEST(ThreadExecutor, ABlockedThreadIsWokenByKick) {
  SteadyClock clock;
  ThreadExecutor executor(clock, 0);
  ScriptedEngine engine(1);
  executor.add(engine);
  std::atomic<bool> done{false};
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(30));
    engine.push(0, 1, [&](Time) { return done.store(true), kNever; });
    executor.kick(engine);
  });
  Waiter waiter = waiter_for(done);
  EXPECT_EQ(executor.block(waiter), WaitOutcome::kSatisfied);
  other.join();
  executor.remove(engine);
}

TEST(ThreadExecutor, ABlockedThreadSeesWhatNobodyRangFor) {
  SteadyClock clock;
  ThreadExecutor executor(clock, 0);
  std::atomic<bool> done{false};
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(30));
    done.store(true);
  });
  Waiter waiter = waiter_for(done);
  EXPECT_EQ(executor.block(waiter), WaitOutcome::kSatisfied);
  other.join();
}

TEST(ThreadExecutor, ABlockedThreadSeesDeadlineAndAbort) {
  SteadyClock clock;
  ThreadExecutor executor(clock, 0);
  const std::atomic<bool> never{false};
  Waiter waiter = waiter_for(never);
  waiter.deadline = clock.now() + 20 * kMillisecond;
  EXPECT_EQ(executor.block(waiter), WaitOutcome::kDeadline);
  EXPECT_GE(clock.now(), waiter.deadline);
  waiter.deadline = kNever;
  uint32_t abort_word = 0;
  waiter.abort_word = &abort_word;
  std::thread other([&] {
    std::this_thread::sleep_for(milliseconds(20));
    publish(&abort_word, uint32_t{1});
  });
  EXPECT_EQ(executor.block(waiter), WaitOutcome::kAborted);
  other.join();
}

TEST(ThreadExecutor, AfterRemoveNobodyTouchesTheEngine) {
  SteadyClock clock;
  ThreadExecutor executor(clock, 1);
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 2; ++i) {
    threads.emplace_back([&] {
      while (!stop.load()) executor.poll();
    });
  }
  for (uint32_t round = 0; round < 300; ++round) {
    auto engine = std::make_unique<ScriptedEngine>(round + 1);
    for (uint64_t i = 0; i < 5; ++i) engine->push(0, i);
    executor.add(*engine);
    executor.kick(*engine);
    if (round % 3 == 0) std::this_thread::yield();
    executor.remove(*engine);
    engine.reset();  // a sanitizer sees it if anybody is still there
  }
  stop.store(true);
  for (std::thread& thread : threads) thread.join();
}

TEST(ThreadExecutor, AnEngineMayAddAnEngineWhileOneIsRemoved) {
  SteadyClock clock;
  ThreadExecutor executor(clock, 1);
  ScriptedEngine parent(1);
  ScriptedEngine child(2);
  ScriptedEngine other(3);
  executor.add(parent);
  executor.add(other);
  std::atomic<bool> inside{false};
  parent.push(0, 1, [&](Time) {
    inside.store(true);
    std::this_thread::sleep_for(milliseconds(20));
    executor.add(child);
    return kNever;
  });
  executor.kick(parent);
  ASSERT_TRUE(comes_true([&] { return inside.load(); }));
  executor.remove(other);
  child.push(0, 7);
  executor.kick(child);
  EXPECT_TRUE(comes_true([&] { return child.ran().size() == 1; }));
  executor.remove(parent);
  executor.remove(child);
}

TEST(ThreadExecutor, ANewWakeWordTakesTheSleepersAlong) {
  SteadyClock clock;
  WakeWord word;
  ThreadExecutor executor(clock, 1);
  ScriptedEngine engine(1);
  executor.add(engine);
  std::this_thread::sleep_for(milliseconds(10));
  executor.use_wake_word(word);
  EXPECT_EQ(&executor.wake_word(), &word);
  std::this_thread::sleep_for(milliseconds(10));
  engine.push(0, 1);
  ring(word);
  EXPECT_TRUE(comes_true([&] { return executor.progress() == 1; }));
  executor.remove(engine);
}

TEST(ThreadExecutor, VisitsEnginesInIdOrder) {
  VirtualClock clock;
  ThreadExecutor executor(clock, 0);
  ScriptedEngine b(5);
  ScriptedEngine a(4);
  executor.add(b);
  executor.add(a);
  std::vector<uint32_t> seen;
  executor.visit_engines(
      [](Engine& engine, void* out) { static_cast<std::vector<uint32_t>*>(out)->push_back(engine.id().value); }, &seen);
  EXPECT_EQ(seen, (std::vector<uint32_t>{4, 5}));
  executor.remove(a);
  executor.remove(b);
}

}  // namespace
}  // namespace anygin
