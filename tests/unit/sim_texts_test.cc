// SPDX-License-Identifier: Apache-2.0
// Files and settings of simulated runs: what is written is read back, and what is wrong is named.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "anygin/sim/choice_trace.h"
#include "anygin/sim/run_result.h"
#include "anygin/sim/sim_settings.h"

namespace anygin::sim {
namespace {

using ::testing::HasSubstr;

TEST(SimTexts, AChoiceTraceIsReadBack) {
  ChoiceTrace trace;
  trace.about = "seed 7 profile relaxed";
  for (int kind = 0; kind < static_cast<int>(ChoiceKind::kKinds); ++kind) {
    trace.choices.push_back({static_cast<ChoiceKind>(kind), kind % 2 == 0, kind % 3 == 0, uint64_t{0} - 1});
  }
  trace.choices.push_back({ChoiceKind::kDelay, true, true, 0});
  Result<ChoiceTrace> read = from_text(to_text(trace));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->about, trace.about);
  EXPECT_EQ(read->choices, trace.choices);
}

TEST(SimTexts, ABrokenChoiceTraceIsRefusedByLine) {
  EXPECT_THAT(from_text("something else\n").status().message(), HasSubstr("first line"));
  for (const char* wrong : {"granules", "granules = ", "granules = xyz", "grain = 1", "*", "granules = 1 2"}) {
    const Result<ChoiceTrace> read = from_text("anygin choices 1\nabout\ndelay # 3\n" + std::string(wrong) + "\n");
    ASSERT_FALSE(read.ok()) << wrong;
    EXPECT_THAT(read.status().message(), HasSubstr("line 4"));
  }
}

TEST(SimTexts, ARunResultIsReadBack) {
  RunResult result;
  result.digest = ~uint64_t{0};
  result.steps = 12;
  result.time = 99;
  result.add(RunVerdict::kHang, 10, "waits\nfor ever = yes");
  result.add(RunVerdict::kFinding, 11, "second");
  Result<RunResult> read = parse_run_result(to_text(result));
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(read->verdict, RunVerdict::kHang);  // the worst
  EXPECT_EQ(read->digest, ~uint64_t{0});
  EXPECT_EQ(read->steps, 12u);
  EXPECT_EQ(read->time, 99u);
  EXPECT_EQ(read->findings, (std::vector<Finding>{{10, "waits for ever = yes"}, {11, "second"}}));
  EXPECT_FALSE(parse_run_result("").ok());
  EXPECT_FALSE(parse_run_result("anygin run result 1\nverdict=odd\n").ok());
}

TEST(SimTexts, SettingsAreReadAndWrongOnesNamed) {
  Result<SimSettings> settings =
      parse_sim_settings("strategy=pct:2,steps=500,replay=/a/b,mode=tolerant,choices=c,result=r,parent=7");
  ASSERT_TRUE(settings.ok()) << settings.status().message();
  EXPECT_EQ(describe(settings->strategy), "pct:2");
  EXPECT_EQ(settings->strategy.expected_steps, 500u);
  EXPECT_EQ(settings->replay_file, "/a/b");
  EXPECT_EQ(settings->replay_mode, ReplayMode::kTolerant);
  EXPECT_EQ(settings->choices_file, "c");
  EXPECT_EQ(settings->result_file, "r");
  EXPECT_EQ(settings->parent, 7);
  for (const char* wrong : {"strategy=best", "steps=0", "steps=x", "parent=0", "mode=lax", "color=red", "strategy"}) {
    EXPECT_FALSE(parse_sim_settings(wrong).ok()) << wrong;
  }
}

}  // namespace
}  // namespace anygin::sim
