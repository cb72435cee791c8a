// SPDX-License-Identifier: Apache-2.0
// `anygin check` and `anygin replay` as a person uses them: verdicts, exit codes, the line that repeats a run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <regex>

#include "anygin/base/whole_file.h"
#include "compile/command_runner.h"

namespace anygin {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kWeak = ANYGIN_SIMULATED_DIR "/weak_signal believes_a_weak_signal";

CommandResult anygin(const std::string& arguments) {
  return run_command(ANYGIN_TOOL " " + arguments, 18);
}

struct Folder {
  Folder() {
    char name[] = "/tmp/anygin-check-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { (void)run_command("rm -r " + path); }
  std::string path;
};

TEST(CheckCommand, a_correct_program_is_clean_and_told_how_many_runs_were_distinct) {
  const Folder folder;
  const CommandResult run = anygin("check --seeds 6 --shard 1/2 --twice --faults draw --junit " + folder.path +
                                   "/j.xml -- " + ANYGIN_EXAMPLES_DIR "/ring -r 2");
  EXPECT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("3 runs, 3 distinct, profile relaxed, strategy random: clean"));
  const Result<std::string> junit = read_file(folder.path + "/j.xml");
  ASSERT_TRUE(junit.ok());
  EXPECT_THAT(*junit, HasSubstr("tests=\"3\" failures=\"0\""));
}

TEST(CheckCommand, a_mistake_is_found_made_simple_and_repeated_by_seed_and_by_choices) {
  const Folder folder;
  const CommandResult run =
      anygin("check --seeds 200 --once --junit " + folder.path + "/j.xml --out " + folder.path + " -- " + kWeak);
  EXPECT_EQ(run.code, 1) << run.output;
  EXPECT_THAT(run.output, HasSubstr("FAILED: exit code 1"));
  std::smatch seed, left;
  ASSERT_TRUE(std::regex_search(run.output, seed, std::regex("replay --seed (\\d+) "))) << run.output;
  const Result<std::string> junit = read_file(folder.path + "/j.xml");
  ASSERT_TRUE(junit.ok());
  EXPECT_THAT(*junit, HasSubstr(std::string("<testcase name=\"") + kWeak + " relaxed random\" time="));
  EXPECT_THAT(*junit, HasSubstr("><failure message=\"seed " + seed[1].str() + ": exit code 1\">"));
  ASSERT_TRUE(std::regex_search(run.output, left, std::regex("canonical ones (\\d+) are left"))) << run.output;
  EXPECT_LE(std::stoi(left[1]), 10);
  const CommandResult by_seed = anygin("replay --seed " + seed[1].str() + " -- " + kWeak);
  EXPECT_EQ(by_seed.code, 1) << by_seed.output;
  const std::string file = folder.path + "/anygin-seed-" + seed[1].str() + ".choices";
  const CommandResult by_choices = anygin("replay --choices " + file + " -- " + kWeak);
  EXPECT_EQ(by_choices.code, 1) << by_choices.output;
  EXPECT_EQ(by_choices.output, anygin("replay --choices " + file + " -- " + kWeak).output);
  // The choices of one program do not fit another.
  const CommandResult other = anygin("replay --choices " + file + " -- " ANYGIN_EXAMPLES_DIR "/ring -r 3");
  EXPECT_EQ(other.code, 5) << other.output;
  EXPECT_THAT(other.output, HasSubstr("replay: choice "));
}

TEST(CheckCommand, signals_that_are_reset_and_device_communicators_that_come_and_go_are_clean) {
  const CommandResult run = anygin("check --seeds 20 --once -- " ANYGIN_SIMULATED_DIR "/reused_cells -r 2");
  EXPECT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("20 distinct, profile relaxed, strategy random: clean"));
}

TEST(CheckCommand, in_order_the_mistake_does_not_show) {
  const CommandResult run = anygin("check --seeds 20 --once --profile inorder -- " + std::string(kWeak));
  EXPECT_EQ(run.code, 0) << run.output;
}

TEST(CheckCommand, host_threads_are_part_of_the_seed) {
  const CommandResult run = anygin("check --seeds 5 --twice -- " ANYGIN_SIMULATED_DIR "/host_threads");
  EXPECT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(run.output, HasSubstr("5 runs, 5 distinct"));
  const std::string one = anygin("replay --seed 1 -- " ANYGIN_SIMULATED_DIR "/host_threads").output;
  EXPECT_EQ(one, anygin("replay --seed 1 -- " ANYGIN_SIMULATED_DIR "/host_threads").output);
  EXPECT_NE(one, anygin("replay --seed 2 -- " ANYGIN_SIMULATED_DIR "/host_threads").output);
}

TEST(CheckCommand, a_host_that_asks_over_and_over_lets_others_go_on) {
  const CommandResult asks =
      anygin("check --seeds 3 --timeout 10 -- " ANYGIN_SIMULATED_DIR "/host_polls the_host_polls");
  EXPECT_EQ(asks.code, 0) << asks.output;
  const CommandResult gives_up =
      anygin("check --seeds 1 --once --timeout 15 -- " ANYGIN_SIMULATED_DIR "/host_polls the_host_gives_up");
  EXPECT_EQ(gives_up.code, 0) << gives_up.output;
}

// What a hang of `program` says; it must be one.
std::string hang_of(const std::string& program) {
  const CommandResult run =
      anygin("check --seeds 1 --once --no-minimise --timeout 18 -- " ANYGIN_SIMULATED_DIR "/" + program);
  EXPECT_EQ(run.code, 4) << run.output;
  return run.output;
}

TEST(CheckCommand, polls_of_the_host_that_nobody_ends_are_a_hang) {
  EXPECT_THAT(hang_of("host_polls the_host_polls_for_ever"), HasSubstr("spins at host_polls.cu:"));
}

TEST(CheckCommand, so_are_polls_with_pauses) {
  EXPECT_THAT(hang_of("host_polls the_host_polls_with_pauses_for_ever"), HasSubstr("spins at host_polls.cu:"));
  EXPECT_THAT(hang_of("slow_kernels -r 2 poll"), HasSubstr("a spin (at slow_kernels.cu:"));
}

TEST(CheckCommand, a_program_that_reads_entropy_is_never_clean) {
  const CommandResult run = anygin("check --seeds 1 -- " ANYGIN_SIMULATED_DIR "/entropy");
  EXPECT_EQ(run.code, 5) << run.output;
  EXPECT_THAT(run.output, HasSubstr("NOT DETERMINISTIC"));
}

TEST(CheckCommand, a_hang_has_its_exit_code_and_who_waits) {
  const Folder folder;
  const CommandResult run = anygin("check --seeds 3 --out " + folder.path + " -- " ANYGIN_EXAMPLES_DIR "/hang -r 3");
  EXPECT_EQ(run.code, 4) << run.output;
  EXPECT_THAT(run.output, HasSubstr("waitSignal of rank 0, context 0 index 0: wants 3, is 2"));
}

TEST(CheckCommand, a_hang_tells_who_could_have_ended_it) {
  const CommandResult run =
      anygin("check --seeds 1 --once --no-minimise --out /tmp -- " ANYGIN_EXAMPLES_DIR "/hang -r 3");
  // g++ and clang write a namespace without a name differently.
  EXPECT_THAT(run.output,
              testing::ContainsRegex("who waits for whom:\nanygin:   rank 0 kernel ([{]anonymous[}]|[(]anonymous "
                                     "namespace[)])::gather_signals [(]launch [0-9][)] waits for a signal "
                                     "[(]context 0 index 0[)]"));
}

TEST(CheckCommand, kernels_in_crossed_orders_are_named) {
  const CommandResult run =
      anygin("check --seeds 3 --no-minimise --out /tmp -- " ANYGIN_SIMULATED_DIR "/crossed meet_in_another_order");
  EXPECT_EQ(run.code, 4) << run.output;
  EXPECT_TRUE(std::regex_search(
      run.output, std::regex("circle: rank 0 kernel .*first \\(launch \\d+\\) -> rank 1 kernel .*second \\(launch "
                             "\\d+\\) -> rank 0; crossed kernels: ranks launch kernels that wait for each other in "
                             "different orders")))
      << run.output;
  EXPECT_THAT(run.output, HasSubstr("which is queued behind kernel"));
}

TEST(CheckCommand, a_planned_error_ends_the_program_but_does_not_hang_it) {
  const CommandResult run =
      anygin("check --seeds 5 --faults error:remote-access@2 -- " ANYGIN_EXAMPLES_DIR "/ring -r 2");
  EXPECT_EQ(run.code, 0) << run.output;
  const CommandResult one = anygin("replay --faults error:remote-access@2 -- " ANYGIN_EXAMPLES_DIR "/ring -r 2");
  EXPECT_THAT(one.output, Not(HasSubstr("PASSED\nrank")));
  EXPECT_THAT(one.output, HasSubstr("the NIC reported an error"));
}

TEST(CheckCommand, a_lost_rank_is_told_to_the_others_and_nobody_hangs) {
  for (const char* death : {"death:1@120", "death:0@200", "death:1@280", "death:2@320", "death:0@360"}) {
    const std::string ring = std::string("--faults ") + death + " -- " ANYGIN_EXAMPLES_DIR "/ring -r 3";
    const CommandResult run = anygin("check --seeds 6 --once " + ring);
    EXPECT_EQ(run.code, 0) << death << ": " << run.output;
  }
  EXPECT_THAT(anygin("replay --faults death:1@120 -- " ANYGIN_EXAMPLES_DIR "/ring -r 3").output,
              HasSubstr("remote process exited"));
}

// Loops that only look at memory or the clock, and end: nothing else can move meanwhile.
TEST(CheckCommand, long_loops_over_memory_and_delays_are_no_hangs) {
  for (const std::string way : {"read", "clock"}) {
    const CommandResult run = anygin("check --seeds 2 --once -- " ANYGIN_SIMULATED_DIR "/slow_kernels -r 2 " + way);
    EXPECT_EQ(run.code, 0) << run.output;
  }
}

TEST(CheckCommand, what_it_started_ends_with_it) {
  const Folder folder;
  // The program waits for a writer that never comes.
  const CommandResult run = run_command(
      "mkfifo " + folder.path + "/never; " ANYGIN_TOOL " check --seeds 1 --timeout 60 -- /bin/cat " + folder.path +
          "/never & check=$!; for i in $(seq 100); do child=$(cat /proc/$check/task/*/children 2>/dev/null); "
          "[ -z \"$child\" ] || break; sleep 0.05; done; sleep 0.5; [ -d /proc/$child ] && echo started; kill -9 "
          "$check; "
          "for i in $(seq 100); do [ -d /proc/$child ] || break; sleep 0.05; done; [ -d /proc/$child ] || echo ended",
      18);
  EXPECT_EQ(run.output, "started\nended\n");
}

TEST(CheckCommand, faults_that_never_strike_are_told) {
  const std::string rest = " -- " ANYGIN_EXAMPLES_DIR "/ring -r 2";
  EXPECT_THAT(anygin("check --seeds 1 --once --faults death:7@5" + rest).output,
              HasSubstr("faults death:7@5: 0 struck in 1 runs; what they count is never reached"));
  EXPECT_THAT(anygin("check --seeds 1 --once --faults lost-ack@1" + rest).output,
              HasSubstr("faults lost-ack@1: 1 struck in 1 runs\n"));
}

TEST(CheckCommand, a_report_that_cannot_be_written_is_no_success) {
  const CommandResult run =
      anygin("check --seeds 1 --once --junit /nonexistent/j.xml -- " ANYGIN_EXAMPLES_DIR "/ring -r 2");
  EXPECT_EQ(run.code, 3) << run.output;
}

TEST(CheckCommand, wrong_options_are_named) {
  EXPECT_EQ(anygin("check --shard 3/3 -- true").code, 2);
  EXPECT_EQ(anygin("check").code, 2);
  const CommandResult late = anygin("check --timeout 0 -- true");
  EXPECT_EQ(late.code, 2) << late.output;
  EXPECT_THAT(late.output, HasSubstr("--timeout: Value 0 not in range 0.001000 to 1000000000.000000"));
  const CommandResult strategy = anygin("check --seeds 1 --strategy best -- " ANYGIN_EXAMPLES_DIR "/ring -r 2");
  EXPECT_EQ(strategy.code, 2) << strategy.output;
  EXPECT_THAT(strategy.output, HasSubstr("canonical, random, pct or pct:DEPTH"));
  const CommandResult faults = anygin("replay --faults late -- " ANYGIN_EXAMPLES_DIR "/ring -r 2");
  EXPECT_EQ(faults.code, 2) << faults.output;
  EXPECT_THAT(faults.output, HasSubstr("KIND one of lost-ack"));
}

}  // namespace
}  // namespace anygin
