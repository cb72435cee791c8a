// SPDX-License-Identifier: Apache-2.0
// Nodes and LSA teams: the gcd rule of contract 2.8.1.
#include "anygin/comm/layout.h"

#include <gtest/gtest.h>

namespace anygin::comm {
namespace {

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
    Result<Layout> layout = plan_layout(row.size, Topology{row.nodes, false}, row.divisor);
    ASSERT_TRUE(layout.ok()) << layout.status().message();
    EXPECT_EQ(layout->lsa_size, row.lsa_size) << row.size << " ranks, divisor " << row.divisor;
    EXPECT_EQ(layout->size, row.size);
    EXPECT_EQ(layout->lsa_teams() * layout->lsa_size, row.size);
    EXPECT_TRUE(layout->rails_connected);
  }
}

TEST(Layout, RanksFillNodesInOrder) {
  Result<Layout> layout = plan_layout(8, Topology{{2, 4, 2}, true}, 0);
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout->node_of_rank, (std::vector<int>{0, 0, 1, 1, 1, 1, 2, 2}));
  EXPECT_FALSE(layout->rails_connected);
  EXPECT_EQ(layout->lsa_team(5), 2);
  EXPECT_EQ(layout->lsa_rank(5), 1);
}

TEST(Layout, TopologyHoldsExactlyTheRanks) {
  for (const int size : {3, 5}) {
    Result<Layout> layout = plan_layout(size, Topology{{2, 2}, false}, 0);
    ASSERT_FALSE(layout.ok());
    EXPECT_EQ(layout.status().code(), Code::kInvalidUsage);
    EXPECT_NE(layout.status().text().find("nodes of 2+2 holds 4 ranks"), std::string::npos) << layout.status().text();
  }
  EXPECT_TRUE(plan_layout(4, Topology{{2, 2}, false}, 0).ok());
}

}  // namespace
}  // namespace anygin::comm
