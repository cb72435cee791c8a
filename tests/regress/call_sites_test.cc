// SPDX-License-Identifier: Apache-2.0
// Optimized calls of the device API keep places of their own: a report names the line of the call that was wrong.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>

#include "compile/command_runner.h"

namespace anygin {
namespace {

int line_of(const std::string& mark) {
  std::ifstream source(ANYGIN_CALL_SITES_SOURCE);
  int number = 1;
  for (std::string line; std::getline(source, line); ++number) {
    if (line.find(mark) != std::string::npos) return number;
  }
  return -1;
}

class CallSites : public testing::TestWithParam<int> {};

testing::Matcher<const std::string&> says_line_of_case(const std::string& which) {
  return testing::HasSubstr("[at call_sites.cu:" + std::to_string(line_of("line of case " + which)) + "]");
}

TEST_P(CallSites, a_report_names_the_line_of_its_call) {
  const std::string which = std::to_string(GetParam());
  const std::string text = run_command(ANYGIN_CALL_SITES_PROGRAM " " + which).output;
  EXPECT_THAT(text, says_line_of_case(which));
  EXPECT_EQ(text.find("anygin: misuse: "), text.rfind("anygin: misuse: ")) << "reported once:\n" << text;
}

// Programs that start themselves again do it like this; the name means another file to whoever looks the line up.
TEST(CallSites, a_program_started_as_proc_self_exe_names_its_lines_too) {
  EXPECT_THAT(run_command(ANYGIN_CALL_SITES_PROGRAM " self 0").output, says_line_of_case("0"));
}

// Who clones into a folder "anygin" is told lines as well.
TEST(CallSites, a_program_in_folders_named_like_ours_names_its_lines_too) {
  EXPECT_THAT(run_command(ANYGIN_CALL_SITES_PROGRAM "_nested 0").output, says_line_of_case("0"));
}

INSTANTIATE_TEST_SUITE_P(calls, CallSites, testing::Values(0, 1, 2));

}  // namespace
}  // namespace anygin
