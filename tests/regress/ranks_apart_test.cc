// SPDX-License-Identifier: Apache-2.0
// Processes that wait for a rank say so: in a collective call, at the meeting place; and NCCL_DEBUG=INFO introduces
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <string>

namespace anygin {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

struct Output {
  std::string text;  // stdout and stderr
  int exit_code = -1;
};

Output run(const std::string& command) {
  Output output;
  FILE* const pipe = popen((command + " 2>&1").c_str(), "r");
  char buffer[4096];
  while (pipe && std::fgets(buffer, sizeof(buffer), pipe)) output.text += buffer;
  const int status = pipe ? pclose(pipe) : -1;
  output.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return output;
}

TEST(RanksApart, who_waits_in_which_call_for_whom) {
  const Output late = run("ANYGIN_HANG_TIMEOUT=1 timeout 15 " ANYGIN_TOOL " run -n 3 -- " ANYGIN_RANKS_APART " late");
  EXPECT_EQ(late.exit_code, 0) << late.text;  // a warning: the thread outside may still come, and did
  EXPECT_THAT(late.text, HasSubstr("[0] anygin: nothing moved for 1 s"));
  EXPECT_THAT(late.text, ContainsRegex("rank 0 waits in \"[^\"]+\" .collective call [0-9]+. for rank 2"));
  EXPECT_THAT(late.text, ContainsRegex("rank 1 waits in \"[^\"]+\" .collective call [0-9]+. for rank 2"));
  EXPECT_THAT(late.text, ContainsRegex("some of process [0-9]+ .rank 2."));
  const Output together = run("ANYGIN_HANG_TIMEOUT=1 timeout 15 " ANYGIN_TOOL " run -n 3 -- " ANYGIN_RANKS_APART);
  EXPECT_EQ(together.exit_code, 0) << together.text;
  EXPECT_THAT(together.text, Not(HasSubstr("nothing moved")));
}

// The tests of this file run at the same time, as processes with neighbouring numbers: each has ports of its own, which
// no other test uses, below those that the system hands out.
TEST(RanksApart, a_rank_without_rank_0_says_what_it_waits_for) {
  const std::string place = "127.0.0.1:" + std::to_string(10000 + getpid() % 2500);
  const Output alone = run("RANK=1 WORLD_SIZE=2 NCCL_COMM_ID=" + place + " ANYGIN_COMM_TOKEN=" + std::string(64, 'a') +
                           " timeout 5 " ANYGIN_RANKS_APART);
  EXPECT_EQ(alone.exit_code, 124) << alone.text;  // ended by us
  EXPECT_THAT(alone.text, HasSubstr("joining: still waiting: rank 1 of 2 at " + place + " (NCCL_COMM_ID): "));
  EXPECT_THAT(alone.text, HasSubstr("its ANYGIN_COMM_TOKEN may be another"));
}

TEST(RanksApart, a_wrong_token_is_named_on_both_sides) {
  const std::string place = "127.0.0.1:" + std::to_string(12500 + getpid() % 2500);
  const std::string common = "WORLD_SIZE=2 NCCL_COMM_ID=" + place + " ANYGIN_COMM_TOKEN=";
  const Output both = run("(RANK=0 " + common + std::string(64, 'a') + " timeout 5 " ANYGIN_RANKS_APART " & RANK=1 " +
                          common + std::string(64, 'b') + " timeout 5 " ANYGIN_RANKS_APART "; wait)");
  EXPECT_THAT(both.text, HasSubstr("wrong token: the other end refused ours"));
  EXPECT_THAT(both.text, HasSubstr("1 of 2 ranks joined; missing: 1; 1 connections had a wrong token"));
}

TEST(RanksApart, NCCL_DEBUG_INFO_introduces_the_communicator) {
  const Output info = run("NCCL_DEBUG=INFO ANYGIN_PROFILE=relaxed timeout 15 " ANYGIN_TOOL
                          " run -n 4 --nodes 2 -- " ANYGIN_RANKS_APART);
  EXPECT_EQ(info.exit_code, 0) << info.text;
  EXPECT_THAT(info.text,
              ContainsRegex("AnyGIN [0-9.]+, API of NCCL 2.[0-9.]+; communicator .*: 4 ranks, .*2 LSA teams of 2"));
  EXPECT_THAT(info.text, HasSubstr("GIN by the proxy backend, NIC emu, fabric direct, profile relaxed, seed 1"));
  for (const char* rank : {"rank 0 is process", "rank 1 is process", "rank 2 is process", "rank 3 is process"}) {
    EXPECT_THAT(info.text, HasSubstr(rank));
  }
  const Output few = run("ANYGIN_DEVICES=2 timeout 15 " ANYGIN_TOOL " run -n 3 -- " ANYGIN_RANKS_APART);
  EXPECT_THAT(few.text, HasSubstr("3 ranks on 2 devices: some share one"));
  EXPECT_THAT(few.text, Not(HasSubstr("INFO")));
}

}  // namespace
}  // namespace anygin
