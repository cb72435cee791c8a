// SPDX-License-Identifier: Apache-2.0
// The fixture other tests stand on.
#include "support/world_fixture.h"

#include <gtest/gtest-spi.h>

#include <cstring>
#include <string>

#include "anygin/base/order.h"

namespace anygin::testing {
namespace {

// Counts to `target`, one action each; every second action it asks to be woken `pause` later.
class CountingEngine final : public Engine {
 public:
  CountingEngine(EngineId id, int target, Time pause) : id_(id), target_(target), pause_(pause) {}

  EngineId id() const override { return id_; }
  std::string_view name() const override { return "counting"; }
  bool has_work() const override { return count < target_; }
  void ready(ActionList& out) override {
    asleep_ = asleep_ && out.now() < due_;
    if (asleep_) {
      out.wake_at(due_);
    } else if (count < target_) {
      out.add(id_, 1, 0);
    }
  }
  void run(const Action&, Time now) override {
    last_run = now;
    ++count;
    asleep_ = pause_ != 0 && count % 2 == 0;
    due_ = now + pause_;
  }
  void describe_pending(std::vector<std::string>& out) const override {
    out.push_back("count " + std::to_string(count));
  }

  int count = 0;
  Time last_run = 0;

 private:
  const EngineId id_;
  Time due_ = 0;
  const int target_;
  const Time pause_;
  bool asleep_ = false;
};

TEST(TestWorld, IsTheWorldWhileItLives) {
  TestWorld mine;
  EXPECT_EQ(&world(), &mine);
  EXPECT_EQ(&world().executor.wake_word(), &mine.page.control().wake);
}

TEST(TestWorld, StepsEnginesInTurnOneActionAtATime) {
  TestWorld mine;
  CountingEngine first(mine.next_engine_id(), 2, 0);
  CountingEngine second(mine.next_engine_id(), 2, 0);
  mine.executor.add(second);
  mine.executor.add(first);
  EXPECT_TRUE(mine.step_once());
  EXPECT_EQ(first.count, 1);
  EXPECT_EQ(second.count, 0);
  EXPECT_TRUE(mine.step_once());
  EXPECT_EQ(second.count, 1);
  EXPECT_EQ(mine.test_executor().run_until_idle(), 2u);
  EXPECT_FALSE(mine.step_once());
  EXPECT_EQ(mine.executor.progress(), 4u);
  mine.executor.remove(first);
  mine.executor.remove(second);
}

TEST(TestWorld, TimeJumpsToTheNextWakeUp) {
  TestWorld mine;
  CountingEngine engine(mine.next_engine_id(), 4, 7 * kMicrosecond);
  mine.executor.add(engine);
  EXPECT_TRUE(mine.run_until([&] { return engine.count == 3; }));
  EXPECT_EQ(mine.clock.now(), 7 * kMicrosecond);
  EXPECT_EQ(engine.last_run, 7 * kMicrosecond);
  EXPECT_FALSE(mine.run_until([&] { return engine.count == 5; }));
  mine.executor.remove(engine);
}

TEST(TestWorld, AWaitStepsTheEngines) {
  TestWorld mine;
  CountingEngine engine(mine.next_engine_id(), 10, 0);
  mine.executor.add(engine);
  EXPECT_EQ(wait_until([&] { return engine.count == 6; }, nullptr, {}), WaitOutcome::kSatisfied);
  EXPECT_EQ(engine.count, 6);
  const Time deadline = 3 * kSecond;
  EXPECT_EQ(wait_until([&] { return engine.count == 11; }, nullptr, {}, deadline), WaitOutcome::kDeadline);
  EXPECT_EQ(mine.clock.now(), deadline);
  const uint32_t aborted = 1;
  EXPECT_EQ(wait_until([&] { return engine.count == 11; }, &aborted, {}), WaitOutcome::kAborted);
  mine.executor.remove(engine);
}

TEST(TestWorld, AHopelessWaitFailsTheTestAndNamesItself) {
  TestWorld mine;
  CountingEngine engine(mine.next_engine_id(), 1, 0);
  mine.executor.add(engine);
  WaitReason reason;
  reason.kind = WaitKind::kSignal;
  reason.rank = 3;
  reason.want = 5;
  const uint64_t cell = 4;
  reason.cell = &cell;
  WaitOutcome outcome{};
  EXPECT_NONFATAL_FAILURE(outcome = wait_until([] { return false; }, nullptr, reason), "rank 3");
  EXPECT_EQ(outcome, WaitOutcome::kAborted);
  EXPECT_NONFATAL_FAILURE(wait_until([] { return false; }, nullptr, reason), "want 5 saw 4\ncounting 1: count 1");
  mine.executor.remove(engine);
}

TEST(LocalBootstrap, GathersInRankOrderAgainAndAgain) {
  LocalBootstrapGroup group(4);
  group.run_on_all([&](int rank) {
    for (int round = 0; round < 50; ++round) {
      const Result<std::vector<int>> all = all_gather_value(group.rank(rank), "numbers", rank * 100 + round);
      ASSERT_TRUE(all.ok()) << all.status().message();
      EXPECT_EQ(*all, (std::vector<int>{round, 100 + round, 200 + round, 300 + round}));
    }
  });
}

TEST(LocalBootstrap, DifferentCollectivesAreAnErrorOnAllRanks) {
  LocalBootstrapGroup group(2);
  group.run_on_all([&](int rank) {
    const auto all = group.rank(rank).all_gather(rank == 0 ? "windows" : "contexts", Gift{});
    ASSERT_FALSE(all.ok());
    EXPECT_NE(all.status().text().find("'windows'"), std::string::npos) << all.status().text();
    EXPECT_NE(all.status().text().find("'contexts'"), std::string::npos) << all.status().text();
  });
}

}  // namespace
}  // namespace anygin::testing
