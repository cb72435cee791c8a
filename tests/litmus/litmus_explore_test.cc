// SPDX-License-Identifier: Apache-2.0
// The explorers against each other: visiting each state once finds what going through every sequence of choices finds,
// and random runs find nothing else.
#include "anygin/base/choices_seeded.h"
#include "anygin/sim/litmus/tabular_explore.h"
#include "litmus/litmus_files.h"

namespace anygin::litmus {
namespace {

Program program_of(const std::string& text) {
  Result<Program> program = parse_litmus("test.litmus", text);
  EXPECT_TRUE(program.ok()) << program.status().message();
  return program.ok() ? *program : Program{};
}

struct Sequences {
  uint64_t count = 0;
  std::set<Outcome> outcomes;
};

Sequences every_sequence(const Program& program, Profile profile) {
  const TabularMachine machine(program, profile);
  TabularRunner runner(machine);
  DepthFirstChoices choices;
  Sequences all;
  do {
    EXPECT_TRUE(runner.run(choices));
    all.outcomes.insert(runner.outcome());
    ++all.count;
  } while (choices.next());
  return all;
}

TEST(LitmusExplore, StatesAndSequencesAgree) {
  for (const char* name :
       {"P1_weak_signal_covers_its_put", "F3_contexts_are_unordered", "P13_counter_wraps", "F2_granules_in_any_order",
        "F7_put_overtakes_get", "race_relaxed_read", "M8_get_read_before_its_flush", "F2_two_puts_to_the_same_bytes"}) {
    const Program program = litmus_of(std::string(ANYGIN_LITMUS_DIR) + "/" + name + ".litmus");
    for (const Profile profile : kEveryProfile) {
      EXPECT_EQ(every_sequence(program, profile).outcomes, explore(program, profile).outcomes)
          << name << " " << name_of(profile);
    }
  }
}

// One put of two granules, two loads: three steps of a thread among two of the NIC behind a post.
TEST(LitmusExplore, CountsEverySequence) {
  const Program program = program_of(
      "litmus t\nranks 2\nmemory 0: x[1] = 1\nmemory 1: d[1]\nthread 0\nput 1:d <- x\nthread 1\nload d[0] -> a\n"
      "load d[0] -> b\nfinal 1:d[0] -> f\nexactly all: a=0 b=0|1 f=1\nexactly all: a=1 b=1 f=1\n");
  // Two chains of two: the post and its showing, and two loads.
  EXPECT_EQ(every_sequence(program, Profile::kInorder).count, 6u);
  const Exploration found = explore(program, Profile::kInorder);
  EXPECT_EQ(disagreements(program, Profile::kInorder, found.outcomes, true), std::vector<std::string>{});
}

TEST(LitmusExplore, RandomRunsStayInside) {
  for (const Program& program : litmus_programs()) {
    for (const Profile profile : kEveryProfile) {
      const std::set<Outcome> possible = explore(program, profile).outcomes;
      const TabularMachine machine(program, profile);
      TabularRunner runner(machine);
      for (uint64_t seed = 1; seed <= 300; ++seed) {
        SeededChoices choices(seed);
        ASSERT_TRUE(runner.run(choices)) << program.name << " seed " << seed;
        ASSERT_EQ(possible.count(runner.outcome()), 1u) << program.name << " " << name_of(profile) << " seed " << seed;
      }
    }
  }
}

TEST(LitmusExplore, AHangIsNamedWithItsPath) {
  const Program program =
      program_of("litmus t\nranks 2\nthread 0\nsignal 1 weak inc s0\nthread 1\nwait s0 >= 2\nexactly all: finishes\n");
  const Exploration found = explore(program, Profile::kRelaxed);
  EXPECT_EQ(found.hang,
            "thread 1 of rank 1 waits in 'wait s0 >= 2' for 2 of 1:s0 on c0, which is 1"
            "\n  thread 0 of rank 0: signal 1 weak inc s0"
            "\n  NIC 0 to 1 on c0: weak 0 adds 1 to 1:s0 on c0");
  EXPECT_TRUE(found.outcomes.empty());
}

TEST(LitmusExplore, TheShortestWayIsTold) {
  const Program program = litmus_of(ANYGIN_LITMUS_DIR "/F1_weak_signal_says_nothing_of_earlier_puts.litmus");
  ExploreOptions options;
  options.find = *parse_pattern(program, "d0=0 d1=0");
  const std::vector<std::string> path = explore(program, Profile::kRelaxed, options).path;
  ASSERT_EQ(path.size(), 10u);  // two posts, two granules, the signal, a wait, four loads
  EXPECT_EQ(path.back(), "thread 1 of rank 1: load e[1] -> e1");
  EXPECT_TRUE(explore(program, Profile::kInorder, options).path.empty());
}

TEST(LitmusExplore, StopsAtTheLimit) {
  const Program program = litmus_of(ANYGIN_LITMUS_DIR "/P18_barrier_with_put_fence.litmus");
  ExploreOptions options;
  options.states_max = 100;
  EXPECT_FALSE(explore(program, Profile::kRelaxed, options).complete);
}

}  // namespace
}  // namespace anygin::litmus
