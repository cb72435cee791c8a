// SPDX-License-Identifier: Apache-2.0
// Nodes and LSA teams: the gcd rule of contract 2.8.1.
#include "anygin/comm/layout.h"

#include <gtest/gtest.h>

namespace anygin::comm {
namespace {

// A root communicator's: nobody has a seat yet.
std::vector<Seat> ranks_of(int size) {
  return std::vector<Seat>(static_cast<size_t>(size), kAnySeat);
}

struct Row {
  int size;
  std::vector<int> nodes;
  int divisor;
  int lsa_size;
};

TEST(Layout, LsaSizeIsTheGreatestCommonDivisor) {
  const Row rows[] = {
      {1, {}, 0, 1},     {8, {}, 0, 8},      {4, {2, 2}, 0, 2},     {8, {4, 4}, 0, 4},
      {8, {3, 5}, 0, 1}, {10, {4, 6}, 0, 2}, {8, {4, 4}, 2, 2},     {8, {4, 4}, 3, 1},
      {8, {}, 2, 2},     {6, {}, 4, 2},      {16, {8, 4, 4}, 0, 4}, {16, {8, 4, 4}, 8, 4},
  };
  for (const Row& row : rows) {
    Result<Layout> layout = plan_layout(ranks_of(row.size), Topology{row.nodes, false}, row.divisor);
    ASSERT_TRUE(layout.ok()) << layout.status().message();
    EXPECT_EQ(layout->lsa_size, row.lsa_size) << row.size << " ranks, divisor " << row.divisor;
    EXPECT_EQ(layout->size, row.size);
    EXPECT_EQ(layout->lsa_teams() * layout->lsa_size, row.size);
    EXPECT_TRUE(layout->rails_connected);
  }
}

TEST(Layout, RanksFillNodesInOrder) {
  Result<Layout> layout = plan_layout(ranks_of(8), Topology{{2, 4, 2}, true}, 0);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->node_of_rank, (std::vector<int>{0, 0, 1, 1, 1, 1, 2, 2}));
  EXPECT_FALSE(layout->rails_connected);
  EXPECT_EQ(layout->lsa_team(5), 2);
  EXPECT_EQ(layout->lsa_rank(5), 1);
}

TEST(Layout, TopologyHoldsExactlyTheRanks) {
  for (const int size : {3, 5}) {
    Result<Layout> layout = plan_layout(ranks_of(size), Topology{{2, 2}, false}, 0);
    ASSERT_FALSE(layout.ok());
    EXPECT_EQ(layout.status().code(), Code::kInvalidUsage);
    EXPECT_NE(layout.status().text().find("nodes of 2+2 holds 4 ranks"), std::string::npos) << layout.status().text();
  }
  EXPECT_TRUE(plan_layout(ranks_of(4), Topology{{2, 2}, false}, 0).ok());
}

// --- Children: ranks have the seats that they have in their parent ---
struct ChildRow {
  const char* what;
  Topology topology;
  std::vector<Seat> seats;
  std::vector<int> nodes;
  int lsa_size;
  bool rails_line_up;
};

TEST(Layout, AChildsRanksStayOnTheirNodes) {
  const ChildRow rows[] = {
      {"one node of two", {{4, 4}, false}, {4, 5, 6, 7}, {1, 1, 1, 1}, 4, true},
      {"one rank a node", {{4, 4}, false}, {0, 4}, {0, 1}, 1, true},
      {"another rail each", {{4, 4}, true}, {0, 5}, {0, 1}, 1, false},
      {"the same rail", {{4, 4}, true}, {1, 5}, {0, 1}, 1, true},
      {"keys that mix nodes", {{2, 2}, false}, {0, 2, 1, 3}, {0, 1, 0, 1}, 1, false},
      {"keys that swap nodes", {{2, 2}, true}, {2, 3, 0, 1}, {1, 1, 0, 0}, 2, true},
      {"keys that turn a node round", {{2, 2}, true}, {0, 1, 3, 2}, {0, 0, 1, 1}, 2, false},
      {"a lost rank", {{2, 2}, false}, {0, 2, 3}, {0, 1, 1}, 1, false},
      {"two lost of one node", {{4, 2}, false}, {0, 1, 4, 5}, {0, 0, 1, 1}, 2, true},
      {"no topology", {{}, false}, {1, 3}, {0, 0}, 2, true},
  };
  for (const ChildRow& row : rows) {
    Result<Layout> layout = plan_layout(row.seats, row.topology, 0);
    ASSERT_TRUE(layout.ok()) << layout.status().message();
    EXPECT_EQ(layout->node_of_rank, row.nodes) << row.what;
    EXPECT_EQ(layout->lsa_size, row.lsa_size) << row.what;
    EXPECT_EQ(layout->rails_line_up, row.rails_line_up) << row.what;
    EXPECT_EQ(layout->seat_of_rank, row.seats) << row.what;
    EXPECT_EQ(layout->reaches_rail(), row.rails_line_up || !row.topology.rail_only) << row.what;
  }
}

TEST(Layout, WhoJoinsLaterTakesAFreeSeat) {
  Result<Layout> layout = plan_layout({0, 2, 3, kAnySeat}, Topology{{2, 2}, false}, 0);
  ASSERT_TRUE(layout.ok()) << layout.status().message();
  EXPECT_EQ(layout->seat_of_rank, (std::vector<Seat>{0, 2, 3, 1}));
  EXPECT_EQ(layout->node_of_rank, (std::vector<int>{0, 1, 1, 0}));
  layout = plan_layout({0, 1, 2, 3, kAnySeat}, Topology{{2, 2}, false}, 0);
  ASSERT_FALSE(layout.ok());
  EXPECT_NE(layout.status().text().find("holds 4 ranks, the communicator has 5"), std::string::npos);
  layout = plan_layout({1, 0, kAnySeat}, Topology{{}, false}, 0);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->seat_of_rank, (std::vector<Seat>{1, 0, 2}));
}

}  // namespace
}  // namespace anygin::comm
