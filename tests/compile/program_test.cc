// SPDX-License-Identifier: Apache-2.0
// Programs under programs/, compiled by the driver with each host compiler when the tests were built: what they print.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "anygin/base/platform.h"
#include "compile/command_runner.h"

namespace anygin {
namespace {

class Program : public ::testing::TestWithParam<const char*> {
 protected:
  // `name` as built with this case's compiler.
  std::string path(const std::string& name) const {
    return std::string(ANYGIN_PROGRAMS) + "/" + name + "." + GetParam();
  }
};

TEST_P(Program, hello) {
  const CommandResult run = run_command(path("hello"));
  EXPECT_EQ(run.output, "hello from thread 0 of block 0: 42\nhello from thread 0 of block 0: 43\n");
  EXPECT_EQ(run.code, 0);
}

TEST_P(Program, launches) {
  const CommandResult run = run_command(path("launches"));
  EXPECT_EQ(
      run.output,
      "anygin ERROR: kernel scale was called like a function: a launch needs <<<grid, block>>> between its name and "
      "its arguments; nothing was launched\n"
      "overload 1\nint overload 5\ndouble overload 25\ndefault 7\nconverted 3\nnull constants 1\ndeduced 108\n"
      "specialised 1000\npack 6\nvalues 7\nchosen 4\nbraces 3\nlambda 21\nshadowed name 18\ndimensions 34\n"
      "shifts 77\nevaluated once 1\nparentheses 11\nfunction pointer 12\ntable 13\nmember template 45\n"
      "on many lines 16\nnested 9\nlike a function: cudaErrorMissingConfiguration\nuntouched 3\nline 158\n");
  EXPECT_EQ(run.code, 0);
}

TEST_P(Program, shared_memory) {
  const CommandResult run = run_command(path("shared"));
  EXPECT_EQ(run.output, "7 0 1 2 3 4 5 6 15 8 9 10 11 12 13 14 \n6 406\n35 35\n");
  EXPECT_EQ(run.code, 0);
}

TEST_P(Program, lanes_that_spin_give_way) {
  const CommandResult run = run_command(path("spin"));
  EXPECT_EQ(run.output, "2080\n2080\n2080\n2080\n");
  EXPECT_EQ(run.code, 0);
}

// Values of lane 17.
TEST_P(Program, ptx_of_pipelines_and_warps) {
  const CommandResult run = run_command(path("ptx_async"));
  EXPECT_EQ(run.output,
            "no error 192\nno error 15\nno error 124 126 0\n"
            "no error 11 0 12 14 12 f 1 0 22222222 ffffffff 1f0 1c\n");
  EXPECT_EQ(run.code, 0);
}

TEST_P(Program, cuda_std) {
  const CommandResult run = run_command(path("std_names"));
  EXPECT_EQ(run.output, "60\n");
  EXPECT_EQ(run.code, 0);
}

TEST_P(Program, kernels_by_address) {
  const CommandResult run = run_command(path("by_address"));
  EXPECT_EQ(run.output,
            "short: 0 0\n-3\ndouble: 0 0\n42\ntemplate: 0 0\n805\ntemplate: 0 0\n106\nodd sizes: 0 0\n34\n");
  EXPECT_EQ(run.code, 0);
}

#if !defined(ANYGIN_SANITIZE_ADDRESS) && !defined(ANYGIN_SANITIZE_THREAD)  // they report overflows of their own way
TEST_P(Program, stacks_have_the_size_that_the_limit_says) {
  const CommandResult run = run_command(path("stack") + " 310");
  EXPECT_EQ(run.output, "set: cudaSuccess\nlimit: 524288\nsum: 4560\n");
  EXPECT_EQ(run.code, 0);
  const CommandResult refused = run_command(path("stack") + " 4097");
  EXPECT_THAT(refused.output, ::testing::HasSubstr("set: cudaErrorInvalidValue\nlimit: 65536\n"));
}

TEST_P(Program, a_stack_that_overflows_is_a_fault_that_names_the_thread) {
  const CommandResult run = run_command(path("stack") + " 0");
  EXPECT_THAT(run.output, ::testing::ContainsRegex(
                              "ERROR: kernel large_frame \\(grid 1\\): block \\(0,0,0\\) thread \\(0,0,0\\): its "
                              "stack of 64 KiB overflowed \\(SIGSEGV at 0x[0-9a-f]+, in the guard below a "
                              "stack\\); cudaDeviceSetLimit\\(cudaLimitStackSize, 131072\\)"));
  EXPECT_EQ(run.code, 128 + 11);
}
#endif

TEST_P(Program, device_variables_once_a_device) {
  const CommandResult run = run_command(path("device_variables"));
  EXPECT_EQ(run.output,
            "0: 7 6 12006 4 8 1 8 153 3 1216 30 1835 3020 2 26 24000\n"
            "1: 7 6 12006 4 8 1 8 153 3 1216 30 1835 3020 2 26 24060\n"
            "1: 15 7 22006 6 9 0 9 153 6 1319 31 1936 3021 4 26 25060\n"
            "2: 7 6 12006 4 8 1 8 153 3 1216 30 1835 3020 2 26 24040\n"
            "0: 15 7 22006 6 9 0 9 153 6 1319 31 1936 3021 4 26 25000\n"
            "7 7 0 2\n7 7 1 2\n1 16 0 1\n13 1 6\n"
            "1: 7 6 12006 4 8 1 8 153 3 1216 30 1835 3020 2 26 24000\n");
  EXPECT_EQ(run.code, 0);
}

TEST_P(Program, device_variables_wherever_they_stand) {
  const CommandResult run = run_command(path("device_variable_uses"));
  EXPECT_EQ(run.output, "0 no error: 1446 22 4\n1 no error: 1446 22 4\n");
  EXPECT_EQ(run.code, 0);
}

TEST_P(Program, a_device_variable_that_cannot_be_copied_is_named) {
  const CommandResult run = run_command(path("device_variable_class"));
  EXPECT_THAT(run.output,
              ::testing::ContainsRegex("1 cudaSuccess 4\n.*launch refused .cudaError 801.: the __device__ variable "
                                       "library::logger \\(.*device_variable_class.cu:12\\) is of a class with a "
                                       "destructor, so device 0 cannot have a copy of its own \\(device 1 uses it\\): "
                                       "make its class trivially destructible, or run one process a device\n"
                                       "0 cudaErrorNotSupported 0\n1 cudaSuccess 5\n$"));
  EXPECT_EQ(run.code, 0);
}

TEST_P(Program, inline_ptx) {
  const CommandResult run = run_command(path("ptx"));
  EXPECT_EQ(run.output, "no error\n100 3971 1026\n");
  EXPECT_EQ(run.code, 0);
}

TEST_P(Program, image_runs_as_a_program) {
  const CommandResult run = run_command("env IMAGE_TEST=yes " + path("image") + " 7 'two words'");
  EXPECT_EQ(run.output, "3 [7] [two words] yes 1 100 101\n111114\ndestroyed\n");
  EXPECT_EQ(run.code, 7);
}

TEST_P(Program, image_is_placed_at_random) {
  std::ifstream setting("/proc/sys/kernel/randomize_va_space");
  int random = 0;
  setting >> random;
  if (random == 0) GTEST_SKIP() << "this machine places nothing at random";
  const std::string first = run_command(path("image") + " @").output;
  EXPECT_EQ(first.substr(0, 2), "0x");
  bool moved = false;
  for (int i = 0; i < 4; ++i) moved |= run_command(path("image") + " @").output != first;
  EXPECT_TRUE(moved);
}

INSTANTIATE_TEST_SUITE_P(compilers, Program, ::testing::Values(ANYGIN_COMPILERS),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace anygin
