// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/engine.h"

#include <gtest/gtest.h>

#include "unit/scripted_engine.h"

namespace anygin {
namespace {

using testing::ScriptedEngine;

TEST(Step, RunsUntilNothingIsLeft) {
  ScriptedEngine engine(1);
  for (uint64_t i = 1; i <= 3; ++i) engine.push(0, i);
  const StepResult result = step(engine, 0, 100);
  EXPECT_EQ(result.ran, 3u);
  EXPECT_EQ(result.next_wake, kNever);
  EXPECT_EQ(engine.ran(), (std::vector<uint64_t>{1, 2, 3}));
}

TEST(Step, GoesThroughTheQueuesInTurn) {
  ScriptedEngine engine(1, 3);
  for (uint64_t i = 1; i <= 2; ++i) {
    for (size_t queue = 0; queue < 3; ++queue) engine.push(queue, 10 * (queue + 1) + i);
  }
  EXPECT_EQ(step(engine, 0, 100).ran, 6u);
  EXPECT_EQ(engine.ran(), (std::vector<uint64_t>{11, 21, 31, 12, 22, 32}));
}

TEST(Step, StopsAtTheBudget) {
  ScriptedEngine engine(1);
  for (uint64_t i = 1; i <= 5; ++i) engine.push(0, i);
  EXPECT_EQ(step(engine, 0, 2).ran, 2u);
  EXPECT_EQ(engine.ran(), (std::vector<uint64_t>{1, 2}));
}

TEST(Step, BeginsWhereTheLastOneStopped) {
  ScriptedEngine engine(1, 3);
  for (uint64_t i = 1; i <= 2; ++i) {
    for (size_t queue = 0; queue < 3; ++queue) engine.push(queue, 10 * (queue + 1) + i);
  }
  size_t place = 0;
  for (int i = 0; i < 4; ++i) EXPECT_EQ(step(engine, 0, 1, &place).ran, 1u);
  EXPECT_EQ(engine.ran(), (std::vector<uint64_t>{11, 21, 31, 12}));
}

TEST(Step, AsksAgainAfterEveryAction) {
  ScriptedEngine engine(1);
  engine.push(0, 1);
  engine.push(0, 2);
  step(engine, 0, 100);
  EXPECT_EQ(engine.ready_calls(), 3u);  // the third found nothing
}

TEST(Step, ReturnsTheEarliestWakeUpAndPassesTheTime) {
  ScriptedEngine engine(1);
  engine.push(0, 1, [](Time now) { return now + 30; });
  engine.push(0, 2, [](Time now) { return now + 10; });
  engine.push(0, 3, [](Time) { return kNever; });
  EXPECT_EQ(step(engine, 1000, 100).next_wake, 1010u);
}

TEST(Step, ALookThatFindsNothingStillNamesTheNextWakeUp) {
  ScriptedEngine engine(1);
  engine.push(0, 1, [](Time now) { return now + 10; });
  engine.push(0, 2, [](Time now) { return now + 30; });
  EXPECT_EQ(step(engine, 1000, 100).next_wake, 1010u);
  const StepResult result = step(engine, 1010, 100);
  EXPECT_EQ(result.ran, 0u);
  EXPECT_EQ(result.next_wake, 1030u);
}

// An action that stays ready must not keep the ones behind it from running.
class GreedyEngine final : public Engine {
 public:
  EngineId id() const override { return EngineId(1); }
  std::string_view name() const override { return "greedy"; }
  bool has_work() const override { return true; }
  void ready(ActionList& out) override {
    out.add(id(), 0, 1);
    out.add(id(), 0, 2);
  }
  void run(const Action& action, Time) override { ++ran[action.name]; }
  int ran[3] = {};
};

TEST(Step, IsFairToActionsThatStayReady) {
  GreedyEngine engine;
  EXPECT_EQ(step(engine, 0, 10).ran, 10u);
  EXPECT_EQ(engine.ran[1], 5);
  EXPECT_EQ(engine.ran[2], 5);
}

}  // namespace
}  // namespace anygin
