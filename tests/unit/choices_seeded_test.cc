// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/choices_seeded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <vector>

namespace anygin {
namespace {

std::vector<uint64_t> draws(ChoiceSource& choices, ChoiceKind kind, uint64_t below, int count) {
  std::vector<uint64_t> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(choices.pick_below(kind, below));
  return numbers;
}

// Values computed by an independent program: a seed means the same run on every machine and in every version.
TEST(SeededChoices, DrawsAreFixedForASeed) {
  SeededChoices one(1);
  EXPECT_EQ(draws(one, ChoiceKind::kEngineOrder, 1000, 6), (std::vector<uint64_t>{980, 90, 498, 220, 346, 87}));
  EXPECT_EQ(draws(one, ChoiceKind::kGranules, 1000, 6), (std::vector<uint64_t>{806, 620, 635, 814, 334, 728}));
  SeededChoices seven(7);
  EXPECT_EQ(draws(seven, ChoiceKind::kEngineOrder, uint64_t{1} << 40, 3),
            (std::vector<uint64_t>{813191637099, 539892041129, 341291120051}));
}

TEST(SeededChoices, KindsDoNotDisturbEachOther) {
  SeededChoices plain(3);
  SeededChoices disturbed(3);
  std::vector<uint64_t> expected = draws(plain, ChoiceKind::kDelay, 1u << 20, 20);
  std::vector<uint64_t> got;
  for (int i = 0; i < 20; ++i) {
    draws(disturbed, ChoiceKind::kFault, 17, i);
    got.push_back(disturbed.pick_below(ChoiceKind::kDelay, 1u << 20));
  }
  EXPECT_EQ(got, expected);
}

TEST(SeededChoices, OneOptionIsNoChoice) {
  SeededChoices plain(3);
  SeededChoices other(3);
  EXPECT_EQ(other.pick_below(ChoiceKind::kOverlap, 1), 0u);
  const ChoiceOption single[1] = {};
  EXPECT_EQ(other.pick(ChoiceKind::kOverlap, single), 0u);
  EXPECT_EQ(draws(other, ChoiceKind::kOverlap, 999, 5), draws(plain, ChoiceKind::kOverlap, 999, 5));
}

TEST(SeededChoices, EveryOptionIsPickedAboutAsOften) {
  SeededChoices choices(11);
  const std::vector<ChoiceOption> options(6);
  std::vector<int> counts(options.size());
  for (int i = 0; i < 60'000; ++i) ++counts[choices.pick(ChoiceKind::kLaneOrder, options)];
  // 10,000 each; the standard deviation is 91.
  for (const int count : counts) EXPECT_NEAR(count, 10'000, 500);
}

// With a count just above 2^63 plain `bits % count` would give the lower half twice as often as the upper.
TEST(SeededChoices, IsUnbiasedForHugeCounts) {
  SeededChoices choices(5);
  const uint64_t count = (uint64_t{3} << 62);
  int thirds[3] = {};
  for (int i = 0; i < 30'000; ++i) ++thirds[choices.pick_below(ChoiceKind::kFault, count) / (uint64_t{1} << 62)];
  for (const int third : thirds) EXPECT_NEAR(third, 10'000, 500);
}

TEST(SeededChoices, ThreadsShareOneStream) {
  SeededChoices alone(2);
  std::vector<uint64_t> expected = draws(alone, ChoiceKind::kDelay, 1u << 30, 4000);
  SeededChoices shared(2);
  std::vector<std::vector<uint64_t>> parts(4);
  std::vector<std::thread> threads;
  for (auto& part : parts) {
    threads.emplace_back([&] { part = draws(shared, ChoiceKind::kDelay, 1u << 30, 1000); });
  }
  for (std::thread& thread : threads) thread.join();
  std::vector<uint64_t> all;
  for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
  std::sort(all.begin(), all.end());
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(all, expected);
}

}  // namespace
}  // namespace anygin
