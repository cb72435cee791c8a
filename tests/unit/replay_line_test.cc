// SPDX-License-Identifier: Apache-2.0
// What `anygin check` prints to be typed again.
#include <gtest/gtest.h>

#include "check_command.h"

namespace anygin::tools {
namespace {

TEST(ReplayLine, names_seed_strategy_and_profile) {
  SimRunRequest run;
  run.command = {"./ring", "-r", "2"};
  run.seed = 17;
  EXPECT_EQ(replay_line(run, ""), "anygin replay --seed 17 --strategy random --profile relaxed -- ./ring -r 2");
  run.faults = "lost-ack@1";
  EXPECT_EQ(replay_line(run, "here.choices"),
            "anygin replay --choices here.choices --profile relaxed --faults lost-ack@1 -- ./ring -r 2");
}

TEST(ReplayLine, words_that_a_shell_would_take_apart_are_quoted) {
  SimRunRequest run;
  run.command = {"./my ring", "$HOME", "it's", "", "a*"};
  EXPECT_EQ(replay_line(run, "my out/1.choices"),
            "anygin replay --choices 'my out/1.choices' --profile relaxed -- './my ring' '$HOME' 'it'\\''s' '' 'a*'");
}

}  // namespace
}  // namespace anygin::tools
