// SPDX-License-Identifier: Apache-2.0
// The real world, and what stands around it: log, mutants, lane hosts.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <thread>

#include "anygin/base/log.h"
#include "anygin/base/mutant.h"
#include "anygin/base/options.h"
#include "anygin/base/order.h"
#include "anygin/base/world.h"
#include "support/world_fixture.h"

namespace anygin {
namespace {

TEST(RealWorld, IsOneAndWaitsOnItsPage) {
  World& real = world();
  EXPECT_EQ(&world(), &real);
  EXPECT_EQ(&real.executor.wake_word(), &real.page.control().wake);
  EXPECT_FALSE(real.trace.enabled());
  const EngineId first = real.next_engine_id();
  EXPECT_EQ(real.next_engine_id().value, first.value + 1);
}

TEST(RealWorld, IsBackAfterATestWorld) {
  World& real = world();
  {
    testing::TestWorld mine;
    EXPECT_EQ(&world(), &mine);
  }
  EXPECT_EQ(&world(), &real);
}

TEST(RealWorld, ManyHostThreadsWaitAndAreWoken) {
  std::atomic<int> turn{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        const int mine = 8 * round + i;
        EXPECT_EQ(wait_until([&] { return turn.load() == mine; }, nullptr, {}, world().clock.now() + 10 * kSecond),
                  WaitOutcome::kSatisfied);
        turn.store(mine + 1);
        ring(world().executor.wake_word());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(turn.load(), 160);
}

TEST(RealWorldDeathTest, AWorldThatCannotBeLoadedIsRefused) {
  Options wrong = options();
  wrong.world = "/no/such/world.so";
  EXPECT_EXIT(
      {
        set_options_for_test(wrong);
        set_world_for_test(nullptr);
        world();
      },
      ::testing::ExitedWithCode(3), "ANYGIN_WORLD: .*no/such/world.so");
}

class FakeHost final : public LaneHost {
 public:
  WaitOutcome park(Waiter& waiter) override {
    ++parked;
    last_reason = waiter.reason;
    return WaitOutcome::kDeadline;
  }
  void yield() override { ++yielded; }
  [[noreturn]] void leave(AbortCause cause) override { std::_Exit(40 + static_cast<int>(cause)); }

  int parked = 0;
  int yielded = 0;
  WaitReason last_reason;
};

TEST(LaneHost, WaitsOfALaneGoToItsHost) {
  FakeHost host;
  EXPECT_EQ(current_lane_host(), nullptr);
  set_current_lane_host(&host);
  WaitReason reason;
  reason.want = 9;
  EXPECT_EQ(wait_until([] { return false; }, nullptr, reason), WaitOutcome::kDeadline);
  anygin_yield();
  std::thread other([] { EXPECT_EQ(current_lane_host(), nullptr); });
  other.join();
  set_current_lane_host(nullptr);
  EXPECT_EQ(host.parked, 1);
  EXPECT_EQ(host.last_reason.want, 9u);
  EXPECT_EQ(host.yielded, 1);
}

TEST(LaneHostDeathTest, LeavingGoesToTheHostOrAborts) {
  EXPECT_EXIT(
      {
        FakeHost host;
        set_current_lane_host(&host);
        anygin_leave_kernel(AbortCause::kPeerDied);
      },
      ::testing::ExitedWithCode(42), "");
  EXPECT_DEATH(anygin_leave_kernel(AbortCause::kHang), "no kernel to leave .abort cause 5");
}

TEST(Log, WritesLinesUpToTheLevelAskedFor) {
  Options wanted = options();
  const Options before = wanted;
  wanted.nccl_debug = "INFO";
  set_options_for_test(wanted);
  ::testing::internal::CaptureStderr();
  log(LogLevel::kInfo, "rank {} of {}", 1, 4);
  log(LogLevel::kTrace, "not this");
  log(LogLevel::kError, "broken");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "anygin INFO: rank 1 of 4\nanygin ERROR: broken\n");
  wanted.nccl_debug = "NONE";
  set_options_for_test(wanted);
  EXPECT_FALSE(log_enabled(LogLevel::kError));
  set_options_for_test(before);
}

TEST(Mutants, AreFoundByName) {
  ASSERT_GT(mutant_table().size(), 0u);
  EXPECT_EQ(find_mutant(mutant_table()[0].name), static_cast<Mutant>(0));
  EXPECT_EQ(find_mutant("no such mutant"), Mutant::kCount);
  for (size_t i = 0; i < mutant_table().size(); ++i) {
    EXPECT_EQ(find_mutant(mutant_table()[i].name), static_cast<Mutant>(i));  // no name twice
  }
}

TEST(MutantsDeathTest, AWrongNameIsAnErrorThatListsThem) {
  EXPECT_EXIT(
      {
        setenv("ANYGIN_MUTANT", "no_such_mutant", 1);
        active_mutant();
      },
      ::testing::ExitedWithCode(2), "no_such_mutant is not a mutant; there are:");
}

TEST(Status, SaysWhereAndWhat) {
  EXPECT_EQ(Status().message(), "ok");
  EXPECT_TRUE(Status().ok());
  const Status bad(Cause::kJoinRefused, "ncclCommInitRank", "rank 9 of 4");
  EXPECT_FALSE(bad.ok());
  EXPECT_EQ(bad.message(), "GIN_ERR_JOIN_REFUSED: ncclCommInitRank: rank 9 of 4");
  EXPECT_EQ(bad.detail(), "ncclCommInitRank: rank 9 of 4");
  EXPECT_EQ(cause_of_number(static_cast<uint8_t>(Cause::kJoinRefused)), Cause::kJoinRefused);
  EXPECT_EQ(cause_of_number(static_cast<uint8_t>(Cause::kCount)), Cause::kProtocol);
  const Result<int> none(bad);
  EXPECT_EQ(none.status().code(), Code::kInvalidUsage);
  const Result<int> some(7);
  EXPECT_EQ(*some, 7);
}

}  // namespace
}  // namespace anygin
