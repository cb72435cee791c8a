// SPDX-License-Identifier: Apache-2.0
// What a run chose is written down by name, and repeated: strictly, or as far as it fits.
#include "anygin/sim/sim_choices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anygin::sim {
namespace {

using Kind = ChoiceKind;

std::vector<ChoiceOption> options_named(std::initializer_list<uint64_t> names) {
  std::vector<ChoiceOption> options;
  for (const uint64_t name : names) options.push_back({name, {}, 0});
  return options;
}

SimChoices random_choices(uint64_t seed) {
  return SimChoices(std::make_unique<RandomStrategy>(seed));
}

// A run of some choices of all forms; what came of it.
std::vector<uint64_t> run_of(SimChoices& choices) {
  std::vector<uint64_t> came;
  for (uint64_t i = 0; i < 50; ++i) {
    came.push_back(choices.pick(Kind::kGranules, options_named({i, i + 1, i + 2})));
    came.push_back(choices.pick_below(Kind::kDelay, 7));
    came.push_back(choices.pick_step({{i * 10, 0}, {i * 10 + 1, 1}}));
  }
  return came;
}

TEST(SimChoices, AreAFunctionOfTheSeed) {
  SimChoices first = random_choices(5), again = random_choices(5), other = random_choices(6);
  const std::vector<uint64_t> came = run_of(first);
  EXPECT_EQ(came, run_of(again));
  EXPECT_NE(came, run_of(other));
  EXPECT_EQ(first.digest().value(), again.digest().value());
  EXPECT_NE(first.digest().value(), other.digest().value());
  EXPECT_EQ(first.chosen().size(), 150u);
}

TEST(SimChoices, WithoutAlternativeAreNotWrittenDown) {
  SimChoices choices = random_choices(1);
  EXPECT_EQ(choices.pick(Kind::kGranules, options_named({9})), 0u);
  EXPECT_EQ(choices.pick_below(Kind::kDelay, 1), 0u);
  EXPECT_EQ(choices.pick_step({{3, 3}}), 0u);
  EXPECT_TRUE(choices.chosen().empty());
}

TEST(SimChoices, ARunIsRepeatedStrictlyFromItsTrace) {
  SimChoices recorded = random_choices(5);
  const std::vector<uint64_t> came = run_of(recorded);
  SimChoices replayed({"", recorded.chosen()}, ReplayMode::kStrict);
  EXPECT_EQ(came, run_of(replayed));
  EXPECT_EQ(recorded.digest().value(), replayed.digest().value());
  EXPECT_FALSE(replayed.divergence().has_value());
}

TEST(SimChoices, StrictReplayNamesTheFirstDifference) {
  SimChoices replayed({"", {{Kind::kDelay, true, false, 2}, {Kind::kGranules, false, false, 0x1f}}},
                      ReplayMode::kStrict);
  EXPECT_EQ(replayed.pick_below(Kind::kDelay, 5), 2u);
  EXPECT_EQ(replayed.pick(Kind::kGranules, options_named({1, 2})), 0u);
  EXPECT_EQ(replayed.divergence().value_or("none"),
            "choice 2: the trace has 'granules = 1f'; the run offers granules and not that");
  EXPECT_EQ(replayed.pick(Kind::kGranules, options_named({1, 0x1f})), 0u);  // nothing is repeated any more
}

TEST(SimChoices, TolerantReplayPassesOverWhatIsNotOffered) {
  SimChoices replayed({"",
                       {{Kind::kGranules, false, false, 77},
                        {Kind::kDelay, true, false, 3},
                        {Kind::kGranules, false, false, 2},
                        {Kind::kDelay, true, false, 9}}},
                      ReplayMode::kTolerant);
  EXPECT_EQ(replayed.pick(Kind::kGranules, options_named({1, 2})), 1u);  // 77 is passed over
  EXPECT_EQ(replayed.pick_below(Kind::kDelay, 5), 3u);                   // its own sequence
  EXPECT_EQ(replayed.pick_below(Kind::kDelay, 5), 4u);                   // 9 is not below 5: canonical
  EXPECT_EQ(replayed.pick(Kind::kGranules, options_named({1, 2})), 0u);  // none is left: canonical
  EXPECT_FALSE(replayed.divergence().has_value());
}

TEST(SimChoices, CanonicalAnswersAreNoDeviations) {
  SimChoices choices(std::make_unique<CanonicalStrategy>());
  EXPECT_EQ(choices.pick(Kind::kGranules, options_named({4, 5})), 0u);
  EXPECT_EQ(choices.pick_below(Kind::kDelay, 4), 3u);
  EXPECT_EQ(choices.pick_step({{1, 1}, {2, 2}}), 0u);
  EXPECT_EQ(choices.chosen().size(), 3u);
  EXPECT_EQ(choices.deviations(), 0u);
}

}  // namespace
}  // namespace anygin::sim
