// SPDX-License-Identifier: Apache-2.0
// Processes that wait for a rank say so: in a collective call, at the meeting place; and NCCL_DEBUG=INFO introduces
// them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "compile/command_runner.h"

namespace anygin {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(RanksApart, who_waits_in_which_call_for_whom) {
  const CommandResult late =
      run_command("env ANYGIN_HANG_TIMEOUT=1 " ANYGIN_TOOL " run -n 3 -- " ANYGIN_RANKS_APART " late");
  EXPECT_EQ(late.code, 0) << late.output;  // a warning: the thread outside may still come, and did
  EXPECT_THAT(late.output, HasSubstr("[0] anygin: nothing moved for 1 s"));
  EXPECT_THAT(late.output, ContainsRegex("rank 0 waits in \"[^\"]+\" .collective call [0-9]+. for rank 2"));
  EXPECT_THAT(late.output, ContainsRegex("rank 1 waits in \"[^\"]+\" .collective call [0-9]+. for rank 2"));
  EXPECT_THAT(late.output, ContainsRegex("some of process [0-9]+ .rank 2."));
  const CommandResult together =
      run_command("env ANYGIN_HANG_TIMEOUT=1 " ANYGIN_TOOL " run -n 3 -- " ANYGIN_RANKS_APART);
  EXPECT_EQ(together.code, 0) << together.output;
  EXPECT_THAT(together.output, Not(HasSubstr("nothing moved")));
}

// The tests of this file run at the same time, as processes with neighbouring numbers: each has ports of its own, which
// no other test uses, below those that the system hands out.
TEST(RanksApart, a_rank_without_rank_0_says_what_it_waits_for) {
  const std::string place = "127.0.0.1:" + std::to_string(10000 + getpid() % 2500);
  const CommandResult alone = run_command("env RANK=1 WORLD_SIZE=2 NCCL_COMM_ID=" + place +
                                              " ANYGIN_COMM_TOKEN=" + std::string(64, 'a') + " " ANYGIN_RANKS_APART,
                                          5);
  EXPECT_EQ(alone.code, 124) << alone.output;  // ended by us
  EXPECT_THAT(alone.output, HasSubstr("joining: still waiting: rank 1 of 2 at " + place + " (NCCL_COMM_ID): "));
  EXPECT_THAT(alone.output, HasSubstr("its ANYGIN_COMM_TOKEN may be another"));
}

TEST(RanksApart, a_wrong_token_is_named_on_both_sides) {
  const std::string place = "127.0.0.1:" + std::to_string(12500 + getpid() % 2500);
  const std::string common = "WORLD_SIZE=2 NCCL_COMM_ID=" + place + " ANYGIN_COMM_TOKEN=";
  const CommandResult both =
      run_command("bash -c 'RANK=0 " + common + std::string(64, 'a') + " timeout 5 " ANYGIN_RANKS_APART " & RANK=1 " +
                  common + std::string(64, 'b') + " timeout 5 " ANYGIN_RANKS_APART "; wait'");
  EXPECT_THAT(both.output, HasSubstr("wrong token: the other end refused ours"));
  EXPECT_THAT(both.output, HasSubstr("1 of 2 ranks joined; missing: 1; 1 connections had a wrong token"));
}

TEST(RanksApart, NCCL_DEBUG_INFO_introduces_the_communicator) {
  const CommandResult info = run_command("env NCCL_DEBUG=INFO ANYGIN_PROFILE=relaxed " ANYGIN_TOOL
                                         " run -n 4 --nodes 2 -- " ANYGIN_RANKS_APART);
  EXPECT_EQ(info.code, 0) << info.output;
  EXPECT_THAT(info.output,
              ContainsRegex("AnyGIN [0-9.]+, API of NCCL 2.[0-9.]+; communicator .*: 4 ranks, .*2 LSA teams of 2"));
  EXPECT_THAT(info.output, HasSubstr("GIN by the proxy backend, NIC emu, fabric direct, profile relaxed, seed 1"));
  for (const char* rank : {"rank 0 is process", "rank 1 is process", "rank 2 is process", "rank 3 is process"}) {
    EXPECT_THAT(info.output, HasSubstr(rank));
  }
  const CommandResult few = run_command("env ANYGIN_DEVICES=2 " ANYGIN_TOOL " run -n 3 -- " ANYGIN_RANKS_APART);
  EXPECT_THAT(few.output, HasSubstr("3 ranks on 2 devices: some share one"));
  EXPECT_THAT(few.output, Not(HasSubstr("INFO")));
}

}  // namespace
}  // namespace anygin
