// SPDX-License-Identifier: Apache-2.0
// The asan preset: a program that the driver compiled with -Xcompiler -fsanitize=address says where one lane leaves
// its device memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compile/command_runner.h"

namespace anygin {
namespace {

using ::testing::HasSubstr;

CommandResult run_overflow(const char* argument) {
  return run_command(std::string(ANYGIN_PROGRAMS) + "/overflow." ANYGIN_COMPILERS " " + argument);
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

}  // namespace
}  // namespace anygin
