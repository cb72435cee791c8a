// SPDX-License-Identifier: Apache-2.0
// When a run is called hung: the rule alone, fed by hand.
#include "anygin/comm/hang.h"

#include <gtest/gtest.h>

namespace anygin::comm {
namespace {

constexpr uint64_t kTimeout = 1000;

Observation hopeless() {
  Observation seen;
  seen.someone_waits = seen.idle = seen.all_inside = true;
  seen.progress = 7;
  return seen;
}

TEST(HangRule, NobodyMovesForTheTimeout) {
  HangRule rule(kTimeout);
  EXPECT_EQ(rule.look(hopeless(), 100), Verdict::kNone);
  EXPECT_EQ(rule.look(hopeless(), 1099), Verdict::kNone);
  EXPECT_EQ(rule.look(hopeless(), 1100), Verdict::kHang);
  EXPECT_EQ(rule.look(hopeless(), 1200), Verdict::kNone);  // once
}

TEST(HangRule, ZeroMeansNever) {
  HangRule rule(0);
  EXPECT_EQ(rule.look(hopeless(), 0), Verdict::kNone);
  EXPECT_EQ(rule.look(hopeless(), ~uint64_t{0}), Verdict::kNone);
}

// Each condition that does not hold in between starts the time again.
TEST(HangRule, AnyMotionStartsTheTimeAgain) {
  void (*const motions[])(Observation&) = {
      [](Observation& seen) { seen.someone_waits = false; },
      [](Observation& seen) { seen.idle = false; },
      [](Observation& seen) { seen.peers_idle = false; },
      [](Observation& seen) { seen.progress = 8; },
  };
  for (const auto motion : motions) {
    HangRule rule(kTimeout);
    Observation moved = hopeless();
    motion(moved);
    EXPECT_EQ(rule.look(hopeless(), 0), Verdict::kNone);
    EXPECT_EQ(rule.look(moved, 900), Verdict::kNone);
    EXPECT_EQ(rule.look(hopeless(), 1000), Verdict::kNone);
    EXPECT_EQ(rule.look(hopeless(), 1899), Verdict::kNone);
    EXPECT_EQ(rule.look(hopeless(), 2000), Verdict::kHang);
  }
}

void expect_a_warning_once(const Observation& outside) {
  HangRule rule(kTimeout);
  EXPECT_EQ(rule.look(outside, 0), Verdict::kNone);
  EXPECT_EQ(rule.look(outside, 1000), Verdict::kWarn);
  EXPECT_EQ(rule.look(outside, 2000), Verdict::kNone);  // once
  // It comes in, maybe with what the others wait for: the time starts again.
  EXPECT_EQ(rule.look(hopeless(), 2100), Verdict::kNone);
  EXPECT_EQ(rule.look(hopeless(), 2999), Verdict::kNone);
  EXPECT_EQ(rule.look(hopeless(), 3000), Verdict::kHang);
}

TEST(HangRule, AThreadOutsideMakesItAWarning) {
  Observation outside = hopeless();
  outside.all_inside = false;
  expect_a_warning_once(outside);
}

// A rank that is a process of its own and never comes is outside, too.
TEST(HangRule, AThreadOutsideInAnotherProcessMakesItAWarning) {
  Observation outside = hopeless();
  outside.peers_inside = false;
  expect_a_warning_once(outside);
}

}  // namespace
}  // namespace anygin::comm
