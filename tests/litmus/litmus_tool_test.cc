// SPDX-License-Identifier: Apache-2.0
// `anygin litmus` as its users meet it: what it prints, and its exit codes.
#include <gmock/gmock.h>

#include <fstream>

#include "compile/command_runner.h"
#include "litmus/litmus_files.h"

namespace anygin::litmus {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

CommandResult tool(const std::string& arguments) {
  return run_command(ANYGIN_TOOL " litmus " + arguments);
}

std::string file(const std::string& name) {
  return std::string(ANYGIN_LITMUS_DIR) + "/" + name + ".litmus";
}

// A file of our own, with the outcomes given.
class LitmusTool : public ::testing::Test {
 protected:
  std::string wrote(const std::string& rest) {
    const auto* info = ::testing::UnitTest::GetInstance()->current_test_info();
    const std::string path = ::testing::TempDir() + "anygin_" + info->name() + ".litmus";
    std::ofstream(path) << "litmus mine\nranks 2\nmemory 0: x[1] = 1\nmemory 1: d[1]\nthread 0\nput 1:d <- x\n" << rest;
    return path;
  }
};

TEST_F(LitmusTool, AgreesWithAFileOfOurs) {
  const CommandResult told = tool(file("F1_weak_signal_says_nothing_of_earlier_puts") + " --profile relaxed");
  EXPECT_EQ(told.code, 0);
  EXPECT_EQ(told.output,
            "agrees  F1_weak_signal_says_nothing_of_earlier_puts      relaxed  4 outcomes, 62 states  (race)\n");
}

TEST_F(LitmusTool, TellsTheWayToAnOutcome) {
  const CommandResult told = tool(file("F2_put_overtakes_put") + " --profile cx7 --why 'e0=2 d0=0'");
  EXPECT_EQ(told.code, 0);
  EXPECT_THAT(told.output, HasSubstr("        NIC 0 to 1 on c0: put 1 shows 1:e[0]\n"
                                     "        thread 1 of rank 1: load e[0] -> e0\n"));
  EXPECT_EQ(tool(file("F2_put_overtakes_put") + " --why e1=2").code, 2);
}

TEST_F(LitmusTool, ADifferenceIsAFinding) {
  const std::string mine = wrote("thread 1\nload d[0] -> r\nforbidden all: r=0\n");
  const CommandResult told = tool(mine + " --profile inorder");
  EXPECT_EQ(told.code, 1);
  EXPECT_THAT(told.output, StartsWith("DIFFERS mine"));
  EXPECT_THAT(told.output, HasSubstr(mine + ":9: inorder: forbidden, but possible: r=0\n"));
  EXPECT_EQ(tool(mine + " --profile inorder --form stack --runs 200").code, 1);
  EXPECT_EQ(tool(mine + " --profile inorder --runs 200").code, 1);
}

TEST_F(LitmusTool, AHangIsOneInEveryForm) {
  const std::string mine = wrote("thread 1\nwait s0 >= 1\nexactly all: finishes\n");
  for (const char* form : {"", " --runs 5", " --form stack --runs 5"}) {
    const CommandResult told = tool(mine + " --profile relaxed" + form);
    EXPECT_EQ(told.code, 4) << form;
    EXPECT_THAT(told.output, HasSubstr("thread 1 of rank 1 waits in 'wait s0 >= 1'")) << form;
  }
}

TEST_F(LitmusTool, ABadFileIsNamedByLine) {
  const std::string mine = wrote("flush on c1\nexactly all: finishes\n");
  const CommandResult told = tool(mine);
  EXPECT_EQ(told.code, 2);
  EXPECT_EQ(told.output, "anygin litmus: " + mine + ":7: c1: c0 to c0 exist\n");
}

// The second line is the outcome of the one run.
TEST_F(LitmusTool, ASeedRepeats) {
  const std::string command = file("F2_granules_in_any_order") + " --profile relaxed --runs 1 --seed ";
  const auto outcome_of = [&](const char* form, int seed) {
    const CommandResult told = tool(command + std::to_string(seed) + form);
    EXPECT_EQ(told.code, 0) << told.output;
    return told.output.substr(told.output.find('\n') + 1);
  };
  for (const char* form : {" --form stack", " --form tabular"}) {
    std::set<std::string> outcomes;
    for (int seed = 1; seed <= 30; ++seed) {
      const std::string outcome = outcome_of(form, seed);
      EXPECT_THAT(outcome, HasSubstr("d0="));
      EXPECT_EQ(outcome_of(form, seed), outcome) << form << " seed " << seed;
      outcomes.insert(outcome);
    }
    EXPECT_GT(outcomes.size(), 1u) << form << ": seeds differ";
  }
}

}  // namespace
}  // namespace anygin::litmus
