// SPDX-License-Identifier: Apache-2.0
// What a newcomer types first and wrong: each is named, with what would be right.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "compile/command_runner.h"

namespace anygin {
namespace {

using testing::HasSubstr;

void expect(const std::string& arguments, int code, const std::string& words) {
  const CommandResult said = run_command(ANYGIN_TOOL " " + arguments);
  EXPECT_EQ(said.code, code) << arguments << "\n" << said.output;
  EXPECT_THAT(said.output, HasSubstr(words)) << arguments;
}

// It said only that a subcommand is required.
TEST(CommandLine, a_command_that_is_not_there_is_named) {
  expect("benchmark --csv x", 2, "anygin: there is no command 'benchmark'; anygin --help lists them");
}

// Reading it ended the tool with an exception of the library.
TEST(CommandLine, a_folder_is_no_program) {
  expect("run -n 1 -- /", 127, "cannot execute '/': Permission denied");
}

// It wrote JSON into it.
TEST(CommandLine, a_trace_is_a_still_picture_or_json) {
  expect("trace --out /nonexistent/x.png -- /bin/true", 2, "a name that ends in .json or .svg would be right");
}

}  // namespace
}  // namespace anygin
