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

TEST(CommandLine, it_says_which_version_it_is) {
  expect("--version", 0, "anygin " ANYGIN_VERSION);
}

// It built for minutes, and then GNU make failed on the corpus.
TEST(CommandLine, a_clone_with_a_blank_in_its_path_is_told_before_it_builds) {
  const CommandResult said = run_command("bash -c 'd=$(mktemp -d) && mkdir \"$d/a b\" && cp " ANYGIN_DEV
                                         " \"$d/a b\" && cd \"$d/a b\" && ./dev build; "
                                         "code=$?; rm -rf \"$d\"; exit $code'");
  EXPECT_EQ(said.code, 3) << said.output;
  EXPECT_THAT(said.output, HasSubstr("a b' has a blank in its name"));
}

}  // namespace
}  // namespace anygin
