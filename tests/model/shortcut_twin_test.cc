// SPDX-License-Identifier: Apache-2.0
// The shortcut against its twin: one list of operations goes both ways, by copies of the initiator and by messages.
// Memory and completions are the same, also of lists with an error in them.
#include <cstring>

#include "model/flow_script.h"

namespace anygin::testing {
namespace {

using namespace emulated;

struct Outcome {
  std::vector<char> target, source;
  std::vector<WorkDone> completions;
};

class ShortcutTwin : public ::testing::TestWithParam<Profile> {
 protected:
  Outcome run(uint64_t seed, bool shortcut, uint64_t limit) {
    SeededChoices choices(seed), pick(seed + 1), draw(seed + 2);
    FlowPair pair(world_, choices, {GetParam(), shortcut, 0xfffffff0u, 0});
    const FlowScript script = make_script(draw, pair, false);
    pair.limit_target(limit);
    for (const Work& work : script.works) pair.post(work);
    pair.run(pick);
    Outcome outcome;
    outcome.target.assign(pair.target(), pair.target() + FlowPair::kBytes);
    // Of the old values only the last add's is left: it is the same in program order.
    outcome.source.assign(pair.source(), pair.source() + FlowPair::kBytes);
    outcome.completions = pair.completions();
    return outcome;
  }

  void compare(const Outcome& direct, const Outcome& messages) {
    EXPECT_EQ(direct.target == messages.target, true) << "target memory differs";
    EXPECT_EQ(direct.source == messages.source, true) << "initiator memory differs";
    ASSERT_EQ(direct.completions.size(), messages.completions.size());
    for (size_t i = 0; i < direct.completions.size(); ++i) {
      EXPECT_EQ(direct.completions[i].cookie, messages.completions[i].cookie);
      EXPECT_EQ(direct.completions[i].kind, messages.completions[i].kind);
      EXPECT_EQ(direct.completions[i].status, messages.completions[i].status) << "operation " << i;
      EXPECT_EQ(direct.completions[i].bytes, messages.completions[i].bytes);
    }
  }

  TestWorld world_;
};

TEST_P(ShortcutTwin, SameMemoryAndCompletions) {
  for (uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    compare(run(seed, true, FlowPair::kBytes), run(seed, false, FlowPair::kBytes));
  }
}

// The target's region ends early: the first operation beyond it fails. By messages operations behind a failed one may
// have begun, in program order they may not.
TEST_P(ShortcutTwin, SameMemoryAndCompletionsUpToAnError) {
  for (uint64_t seed = 1; seed <= 60 && !HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const uint64_t limit = (seed % 12) * FlowScript::kSlot + 20;
    compare(run(seed, true, limit), run(seed, false, limit));
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, ShortcutTwin, ::testing::Values(Profile::kInorder, Profile::kRelaxed),
                         [](const auto& instance) { return std::string(anygin::name_of(instance.param)); });

}  // namespace
}  // namespace anygin::testing
