// SPDX-License-Identifier: Apache-2.0
// The files through the production stack: whatever a seed makes of them is among what the tabular form may do, and
// where a file shows a freedom, some seed makes use of it.
#include "anygin/sim/litmus/stack_runner.h"
#include "anygin/sim/litmus/tabular_explore.h"
#include "litmus/litmus_files.h"

namespace anygin::litmus {
namespace {

constexpr uint64_t kSeeds = 400;
constexpr uint64_t kSeedsForAll = 6000;

std::unique_ptr<StackRunner> runner_of(const Program& program, Profile profile) {
  Result<std::unique_ptr<StackRunner>> runner = StackRunner::create(program.ranks, profile);
  EXPECT_TRUE(runner.ok()) << runner.status().message();
  return runner.ok() ? std::move(*runner) : nullptr;
}

std::string text_of(const Program& program, const std::set<Outcome>& outcomes) {
  std::string text;
  for (const Outcome& outcome : outcomes) text += describe(program, outcome) + "\n";
  return text;
}

class LitmusStack : public ::testing::TestWithParam<std::string> {
 protected:
  void stays_inside(const Program& program, Profile profile) {
    SCOPED_TRACE(name_of(profile));
    const std::set<Outcome> possible = explore(program, profile).outcomes;
    const std::unique_ptr<StackRunner> runner = runner_of(program, profile);
    for (uint64_t seed = 1; seed <= kSeeds && !HasFailure(); ++seed) {
      const StackRunner::End end = runner->run(program, seed);
      EXPECT_EQ(end, StackRunner::End::kFinished) << "seed " << seed << ": " << runner->why();
      EXPECT_EQ(possible.count(runner->outcome()), 1u)
          << "seed " << seed << ": " << describe(program, runner->outcome());
    }
  }
};

TEST_P(LitmusStack, StaysInsideTheTable) {
  const Program program = litmus_of(GetParam());
  for (const Profile profile : kEveryProfile) stays_inside(program, profile);
}

INSTANTIATE_TEST_SUITE_P(All, LitmusStack, ::testing::ValuesIn(litmus_paths()),
                         [](const auto& instance) { return stem_of(instance.param); });

// Files whose every outcome the stack has: it makes use of each freedom of the profile table.
const char* const kReached[] = {"F1_weak_signal_says_nothing_of_earlier_puts",
                                "F1_weak_signal_overtakes_signals",
                                "F1_weak_signal_overtakes_get",
                                "F2_granules_in_any_order",
                                "F2_put_overtakes_put",
                                "F2_two_puts_to_the_same_bytes",
                                "F3_contexts_are_unordered",
                                "F3_peers_are_unordered",
                                "F3_sources_are_unordered",
                                "F4_flush_says_nothing_of_the_destination",
                                "F4_local_completion_before_visibility",
                                "F7_get_overtakes_put",
                                "F7_get_overtakes_weak_signal",
                                "F7_put_overtakes_get",
                                "F8_barrier_without_fence",
                                "F9_barrier_on_one_context"};

class LitmusStackReaches : public ::testing::TestWithParam<const char*> {};

TEST_P(LitmusStackReaches, EveryOutcome) {
  const Program program = litmus_of(std::string(ANYGIN_LITMUS_DIR) + "/" + GetParam() + ".litmus");
  for (const Profile profile : kEveryProfile) {
    const std::set<Outcome> possible = explore(program, profile).outcomes;
    const std::unique_ptr<StackRunner> runner = runner_of(program, profile);
    std::set<Outcome> seen;
    for (uint64_t seed = 1; seed <= kSeedsForAll && seen != possible; ++seed) {
      ASSERT_EQ(runner->run(program, seed), StackRunner::End::kFinished) << "seed " << seed << ": " << runner->why();
      seen.insert(runner->outcome());
    }
    EXPECT_EQ(text_of(program, seen), text_of(program, possible)) << name_of(profile);
  }
}

INSTANTIATE_TEST_SUITE_P(Freedoms, LitmusStackReaches, ::testing::ValuesIn(kReached),
                         [](const auto& instance) { return std::string(instance.param); });

// A run is a function of its seed, whatever ran before.
TEST(LitmusStackRuns, ASeedIsAReplay) {
  const Program weak = litmus_of(ANYGIN_LITMUS_DIR "/F1_weak_signal_says_nothing_of_earlier_puts.litmus");
  const Program counter = litmus_of(ANYGIN_LITMUS_DIR "/F5_counter_says_nothing_of_the_destination.litmus");
  const std::unique_ptr<StackRunner> runner = runner_of(weak, Profile::kRelaxed);
  std::vector<Outcome> first;
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    ASSERT_EQ(runner->run(weak, seed), StackRunner::End::kFinished);
    first.push_back(runner->outcome());
  }
  for (uint64_t seed = 200; seed >= 1; --seed) {
    ASSERT_EQ(runner->run(counter, seed), StackRunner::End::kFinished);
    ASSERT_EQ(runner->run(weak, seed), StackRunner::End::kFinished);
    ASSERT_EQ(runner->outcome(), first[seed - 1]) << "seed " << seed;
  }
}

TEST(LitmusStackRuns, AHangSaysWhoWaits) {
  const Result<Program> program = parse_litmus(
      "f", "litmus t\nranks 2\nthread 0\nsignal 1 weak inc s0\nthread 1\nwait s0 >= 2\nexactly all: finishes\n");
  ASSERT_TRUE(program.ok()) << program.status().message();
  const std::unique_ptr<StackRunner> runner = runner_of(*program, Profile::kRelaxed);
  EXPECT_EQ(runner->run(*program, 1), StackRunner::End::kHangs);
  EXPECT_EQ(runner->why(), "thread 1 of rank 1 waits in 'wait s0 >= 2'");
}

}  // namespace
}  // namespace anygin::litmus
