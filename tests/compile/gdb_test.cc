// SPDX-License-Identifier: Apache-2.0
// gdb in a program of the driver's: it stops in one lane, lists the lanes with tools/gdb/anygin.gdb, and goes to
// another.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "compile/command_runner.h"

namespace anygin {
namespace {

using ::testing::ContainsRegex;
using ::testing::HasSubstr;

constexpr const char* kProgram =
    "__device__ int go;\n"
    "__global__ void wave(int* values, int n) {\n"
    "  const int mine = static_cast<int>(threadIdx.x) * 10 + static_cast<int>(blockIdx.x);\n"
    "  if (threadIdx.x == 3) {\n"
    "    while (*static_cast<volatile int*>(&go) == 0) {\n"
    "    }\n"
    "  }\n"
    "  if (threadIdx.x == 40) values[0] = mine + n;\n"  // line 8
    "  __syncthreads();\n"
    "}\n"
    "int main() {\n"
    "  int* values;\n"
    "  cudaMallocManaged(&values, 4096);\n"
    "  wave<<<2, 64>>>(values, 5);\n"
    "  return cudaDeviceSynchronize();\n"
    "}\n";

class Gdb : public ::testing::Test {
 protected:
  void SetUp() override {
    if (run_command("gdb -nx -batch -ex run --args true").output.find("exited normally") == std::string::npos) {
      GTEST_SKIP() << "no gdb that may run programs here; ./dev installs it";
    }
    folder_ = std::filesystem::path(::testing::TempDir()) / ("gdb_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
    std::ofstream(folder_ / "wave.cu") << kProgram;
    const CommandResult built =
        run_command("sh -c 'cd " + folder_.string() + " && " ANYGIN_BIN "/nvcc -g -G -o wave wave.cu'");
    ASSERT_EQ(built.output, "");
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Stops at main, then runs the commands.
  std::string debug(std::initializer_list<const char*> commands) const {
    std::string line = "env ANYGIN_HANG_TIMEOUT=0 ANYGIN_WORKERS=1 gdb -nx -batch -ex 'set confirm off' -x " ANYGIN_BIN
                       "/../share/anygin.gdb -ex 'break main' -ex run";
    for (const char* command : commands) line += std::string(" -ex '") + command + "'";
    return run_command(line + " -ex kill " + (folder_ / "wave").string()).output;
  }

  std::filesystem::path folder_;
};

TEST_F(Gdb, a_condition_chooses_the_lane) {
  const std::string said = debug({"break wave.cu:8 if threadIdx.x == 40 && blockIdx.x == 0", "continue",
                                  "print threadIdx", "print blockDim", "print mine", "print gridDim.x", "backtrace 1"});
  EXPECT_THAT(said, HasSubstr("$1 = {x = 40, y = 0, z = 0}"));
  EXPECT_THAT(said, HasSubstr("$2 = {x = 64, y = 1, z = 1}"));
  EXPECT_THAT(said, HasSubstr("$3 = 400"));
  EXPECT_THAT(said, HasSubstr("$4 = 2"));
  EXPECT_THAT(said, ContainsRegex("#0 +wave \\(values=.*, n=5\\) at .*wave.cu:8"));
}

TEST_F(Gdb, lists_lanes_and_goes_to_one) {
  const std::string said =
      debug({"break wave.cu:8 if threadIdx.x == 40 && blockIdx.x == 0", "continue", "info lanes block (0,0,0)",
             "lane 6", "print mine", "print threadIdx", "lane 4 print mine", "lane", "print mine"});
  EXPECT_THAT(said, HasSubstr("   0  device 0 grid 1 wave block (0,0,0) thread (40,0,0): runs\n"));
  EXPECT_THAT(said, ContainsRegex("   2  .*thread \\(1,0,0\\): __syncthreads: 39 of 64 came.* at wave.cu:9\n"));
  EXPECT_THAT(said, ContainsRegex("   4  .*thread \\(3,0,0\\): can run at wave.cu:5\n"));
  EXPECT_THAT(said, HasSubstr("\n41 of 41 lanes\n"));
  EXPECT_THAT(said, ContainsRegex("lane 6: __syncthreads: 39 of 64 came.*\n.*wave.cu:9"));
  EXPECT_THAT(said, HasSubstr("$1 = 50\n$2 = {x = 5, y = 0, z = 0}\n$3 = 30\n$4 = 400\n"));
}

TEST_F(Gdb, the_program_goes_on_as_if_nobody_had_looked) {
  const std::string said = debug({"break wave.cu:8 if threadIdx.x == 40 && blockIdx.x == 0", "continue", "lane 9",
                                  "set var go = 1", "delete", "continue"});
  EXPECT_THAT(said, HasSubstr("exited normally"));
}

TEST_F(Gdb, says_which_lanes_there_are) {
  EXPECT_THAT(debug({"break wave.cu:8 if threadIdx.x == 40", "continue", "lane 4711"}),
              HasSubstr("lane 4711: lanes are 0 to "));
}

}  // namespace
}  // namespace anygin
