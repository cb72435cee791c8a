// SPDX-License-Identifier: Apache-2.0
// P34 as a person sees it: the example that hangs on purpose is explained in one run, down to the line.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <fstream>
#include <string>

namespace anygin {
namespace {

struct Output {
  std::string text;  // stdout and stderr
  int exit_code = -1;
};

Output run(const std::string& command) {
  Output output;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  while (pipe && std::fgets(buffer, sizeof(buffer), pipe)) output.text += buffer;
  const int status = pipe ? pclose(pipe) : -1;
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

// "hang.cu:15": where rank 0 waits.
std::string guilty_line() {
  std::ifstream source(ANYGIN_EXAMPLES_SOURCE "/hang.cu");
  int number = 1;
  for (std::string line; std::getline(source, line); ++number) {
    if (line.find("gin.waitSignal(") != std::string::npos) return "hang.cu:" + std::to_string(number);
  }
  return "no gin.waitSignal( in hang.cu";
}

TEST(HangReport, threads_are_told_who_waits_for_what_and_where) {
  const Output output = run("ANYGIN_HANG_TIMEOUT=1 timeout 15 " ANYGIN_EXAMPLES "/hang -r 4");
  EXPECT_EQ(output.exit_code, 4);
  EXPECT_EQ(output.text.find("anygin: hang: "), output.text.rfind("anygin: hang: ")) << output.text;
  EXPECT_THAT(output.text,
              testing::HasSubstr("waitSignal of rank 0, context 0 index 0: wants 4, is 3; 1 more signalled by any "
                                 "rank would end it (at " +
                                 guilty_line() + ")"));
}

TEST(HangReport, processes_too) {
  const Output output = run("ANYGIN_HANG_TIMEOUT=1 timeout 15 " ANYGIN_TOOL " run -n 3 -- " ANYGIN_EXAMPLES "/hang");
  EXPECT_EQ(output.exit_code, 4);
  EXPECT_THAT(output.text,
              testing::HasSubstr("waitSignal of rank 0, context 0 index 0: wants 3, is 2; 1 more signalled by any "
                                 "rank would end it (at " +
                                 guilty_line() + ")"));
}

}  // namespace
}  // namespace anygin
