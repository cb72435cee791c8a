// SPDX-License-Identifier: Apache-2.0
// The lane scheduler as an engine: one action is one lane to its next scheduling point, and whoever picks the actions
// decides the order.
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "anygin/simt/device_table.h"
#include "anygin/simt/lane_scheduler.h"
#include "unit/simt_kernels.h"

namespace anygin::simt {
namespace {

using Picker = std::function<size_t(size_t options)>;

// A scheduler without a thread, and one grid on it.
class DrivenGrid {
 public:
  template <typename F>
  DrivenGrid(const LaunchShape& shape, F body, LaneOrder order = LaneOrder::kForward, uint32_t single_lanes = kLanesMax,
             uint32_t whole_blocks = 0)
      : scheduler_(SchedulerShape{world().next_engine_id(), 0, 1, 2048, order, single_lanes, whole_blocks}) {
    const BoundKernel kernel{&run_lanes<F>, new F(std::move(body)), [](void* p) { delete static_cast<F*>(p); },
                             nullptr};
    grid_ = std::make_unique<Grid>(shape, kernel, device_table().load(7));
    grid_->done = [this] { done_ = true; };
    scheduler_.place(*grid_);
  }

  // Runs one action; false if none is offered.
  bool step(const Picker& pick) {
    ActionList actions(world().clock.now());
    scheduler_.ready(actions);
    if (actions.empty()) return false;
    scheduler_.run(actions[pick(actions.size())], world().clock.now());
    return true;
  }
  size_t run(const Picker& pick) {
    size_t steps = 0;
    while (steps < 100'000 && step(pick)) ++steps;
    return steps;
  }
  bool done() const { return done_; }
  LaneScheduler& scheduler() { return scheduler_; }

 private:
  bool done_ = false;
  std::unique_ptr<Grid> grid_;
  LaneScheduler scheduler_;
};

size_t first(size_t) {
  return 0;
}
size_t last(size_t options) {
  return options - 1;
}

// A small generator, so that a test's picks are its seed's.
Picker seeded(uint64_t seed) {
  return [state = seed](size_t options) mutable {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<size_t>(state >> 33) % options;
  };
}

class SimtEngine : public SimtTest {};

TEST_F(SimtEngine, AnActionRunsOneLaneToItsNextSchedulingPoint) {
  std::vector<std::string> diary;
  auto* notes = &diary;
  DrivenGrid grid(blocks_of(1, 2), [notes] {
    const std::string me = std::to_string(anygin_thread_idx.x);
    notes->push_back("a" + me);
    anygin_yield();
    notes->push_back("b" + me);
    anygin_syncthreads();
    notes->push_back("c" + me);
  });
  const auto sees = [&](const Picker& pick, const std::string& what) {
    EXPECT_TRUE(grid.step(pick));
    EXPECT_EQ(what, diary.empty() ? "" : diary.back());
  };
  sees(first, "a0");
  sees(last, "b0");  // offered: start thread 1, go on with thread 0; it stops at the barrier
  EXPECT_FALSE(grid.done());
  sees(first, "a1");
  sees(first, "c1");  // the last to arrive goes straight on
  sees(first, "c0");
  EXPECT_EQ(diary, (std::vector<std::string>{"a0", "b0", "a1", "b1", "c1", "c0"}));
  EXPECT_TRUE(grid.done());
  EXPECT_FALSE(grid.step(first));
}

// Lanes meet in every way there is, and write down who came when.
std::vector<unsigned> diary_of(const Picker& pick, LaneOrder order, bool* done) {
  std::vector<unsigned> diary;
  uint32_t arrived = 0;
  auto* notes = &diary;
  uint32_t* word = &arrived;
  DrivenGrid grid(
      blocks_of(3, 40),
      [=] {
        const auto me = static_cast<unsigned>(global_thread());
        notes->push_back(me);
        anygin_syncthreads();
        WarpOp op;
        op.kind = WarpOpKind::kSync;
        op.mask = anygin_thread_idx.x < 32 ? ~0u : 0xffu;
        anygin_warp_op(&op);
        notes->push_back(me);
        __atomic_fetch_add(word, 1, __ATOMIC_RELAXED);
        wait_at_least(word, 120);
        anygin_activemask();
        notes->push_back(me);
      },
      order);
  grid.run(pick);
  *done = grid.done();
  return diary;
}

TEST_F(SimtEngine, TheOrderIsAFunctionOfThePicks) {
  bool done = false;
  const std::vector<unsigned> canonical = diary_of(first, LaneOrder::kForward, &done);
  EXPECT_TRUE(done);
  EXPECT_EQ(360u, canonical.size());
  EXPECT_EQ(canonical, diary_of(first, LaneOrder::kForward, &done));
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const std::vector<unsigned> diary = diary_of(seeded(seed), LaneOrder::kForward, &done);
    EXPECT_TRUE(done) << seed;
    EXPECT_EQ(360u, diary.size()) << seed;
    EXPECT_NE(canonical, diary) << seed;
    EXPECT_EQ(diary, diary_of(seeded(seed), LaneOrder::kForward, &done)) << seed;
  }
}

TEST_F(SimtEngine, LanesStartForwardReversedOrAsChosen) {
  bool done = false;
  EXPECT_EQ(0u, diary_of(first, LaneOrder::kForward, &done)[0]);
  EXPECT_EQ(39u, diary_of(first, LaneOrder::kReverse, &done)[0]);
  std::vector<unsigned> chosen = diary_of(first, LaneOrder::kChosen, &done);
  EXPECT_TRUE(done);
  chosen.resize(40);
  EXPECT_FALSE(std::is_sorted(chosen.begin(), chosen.end()));
  std::sort(chosen.begin(), chosen.end());
  for (unsigned thread = 0; thread < 40; ++thread) EXPECT_EQ(thread, chosen[thread]);
}

TEST_F(SimtEngine, AParkedLaneIsOfferedWhenItsWaitIsOver) {
  uint32_t go = 0;
  uint32_t* word = &go;
  DrivenGrid grid(blocks_of(1, 1), [word] { wait_at_least(word, 1); });
  EXPECT_EQ(1u, grid.run(first));
  EXPECT_FALSE(grid.done());
  EXPECT_TRUE(grid.scheduler().has_work());
  std::vector<std::string> pending;
  grid.scheduler().describe_pending(pending);
  EXPECT_EQ(pending, (std::vector<std::string>{"kernel block (0,0,0) thread (0,0,0): an element"}));
  go = 1;
  EXPECT_EQ(1u, grid.run(first));
  EXPECT_TRUE(grid.done());
  EXPECT_FALSE(grid.scheduler().has_work());
}

TEST_F(SimtEngine, ALaneThatPollsDoesNotKeepTheNextBlockFromBeingOffered) {
  uint32_t raised = 0;
  uint32_t* flag = &raised;
  DrivenGrid grid(blocks_of(2, 1), [flag] {
    if (anygin_block_idx.x == 1) return __atomic_store_n(flag, 1u, __ATOMIC_RELEASE);
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) anygin_yield();
  });
  EXPECT_GT(grid.run(last), 2u);  // the admission is the last action offered
  EXPECT_TRUE(grid.done());
}

TEST_F(SimtEngine, ActionsOfLanesThatOnlyPollSaySo) {
  uint32_t raised = 0;
  uint32_t* flag = &raised;
  DrivenGrid grid(blocks_of(1, 2), [flag] {
    while (__atomic_load_n(flag, __ATOMIC_ACQUIRE) == 0) anygin_yield();
  });
  const auto polling = [&] {
    ActionList actions(0);
    grid.scheduler().ready(actions);
    std::vector<bool> polls;
    for (size_t i = 0; i < actions.size(); ++i) polls.push_back(actions[i].only_polls);
    return polls;
  };
  EXPECT_EQ(polling(), (std::vector<bool>{false}));  // start thread 0
  grid.step(first);
  EXPECT_EQ(polling(), (std::vector<bool>{false, false}));  // start thread 1, go on with thread 0
  grid.step(first);
  grid.step(first);
  EXPECT_EQ(polling(), (std::vector<bool>{true, true}));
  raised = 1;
  grid.run(first);
  EXPECT_TRUE(grid.done());
}

TEST_F(SimtEngine, LargeBlocksMoveAsAWhole) {
  std::vector<unsigned> diary;
  auto* notes = &diary;
  DrivenGrid grid(
      blocks_of(2, 40),
      [notes] {
        notes->push_back(anygin_block_idx.x);
        anygin_syncthreads();
        notes->push_back(anygin_block_idx.x);
      },
      LaneOrder::kForward, 39);
  EXPECT_EQ(3u, grid.run(last));  // admit, then each block in one action
  EXPECT_TRUE(grid.done());
  std::vector<unsigned> expected(80, 1);
  expected.insert(expected.end(), 80, 0);
  EXPECT_EQ(diary, expected);
}

// One block in eight moves lane by lane: then others come before and after a lane than in its own order. Nobody is
// lost.
TEST_F(SimtEngine, LanesOfSomeLargeBlocksMoveOneByOne) {
  static constexpr unsigned kLanes = 40;
  constexpr int kRuns = 400;
  int together = 0;
  std::set<std::vector<unsigned>> orders;
  for (int run = 0; run < kRuns; ++run) {
    std::vector<unsigned> diary;
    auto* notes = &diary;
    DrivenGrid grid(
        blocks_of(1, kLanes),
        [notes] {
          anygin_yield();
          notes->push_back(anygin_thread_idx.x);
          anygin_syncthreads();
          notes->push_back(kLanes);
        },
        LaneOrder::kForward, 32, 7);
    grid.run(first);
    ASSERT_TRUE(grid.done());
    ASSERT_EQ(diary.size(), 2 * kLanes);
    for (unsigned i = kLanes; i < 2 * kLanes; ++i) ASSERT_EQ(diary[i], kLanes);  // after all others came
    diary.resize(kLanes);
    together += std::is_sorted(diary.begin(), diary.end());
    orders.insert(diary);
    std::sort(diary.begin(), diary.end());
    for (unsigned lane = 0; lane < kLanes; ++lane) ASSERT_EQ(diary[lane], lane);
  }
  EXPECT_NEAR(together, kRuns * 7 / 8, 25);  // four standard deviations
  EXPECT_EQ(orders.size(), static_cast<size_t>(kRuns - together + 1));
}

TEST_F(SimtEngine, ALostDeviceEndsTheGrid) {
  testing::internal::CaptureStderr();
  DrivenGrid grid(blocks_of(4, 64), [] {
    if (global_thread() == 70) anygin_trap("for the test");
    anygin_syncthreads();
  });
  grid.run(first);
  testing::internal::GetCapturedStderr();
  EXPECT_TRUE(grid.done());
  EXPECT_EQ(kCudaLaunchFailure, device_error(7));
  EXPECT_EQ(0u, device_table().load(7).lanes.load());
  EXPECT_EQ(0u, device_table().load(7).blocks.load());
}

}  // namespace
}  // namespace anygin::simt
