// SPDX-License-Identifier: Apache-2.0
// Ranks that are set up in turns: what they gather, in which order they run, and how one that fails ends the others.
#include "anygin/sim/litmus/rank_meeting.h"

#include <gtest/gtest.h>

namespace anygin::litmus {
namespace {

TEST(RankMeeting, GathersInTurns) {
  RankMeeting meeting(3);
  std::string order;  // written by whose turn it is
  const Status status = meeting.run_on_all([&](Bootstrap& bootstrap) {
    for (int round = 0; round < 3; ++round) {
      order += std::to_string(bootstrap.rank());
      Result<std::vector<int>> all = all_gather_value(bootstrap, "numbers", 10 * round + bootstrap.rank());
      if (!all.ok()) return all.status();
      EXPECT_EQ(*all, (std::vector<int>{10 * round, 10 * round + 1, 10 * round + 2}));
    }
    return Status();
  });
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_EQ(order, "012012012");
}

TEST(RankMeeting, OneThatFailsEndsTheOthers) {
  for (Rank bad = 0; bad < 3; ++bad) {
    RankMeeting meeting(3);
    const Status status = meeting.run_on_all([&](Bootstrap& bootstrap) {
      if (bootstrap.rank() == bad) return Status(Cause::kSystemCall, "rank", "no memory");
      return all_gather_value(bootstrap, "numbers", 1).status();
    });
    EXPECT_EQ(status.detail(), "rank: no memory") << "rank " << bad;
  }
}

TEST(RankMeeting, OneThatLeavesAndCallsThatDiffer) {
  RankMeeting leaving(2);
  EXPECT_EQ(leaving
                .run_on_all([&](Bootstrap& bootstrap) {
                  return bootstrap.rank() == 1 ? Status() : all_gather_value(bootstrap, "numbers", 1).status();
                })
                .detail(),
            "numbers: a rank has ended and does not come");
  RankMeeting differing(2);
  EXPECT_EQ(differing
                .run_on_all([&](Bootstrap& bootstrap) {
                  return all_gather_value(bootstrap, bootstrap.rank() == 0 ? "names" : "numbers", 1).status();
                })
                .detail(),
            "numbers: rank 0 is in 'names'");
}

}  // namespace
}  // namespace anygin::litmus
