// SPDX-License-Identifier: Apache-2.0
// ncclCommDestroy while kernels of the communicator waited freed what they looked at: SIGSEGV in 5 of 100 runs.
#include <gtest/gtest.h>

#include <string>

#include "compile/command_runner.h"

namespace anygin {
namespace {

TEST(DestroyEarly, kernels_come_to_their_end_first) {
  constexpr int kRounds = 100;
  const CommandResult run = run_command(ANYGIN_DESTROY_EARLY " " + std::to_string(kRounds), 18);
  EXPECT_EQ(run.code, 0) << run.output;
  EXPECT_EQ(run.output, "100 100\n");
}

}  // namespace
}  // namespace anygin
