// SPDX-License-Identifier: Apache-2.0
// P34 as a person sees it: the example that hangs on purpose is explained in one run, down to the line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "compile/command_runner.h"

namespace anygin {
namespace {

// "hang.cu:15": the first line with `text`.
std::string line_with(const std::string& text, const std::string& path) {
  const std::string file = path.substr(path.rfind('/') + 1);
  std::ifstream source(path);
  int number = 1;
  for (std::string line; std::getline(source, line); ++number) {
    if (line.find(text) != std::string::npos) return file + ":" + std::to_string(number);
  }
  return "no " + text + " in " + file;
}

// Where rank 0 waits.
std::string guilty_line() {
  return line_with("gin.waitSignal(", ANYGIN_EXAMPLES_SOURCE "/hang.cu");
}

TEST(HangReport, threads_are_told_who_waits_for_what_and_where) {
  const CommandResult run = run_command("env ANYGIN_HANG_TIMEOUT=1 " ANYGIN_EXAMPLES "/hang -r 4");
  EXPECT_EQ(run.code, 4);
  EXPECT_EQ(run.output.find("anygin: hang: "), run.output.rfind("anygin: hang: ")) << run.output;
  EXPECT_THAT(run.output,
              testing::HasSubstr("waitSignal of rank 0, context 0 index 0: wants 4, is 3; 1 more signalled by any "
                                 "rank would end it (at " +
                                 guilty_line() + ")"));
}

TEST(HangReport, processes_too) {
  const CommandResult run =
      run_command("env ANYGIN_HANG_TIMEOUT=1 " ANYGIN_TOOL " run -n 3 -- " ANYGIN_EXAMPLES "/hang");
  EXPECT_EQ(run.code, 4);
  EXPECT_THAT(run.output,
              testing::HasSubstr("waitSignal of rank 0, context 0 index 0: wants 3, is 2; 1 more signalled by any "
                                 "rank would end it (at " +
                                 guilty_line() + ")"));
}

CommandResult slow_kernels(const std::string& way) {
  return run_command("env ANYGIN_HANG_TIMEOUT=0.3 " ANYGIN_SLOW_KERNELS " -r 2 " + way);
}

// What may go on by itself is reported and not ended.
TEST(HangReport, a_kernel_that_computes_for_longer_than_the_timeout_goes_on) {
  const CommandResult run = slow_kernels("compute");
  EXPECT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(run.output, testing::HasSubstr("a kernel that computes or looks at the clock"));
}

TEST(HangReport, so_does_one_that_watches_the_clock) {
  const CommandResult run = slow_kernels("clock");
  EXPECT_EQ(run.code, 0) << run.output;
  EXPECT_THAT(run.output, testing::HasSubstr("a kernel that computes or looks at the clock"));
}

TEST(HangReport, a_kernel_that_polls_with_pauses_hangs) {
  const CommandResult run = slow_kernels("poll");
  EXPECT_EQ(run.code, 4) << run.output;
  EXPECT_THAT(run.output, testing::HasSubstr("anygin: hang: "));
  EXPECT_THAT(run.output, testing::HasSubstr(line_with("__nanosleep(1000)", ANYGIN_SLOW_KERNELS_SOURCE)));
}

TEST(HangReport, a_spin_on_memory_is_told_with_its_line) {
  const CommandResult run = slow_kernels("spin");
  EXPECT_EQ(run.code, 4) << run.output;
#if defined(ANYGIN_SANITIZED)  // the library's own frames stand between the lane and the place where it gave way
  EXPECT_THAT(run.output, testing::HasSubstr("spins at "));
#else
  EXPECT_THAT(run.output, testing::HasSubstr("spins at " + line_with("== 0) continue;", ANYGIN_SLOW_KERNELS_SOURCE)));
#endif
}

TEST(HangReport, a_barrier_is_told_with_its_index) {
  const CommandResult run = slow_kernels("barrier");
  EXPECT_EQ(run.code, 4) << run.output;
  EXPECT_THAT(run.output, testing::HasSubstr("GIN barrier of rank 1 for rank 0, context 0 index 1: wants 1, is 0 (at " +
                                             line_with("barrier.sync(", ANYGIN_SLOW_KERNELS_SOURCE) + ")"));
}

}  // namespace
}  // namespace anygin
