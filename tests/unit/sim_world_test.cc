// SPDX-License-Identifier: Apache-2.0
// The simulated world without program threads: who waits drives it. Control planes meet and talk in it.
#include "anygin/sim/sim_world.h"

#include <gtest/gtest.h>

#include "anygin/base/order.h"
#include "anygin/comm/control_plane.h"
#include "unit/scripted_engine.h"

namespace anygin::sim {
namespace {

struct Simulated : ::testing::Test {
  Simulated() { set_world_for_test(&world); }
  ~Simulated() override { set_world_for_test(nullptr); }

  VirtualClock clock;
  SimChoices choices{std::make_unique<RandomStrategy>(1)};
  Scheduler scheduler{clock, choices};
  FaultPlan faults;
  SimWorld world{{clock, scheduler, choices, nullptr, faults, nullptr, nullptr, size_t{16} << 20}};
};

TEST_F(Simulated, WhoBlocksDrivesTheEngines) {
  anygin::testing::ScriptedEngine engine(100);
  bool done = false;
  engine.push(0, 1, [&](Time) {
    done = true;
    return kNever;
  });
  world.executor.add(engine);
  EXPECT_EQ(wait_until([&] { return done; }, nullptr, WaitReason{}), WaitOutcome::kSatisfied);
  world.executor.remove(engine);
}

TEST_F(Simulated, AWaitThatNobodyCanEndIsAbortedAtOnceAndADeadlineComes) {
  EXPECT_EQ(wait_until([] { return false; }, nullptr, WaitReason{}), WaitOutcome::kAborted);
  EXPECT_EQ(wait_until([] { return false; }, nullptr, WaitReason{}, 3 * kSecond), WaitOutcome::kDeadline);
  EXPECT_EQ(clock.now(), 3 * kSecond);
}

TEST_F(Simulated, AMeetingThatLacksARankSaysWhoIsMissing) {
  comm::ControlCarrier& carrier = *world.control;
  const comm::UniqueId id = *carrier.open_place(Options{});
  comm::Member me;
  me.rank = 1;
  me.size = 3;
  (void)carrier.assemble(id, me, {});  // comes back: nothing can move
  std::vector<std::string> lines;
  scheduler.visit([&](Engine& engine) { engine.describe_pending(lines); });
  EXPECT_EQ(lines, (std::vector<std::string>{"joining: 1 of 3 ranks are there; missing: 0, 2"}));
}

}  // namespace
}  // namespace anygin::sim
