// SPDX-License-Identifier: Apache-2.0
// A flow against its promises: random operations, random interleavings, every profile. Every freedom of the profile is
// reached, and nothing outside the table.
#include "model/flow_script.h"
#include "support/sanitizer_sizes.h"

namespace anygin::testing {
namespace {

using emulated::OrderClass;

constexpr Profile kProfiles[] = {Profile::kInorder, Profile::kCx7, Profile::kRelaxed, Profile::kSrd};

std::set<ClassPair> allowed(Profile profile) {
  std::set<ClassPair> all;
  for (int e = 0; e < emulated::kOrderClasses; ++e) {
    for (int l = 0; l < emulated::kOrderClasses; ++l) {
      const ClassPair pair{static_cast<OrderClass>(e), static_cast<OrderClass>(l)};
      if (emulated::may_pass(profile, pair.first, pair.second)) all.insert(pair);
    }
  }
  return all;
}

std::string text(const std::set<ClassPair>& pairs) {
  std::string out;
  for (const ClassPair& pair : pairs) {
    out += std::string(name_of(pair.second)) + " passes " + name_of(pair.first) + "; ";
  }
  return out;
}

class FlowModel : public ::testing::TestWithParam<Profile> {
 protected:
  void run_seed(uint64_t seed, bool hints, uint32_t delay, bool shortcut, Freedoms* seen) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    SeededChoices choices(seed), pick(seed * 3 + 1);
    // Sequence numbers start just below the wrap.
    FlowPair pair(world_, choices, {GetParam(), shortcut, 0xfffffff8u, delay});
    const FlowScript script = make_script(pick, pair, hints);
    for (const emulated::Work& work : script.works) pair.post(work);
    pair.run(pick);
    check_run(pair, script, GetParam(), seen);
  }

  TestWorld world_;
};

TEST_P(FlowModel, PromisesHoldAndExactlyTheProfilesFreedomsAreReached) {
  constexpr uint64_t kSeeds = testing::size_under_tsan(400, 50);
  Freedoms seen;
  for (uint64_t seed = 1; seed <= kSeeds && !HasFailure(); ++seed) run_seed(seed, true, 0, false, &seen);
  EXPECT_EQ(text(seen.passed), text(allowed(GetParam())));
  EXPECT_EQ(seen.granules_out_of_order, emulated::granules_in_any_order(GetParam(), OrderClass::kPut));
  EXPECT_EQ(seen.completed_before_visible, emulated::completes_before_visible(GetParam(), OrderClass::kPut));
}

TEST_P(FlowModel, WithoutHintsEverythingIsInProgramOrder) {
  Freedoms seen;
  for (uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) run_seed(seed, false, 0, false, &seen);
  EXPECT_EQ(text(seen.passed), "");
  EXPECT_FALSE(seen.granules_out_of_order);
  EXPECT_FALSE(seen.completed_before_visible);
}

TEST_P(FlowModel, AgentsThatCompleteLaterChangeNothing) {
  Freedoms seen;
  for (uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) run_seed(seed, true, 3, false, &seen);
  for (uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) run_seed(seed, true, 2, true, &seen);
}

TEST_P(FlowModel, TheShortcutKeepsThePromises) {
  Freedoms seen;
  for (uint64_t seed = 1; seed <= 100 && !HasFailure(); ++seed) run_seed(seed, true, 0, true, &seen);
  if (GetParam() == Profile::kInorder) {
    EXPECT_EQ(text(seen.passed), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, FlowModel, ::testing::ValuesIn(kProfiles),
                         [](const auto& instance) { return std::string(anygin::name_of(instance.param)); });

}  // namespace
}  // namespace anygin::testing
