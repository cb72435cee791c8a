// SPDX-License-Identifier: Apache-2.0
// The asan preset: a program that the driver compiled with -Xcompiler -fsanitize=address says where one lane leaves
// its device memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/command_runner.h"

namespace anygin {
namespace {

using ::testing::HasSubstr;

CommandResult run_program(const std::string& name, const char* argument) {
  return run_command(std::string(ANYGIN_PROGRAMS) + "/" + name + "." ANYGIN_COMPILERS " " + argument);
}
CommandResult run_overflow(const char* argument) {
  return run_program("overflow", argument);
}

TEST(Sanitizer, device_memory_has_red_zones_on_both_sides) {
  for (const char* argument : {"1", "-1"}) {
    const CommandResult run = run_overflow(argument);
    EXPECT_NE(run.code, 0);
    EXPECT_THAT(run.output, HasSubstr("ERROR: AddressSanitizer: use-after-poison")) << argument;
    EXPECT_THAT(run.output, HasSubstr("WRITE of size 4")) << argument;
    EXPECT_THAT(run.output, HasSubstr("overflow.cu:12")) << argument;
  }
}

TEST(Sanitizer, the_same_kernel_in_bounds_is_quiet) {
  const CommandResult run = run_overflow("0");
  EXPECT_EQ(run.output, "");
  EXPECT_EQ(run.code, 0);
}

TEST(Sanitizer, shared_memory_has_red_zones_between_its_objects) {
  const struct {
    const char *argument, *line;
  } kCases[] = {
      {"static", "overflow_shared.cu:13"}, {"dynamic", "overflow_shared.cu:14"}, {"template", "overflow_shared.cu:20"}};
  for (const auto& [argument, line] : kCases) {
    const CommandResult run = run_program("overflow_shared", argument);
    EXPECT_NE(run.code, 0) << argument;
    EXPECT_THAT(run.output, HasSubstr("ERROR: AddressSanitizer: use-after-poison")) << argument;
    EXPECT_THAT(run.output, HasSubstr("WRITE of size 4")) << argument;
    EXPECT_THAT(run.output, HasSubstr(line)) << argument;
  }
}

TEST(Sanitizer, shared_memory_in_bounds_is_quiet) {
  const CommandResult run = run_program("overflow_shared", "none");
  EXPECT_EQ(run.output, "");
  EXPECT_EQ(run.code, 0);
}

}  // namespace
}  // namespace anygin
