// SPDX-License-Identifier: Apache-2.0
// One action at a time, in the canonical order or as chosen; time passes and jumps; the digest tells runs apart.
#include <gtest/gtest.h>

#include "anygin/sim/scheduler.h"
#include "unit/scripted_engine.h"

namespace anygin::sim {
namespace {

using anygin::testing::ScriptedEngine;

struct Rig {
  explicit Rig(std::unique_ptr<Strategy> strategy = std::make_unique<CanonicalStrategy>())
      : choices(std::move(strategy)) {}
  size_t run() {
    size_t steps = 0;
    while (steps < 10'000 && scheduler.step() == Scheduler::Moved::kRan) ++steps;
    return steps;
  }
  VirtualClock clock;
  SimChoices choices;
  Scheduler scheduler{clock, choices};
};

// Two engines of two queues, who write one diary.
std::vector<uint64_t> diary_of(std::unique_ptr<Strategy> strategy, uint64_t* digest = nullptr) {
  Rig rig(std::move(strategy));
  ScriptedEngine a(1, 2), b(2, 2);
  std::vector<uint64_t> diary;
  for (uint64_t i = 0; i < 3; ++i) {
    for (ScriptedEngine* engine : {&a, &b}) {
      for (size_t queue = 0; queue < 2; ++queue) {
        const uint64_t number = engine->id().value * 100 + queue * 10 + i;
        engine->push(queue, number, [&diary, number](Time) {
          diary.push_back(number);
          return kNever;
        });
      }
    }
  }
  rig.scheduler.add(b);
  rig.scheduler.add(a);
  EXPECT_EQ(rig.run(), 12u);
  if (digest != nullptr) *digest = rig.scheduler.digest().value();
  rig.scheduler.remove(a);
  rig.scheduler.remove(b);
  return diary;
}

TEST(SimScheduler, TheCanonicalOrderGoesRoundByEngineAndQueue) {
  EXPECT_EQ(diary_of(std::make_unique<CanonicalStrategy>()),
            (std::vector<uint64_t>{100, 200, 110, 210, 101, 201, 111, 211, 102, 202, 112, 212}));
}

TEST(SimScheduler, EveryInterleavingOfQueuesKeepsEachQueuesOrder) {
  std::set<std::vector<uint64_t>> seen;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    uint64_t digest = 0, again = 0;
    const std::vector<uint64_t> diary = diary_of(std::make_unique<RandomStrategy>(seed), &digest);
    EXPECT_EQ(diary, diary_of(std::make_unique<RandomStrategy>(seed), &again));
    EXPECT_EQ(digest, again);
    for (const uint64_t queue : {100, 110, 200, 210}) {
      std::vector<uint64_t> mine;
      for (const uint64_t one : diary) {
        if (one / 10 * 10 == queue) mine.push_back(one);
      }
      EXPECT_EQ(mine, (std::vector<uint64_t>{queue, queue + 1, queue + 2}));
    }
    seen.insert(diary);
  }
  EXPECT_EQ(seen.size(), 50u);  // of 369,600
}

TEST(SimScheduler, TimePassesWithEachActionAndJumpsToWakeUps) {
  Rig rig;
  ScriptedEngine engine(1);
  std::vector<Time> at;
  engine.push(0, 1, [&](Time now) {
    at.push_back(now);
    engine.hide_work(true);
    return now + 5 * kMillisecond;
  });
  engine.push(0, 2, [&](Time now) {
    at.push_back(now);
    return kNever;
  });
  rig.scheduler.add(engine);
  EXPECT_EQ(rig.run(), 2u);
  EXPECT_EQ(at, (std::vector<Time>{0, Scheduler::kStepTime}));  // offered at once: only has_work() is hidden
  rig.scheduler.remove(engine);
}

// Offers one action over and over, which only looks; done once `*until` is set.
class Poller final : public Engine {
 public:
  explicit Poller(const bool* until) : until_(until) {}
  EngineId id() const override { return EngineId(7); }
  std::string_view name() const override { return "poller"; }
  bool has_work() const override { return !*until_; }
  void ready(ActionList& out) override {
    if (!*until_) out.add(id(), 0, 0).only_polls = true;
  }
  void run(const Action&, Time) override { ++polls_; }
  uint64_t polls() const { return polls_; }

 private:
  const bool* const until_;
  uint64_t polls_ = 0;
};

TEST(SimScheduler, WhoOnlyPollsDoesNotHoldUpTime) {
  Rig rig;
  bool raised = false;
  Poller poller(&raised);
  ScriptedEngine engine(1);
  engine.push(0, 1, [&](Time now) {
    engine.push(0, 2, [&](Time) {
      raised = true;
      return kNever;
    });
    engine.hide_work(true);
    return now + kSecond;
  });
  rig.scheduler.add(poller);
  rig.scheduler.add(engine);
  EXPECT_LT(rig.run(), 20u);
  EXPECT_TRUE(raised);
  rig.scheduler.remove(engine);
  rig.scheduler.remove(poller);
}

TEST(SimScheduler, PollsThatNobodyAnswersAreAStandstill) {
  Rig rig;
  bool never = false;
  Poller poller(&never);
  rig.scheduler.add(poller);
  uint64_t steps = 0;
  while (rig.scheduler.step() == Scheduler::Moved::kRan) ++steps;
  EXPECT_EQ(steps, Scheduler::kPollsInVain);
  rig.scheduler.remove(poller);
}

}  // namespace
}  // namespace anygin::sim
