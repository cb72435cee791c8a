// SPDX-License-Identifier: Apache-2.0
// A failing list of choices is reduced to those that matter.
#include "minimise.h"

#include <gtest/gtest.h>

namespace anygin::tools {
namespace {

using sim::ChoiceRecord;

std::vector<ChoiceRecord> deviations(size_t count) {
  std::vector<ChoiceRecord> choices;
  for (uint64_t i = 0; i < count; ++i) choices.push_back({ChoiceKind::kEngineOrder, false, false, i});
  return choices;
}

std::vector<uint64_t> left_in(const std::vector<ChoiceRecord>& choices) {
  std::vector<uint64_t> names;
  for (const ChoiceRecord& choice : choices) {
    if (!choice.canonical) names.push_back(choice.name);
  }
  return names;
}

TEST(Minimise, KeepsTheChoicesThatTheFailureNeeds) {
  size_t runs = 0;
  const auto needs = [&](const std::vector<ChoiceRecord>& choices) {
    ++runs;
    return !choices[3].canonical && !choices[700].canonical && !choices[999].canonical;
  };
  EXPECT_EQ(left_in(minimise(deviations(1000), needs, 1000)), (std::vector<uint64_t>{3, 700, 999}));
  EXPECT_LT(runs, 200u);
}

TEST(Minimise, AFailureOfEveryRunNeedsNone) {
  size_t runs = 0;
  const auto always = [&](const std::vector<ChoiceRecord>&) { return ++runs > 0; };
  EXPECT_TRUE(left_in(minimise(deviations(50), always, 100)).empty());
  EXPECT_EQ(runs, 1u);
}

TEST(Minimise, StopsWhenItsRunsAreUsedUp) {
  size_t runs = 0;
  const auto never = [&](const std::vector<ChoiceRecord>&) { return ++runs == 0; };
  EXPECT_EQ(left_in(minimise(deviations(500), never, 20)).size(), 500u);
  EXPECT_EQ(runs, 20u);
}

}  // namespace
}  // namespace anygin::tools
