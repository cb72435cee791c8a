// SPDX-License-Identifier: Apache-2.0
// Whole programs in the simulated world: they end as in the real one, a seed is a run, and a hang is judged at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>

#include "anygin/base/whole_file.h"
#include "anygin/sim/run_result.h"
#include "compile/command_runner.h"

namespace anygin::sim {
namespace {

using ::testing::HasSubstr;

struct Simulated {
  CommandResult command;
  RunResult result;
};

Simulated simulate(const std::string& program, const std::string& settings, const std::string& environment) {
  const std::string file = "/tmp/anygin-sim-program-" + std::to_string(getpid());
  std::remove(file.c_str());
  Simulated run;
  run.command =
      run_command("env LD_PRELOAD=" ANYGIN_SIM_LIBRARY " ANYGIN_WORLD=" ANYGIN_SIM_LIBRARY " ANYGIN_SIM=" + settings +
                  ",result=" + file + " " + environment + " " ANYGIN_EXAMPLES_DIR "/" + program);
  const Result<std::string> text = read_file(file);
  std::remove(file.c_str());
  if (!text.ok()) {
    ADD_FAILURE() << "no result of " << program << ": " << run.command.output;
    return run;
  }
  Result<RunResult> result = parse_run_result(*text);
  EXPECT_TRUE(result.ok()) << result.status().message();
  if (result.ok()) run.result = *result;
  return run;
}

TEST(SimProgram, the_all_to_all_completes_and_a_seed_is_a_run) {
  const std::string seven = "ANYGIN_SEED=7 ANYGIN_PROFILE=relaxed";
  const Simulated first = simulate("alltoall_gin -r 2", "strategy=random", seven);
  EXPECT_EQ(first.command.code, 0) << first.command.output;
  EXPECT_THAT(first.command.output, HasSubstr("rank 0 of 2, LSA 0 of 2: 4096 bytes from each rank in"));
  EXPECT_THAT(first.command.output, HasSubstr("PASSED"));
  EXPECT_EQ(first.result.verdict, RunVerdict::kClean);
  const Simulated again = simulate("alltoall_gin -r 2", "strategy=random", seven);
  EXPECT_EQ(first.result.digest, again.result.digest);
  EXPECT_EQ(first.result.steps, again.result.steps);
  EXPECT_EQ(first.command.output, again.command.output);
  const Simulated other = simulate("alltoall_gin -r 2", "strategy=random", "ANYGIN_SEED=8 ANYGIN_PROFILE=relaxed");
  EXPECT_EQ(other.command.code, 0) << other.command.output;
  EXPECT_NE(first.result.digest, other.result.digest);
}

TEST(SimProgram, every_strategy_carries_the_ring_to_its_end) {
  for (const char* strategy : {"canonical", "random", "pct:3"}) {
    for (const char* profile : {"inorder", "relaxed"}) {
      const Simulated run = simulate("ring -r 3", std::string("strategy=") + strategy,
                                     std::string("ANYGIN_SEED=3 ANYGIN_PROFILE=") + profile);
      EXPECT_EQ(run.command.code, 0) << strategy << " " << profile << ": " << run.command.output;
      EXPECT_EQ(run.result.verdict, RunVerdict::kClean) << strategy << " " << profile;
    }
  }
}

TEST(SimProgram, a_trace_of_choices_repeats_the_run) {
  const std::string choices = "/tmp/anygin-sim-choices-" + std::to_string(getpid());
  const Simulated first =
      simulate("ring -r 2", "strategy=random,choices=" + choices, "ANYGIN_SEED=11 ANYGIN_PROFILE=relaxed");
  const Simulated again = simulate("ring -r 2", "mode=strict,replay=" + choices, "ANYGIN_PROFILE=relaxed");
  std::remove(choices.c_str());
  EXPECT_EQ(first.command.code, 0) << first.command.output;
  EXPECT_EQ(again.command.code, 0) << again.command.output;
  EXPECT_EQ(first.result.digest, again.result.digest);
}

TEST(SimProgram, a_hang_is_judged_at_once_and_explained) {
  const Simulated run = simulate("hang -r 4", "strategy=random", "ANYGIN_SEED=1");
  EXPECT_EQ(run.command.code, 4);
  EXPECT_EQ(run.result.verdict, RunVerdict::kHang);
  ASSERT_FALSE(run.result.findings.empty());
  EXPECT_THAT(run.result.findings[0].text,
              HasSubstr("waitSignal of rank 0, context 0 index 0: wants 4, is 3; 1 more signalled by any rank would "
                        "end it (at hang.cu:"));
  EXPECT_THAT(run.command.output, HasSubstr("hang: nothing can ever move again"));
  EXPECT_THAT(run.command.output, ::testing::Not(HasSubstr("ANYGIN_HANG_TIMEOUT")));
}

TEST(SimProgram, a_world_that_was_not_preloaded_is_refused) {
  const CommandResult run = run_command("env ANYGIN_WORLD=" ANYGIN_SIM_LIBRARY " " ANYGIN_EXAMPLES_DIR "/ring -r 2");
  EXPECT_EQ(run.code, 3);
  EXPECT_THAT(run.output, HasSubstr("use anygin check or anygin replay"));
}

}  // namespace
}  // namespace anygin::sim
