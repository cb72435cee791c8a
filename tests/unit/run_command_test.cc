// SPDX-License-Identifier: Apache-2.0
// `anygin run` owns its ranks: output, exit codes, endings, nothing left behind.
#include "run_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <sstream>
#include <thread>

#include "elf_needed.h"

namespace anygin::tools {
namespace {

RunRequest shell(int ranks, const std::string& script) {
  RunRequest request;
  request.ranks = ranks;
  request.timeout_s = 15;
  request.command = {"/bin/sh", "-c", script};
  return request;
}

std::vector<std::string> sorted_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  return lines;
}

TEST(Topology, even_and_odd_nodes) {
  EXPECT_EQ(topology_text(4, 2), "2x2");
  EXPECT_EQ(topology_text(8, 1), "1x8");
  EXPECT_EQ(topology_text(7, 3), "3,2,2");
}

TEST(RunJob, prefixes_every_line_with_its_rank_and_keeps_the_streams_apart) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_job(shell(3, "echo rank $RANK of $WORLD_SIZE; printf 'no newline' >&2")), 0);
  EXPECT_THAT(sorted_lines(testing::internal::GetCapturedStdout()),
              testing::ElementsAre("[0] rank 0 of 3", "[1] rank 1 of 3", "[2] rank 2 of 3"));
  EXPECT_THAT(sorted_lines(testing::internal::GetCapturedStderr()),
              testing::ElementsAre("[0] no newline", "[1] no newline", "[2] no newline"));
}

TEST(RunJob, leaves_lines_as_they_are_where_labels_are_not_wanted) {
  RunRequest request = shell(2, "[ $RANK = 1 ] || echo a table");
  request.labels = false;
  testing::internal::CaptureStdout();
  EXPECT_EQ(run_job(request), 0);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "a table\n");
}

TEST(RunJob, the_first_failing_rank_gives_the_exit_code_and_ends_the_others) {
  testing::internal::CaptureStderr();
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(run_job(shell(3, "if [ $RANK = 1 ]; then exit 7; fi; sleep 100")), 7);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(5));
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("rank 1: exit code 7"));
}

TEST(RunJob, what_the_others_say_within_a_second_of_a_failure_is_told) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_job(shell(2, "if [ $RANK = 1 ]; then exit 7; fi; sleep 1; echo rank 1 was lost; exit 5")), 7);
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "[0] rank 1 was lost\n");
  testing::internal::GetCapturedStderr();
}

TEST(RunJob, a_signal_shows_as_128_plus_its_number) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_job(shell(2, "if [ $RANK = 0 ]; then kill -9 $$; fi; sleep 100")), 128 + SIGKILL);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("rank 0: ended by signal 9"));
}

TEST(RunJob, a_rank_that_ignores_sigterm_is_killed) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_job(shell(2, "trap '' TERM; if [ $RANK = 1 ]; then exit 3; fi; while :; do sleep 1; done")), 3);
  testing::internal::GetCapturedStderr();
}

TEST(RunJob, leaves_no_grandchild_behind) {
  const std::string file = testing::TempDir() + "anygin_run_pid_" + std::to_string(getpid());
  ASSERT_EQ(run_job(shell(1, "sleep 100 & echo $! > " + file)), 0);
  pid_t grandchild = 0;
  std::ifstream(file) >> grandchild;
  ASSERT_GT(grandchild, 1);
  for (int i = 0; i < 100 && kill(grandchild, 0) == 0; ++i) {
    std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
    std::string pid, name, state;
    stat >> pid >> name >> state;
    if (state == "Z") break;  // killed, waits for its reaper
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  std::ifstream stat("/proc/" + std::to_string(grandchild) + "/stat");
  std::string pid, name, state;
  stat >> pid >> name >> state;
  EXPECT_TRUE(!stat || state == "Z") << "grandchild " << grandchild << " still runs, state " << state;
  std::remove(file.c_str());
}

TEST(RunJob, a_timeout_ends_the_run) {
  RunRequest request = shell(2, "sleep 100");
  request.timeout_s = 0.2;
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_job(request), 124);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("not done after 0.2 s"));
}

TEST(RunJob, a_program_that_does_not_exist_is_named) {
  RunRequest request;
  request.command = {"/nonexistent/program"};
  testing::internal::CaptureStderr();
  EXPECT_EQ(run_job(request), 127);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("/nonexistent/program"));
}

TEST(UsageHint, knows_the_option_of_mpirun) {
  EXPECT_EQ(usage_hint({"run", "-np", "2", "./prog"}),
            "anygin run: '-np' is mpirun's; here it is -n: anygin run -n 2 -- ./prog");
  EXPECT_EQ(usage_hint({"run", "-n", "2", "--", "./prog", "-np"}), "");
}

TEST(Refusal, reads_what_a_program_needs) {
  EXPECT_THAT(needed_libraries("/proc/self/exe"), testing::Contains(testing::HasSubstr("libc.so")));
  EXPECT_THAT(needed_libraries("/etc/passwd"), testing::IsEmpty());
  EXPECT_THAT(needed_libraries("/"), testing::IsEmpty());  // a folder: execve says what is wrong
  EXPECT_EQ(refusal("/proc/self/exe"), "");
}

}  // namespace
}  // namespace anygin::tools
