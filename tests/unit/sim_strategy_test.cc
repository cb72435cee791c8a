// SPDX-License-Identifier: Apache-2.0
// Strategies by name, and PCT's bound: planted orders of depth 1, 2 and 3 are met at least as often as it promises.
#include <gtest/gtest.h>

#include <cmath>

#include "anygin/sim/strategy.h"

namespace anygin::sim {
namespace {

TEST(SimStrategy, IsReadByName) {
  EXPECT_EQ(describe(*parse_strategy("canonical")), "canonical");
  EXPECT_EQ(describe(*parse_strategy("random")), "random");
  EXPECT_EQ(describe(*parse_strategy("pct")), "pct:3");
  EXPECT_EQ(describe(*parse_strategy("pct:12")), "pct:12");
  for (const char* wrong : {"", "pct:", "pct:0", "pct:3x", "pctx3", "fast", "random "}) {
    Result<StrategyChoice> parsed = parse_strategy(wrong);
    ASSERT_FALSE(parsed.ok()) << wrong;
    EXPECT_NE(parsed.status().message().find("canonical, random, pct or pct:DEPTH"), std::string::npos);
  }
}

// Three threads of four steps each; which thread did which of its steps, in order.
constexpr size_t kThreads = 3, kSteps = 4;
using Order = std::vector<std::pair<size_t, size_t>>;

Order walk(Strategy& strategy) {
  size_t done[kThreads] = {};
  Order order;
  while (true) {
    std::vector<StepOption> options;
    std::vector<size_t> who;
    for (size_t thread = 0; thread < kThreads; ++thread) {
      if (done[thread] == kSteps) continue;
      options.push_back({thread * 100 + done[thread], thread});
      who.push_back(thread);
    }
    if (options.empty()) return order;
    const size_t thread = who[strategy.step(options)];
    order.emplace_back(thread, done[thread]++);
  }
}

size_t place(const Order& order, size_t thread, size_t step) {
  return static_cast<size_t>(std::find(order.begin(), order.end(), std::pair(thread, step)) - order.begin());
}

// Depth 1: thread 2 ends before thread 0 begins.
bool depth_one(const Order& order) {
  return place(order, 2, kSteps - 1) < place(order, 0, 0);
}
// Depth 2: all of thread 1 between two given steps of thread 0.
bool depth_two(const Order& order) {
  return place(order, 0, 1) < place(order, 1, 0) && place(order, 1, kSteps - 1) < place(order, 0, 2);
}
// Depth 3: there and back: thread 1's middle lies around thread 0's.
bool depth_three(const Order& order) {
  return place(order, 0, 0) < place(order, 1, 0) && place(order, 1, 1) < place(order, 0, 1) &&
         place(order, 0, 2) < place(order, 1, 2);
}

void expect_bound(uint32_t depth, bool (*bug)(const Order&)) {
  constexpr double kRuns = 4000;
  double hits = 0;
  for (uint64_t seed = 1; seed <= kRuns; ++seed) {
    PctStrategy strategy(seed, depth, kThreads * kSteps);
    hits += bug(walk(strategy)) ? 1 : 0;
  }
  const double bound = 1.0 / (kThreads * std::pow(kThreads * kSteps, depth - 1));
  EXPECT_GE(hits, kRuns * bound) << "depth " << depth;
}

TEST(SimStrategy, PctMeetsPlantedOrdersAsOftenAsItsBoundSays) {
  expect_bound(1, depth_one);
  expect_bound(2, depth_two);
  expect_bound(3, depth_three);
}

TEST(SimStrategy, PctLetsOthersPassOneThatPolls) {
  PctStrategy strategy(3, 1, 10);
  const std::vector<StepOption> both = {{1, 1}, {2, 2}};
  size_t seen[2] = {};
  for (int i = 0; i < 2000; ++i) ++seen[strategy.step(both)];
  EXPECT_GT(seen[0], 255u);
  EXPECT_GT(seen[1], 255u);
}

}  // namespace
}  // namespace anygin::sim
