// SPDX-License-Identifier: Apache-2.0
// Team arithmetic against enumeration (contract 4.2, B.2).
#include <gtest/gtest.h>
#include <nccl_device.h>

#include <algorithm>
#include <vector>

namespace {

ncclDevComm comm_of(int nRanks, int lsaSize, int rank) {
  ncclDevComm comm{};
  comm.nRanks = nRanks;
  comm.rank = rank;
  comm.lsaSize = lsaSize;
  comm.lsaRank = rank % lsaSize;
  return comm;
}

// World ranks of a team, in team order.
std::vector<int> world_ranks(const ncclDevComm& comm, ncclTeam team) {
  std::vector<int> ranks;
  // covers: ncclTeamRankToWorld(ncclDevComm)
  for (int r = 0; r < team.nRanks; ++r) ranks.push_back(ncclTeamRankToWorld(comm, team, r));
  return ranks;
}

// Every (nRanks, lsaSize, rank) up to 24 ranks, with lsaSize dividing nRanks.
template <typename Check>
void for_each_comm(Check check) {
  for (int nRanks = 1; nRanks <= 24; ++nRanks) {
    for (int lsaSize = 1; lsaSize <= nRanks; ++lsaSize) {
      if (nRanks % lsaSize != 0) continue;
      for (int rank = 0; rank < nRanks; ++rank) check(comm_of(nRanks, lsaSize, rank));
    }
  }
}

TEST(NcclTeam, world_lsa_and_rail_name_the_right_ranks) {
  for_each_comm([](const ncclDevComm& comm) {
    std::vector<int> all, node, rail;
    for (int r = 0; r < comm.nRanks; ++r) {
      all.push_back(r);
      if (r / comm.lsaSize == comm.rank / comm.lsaSize) node.push_back(r);
      if (r % comm.lsaSize == comm.lsaRank) rail.push_back(r);
    }
    // covers: ncclTeamWorld(ncclDevComm); ncclTeamLsa(ncclDevComm); ncclTeamRail(ncclDevComm)
    // covers: ncclTeamRankToLsa(ncclDevComm)
    ASSERT_EQ(world_ranks(comm, ncclTeamWorld(comm)), all);
    ASSERT_EQ(world_ranks(comm, ncclTeamLsa(comm)), node);
    ASSERT_EQ(world_ranks(comm, ncclTeamRail(comm)), rail);
    ASSERT_EQ(ncclTeamRankToLsa(comm, ncclTeamLsa(comm), 0), 0);
    ASSERT_EQ(ncclTeamRankToLsa(comm, ncclTeamWorld(comm), comm.rank), comm.lsaRank);
  });
}

TEST(NcclTeam, factors_make_lsa_and_rail_of_the_world) {
  for_each_comm([](const ncclDevComm& comm) {
    const ncclTeam inner = ncclTeamInnerFactor(ncclTeamWorld(comm), comm.lsaSize);
    const ncclTeam outer = ncclTeamOuterFactor(ncclTeamWorld(comm), comm.lsaSize);
    ASSERT_EQ(world_ranks(comm, inner), world_ranks(comm, ncclTeamLsa(comm)));
    ASSERT_EQ(world_ranks(comm, outer), world_ranks(comm, ncclTeamRail(comm)));
    ASSERT_EQ(inner.rank, comm.lsaRank);
    ASSERT_EQ(outer.rank, comm.rank / comm.lsaSize);
  });
}

TEST(NcclTeam, membership_is_by_world_rank) {
  for_each_comm([](const ncclDevComm& comm) {
    const ncclTeam teams[] = {ncclTeamWorld(comm), ncclTeamLsa(comm), ncclTeamRail(comm)};
    for (const ncclTeam& a : teams) {
      const std::vector<int> members = world_ranks(comm, a);
      for (const ncclTeam& b : teams) {
        for (int r = 0; r < b.nRanks; ++r) {
          const auto found = std::find(members.begin(), members.end(), ncclTeamRankToWorld(comm, b, r));
          ASSERT_EQ(ncclTeamRankIsMember(a, b, r), found != members.end());
          if (found != members.end()) {
            ASSERT_EQ(ncclTeamRankToTeam(a, b, r), found - members.begin());
          }
        }
      }
    }
  });
}

// Ranks of `parent` that are not in `subset`, each once and in order.
void expect_difference(const ncclDevComm& comm, ncclTeam parent, ncclTeam subset) {
  const std::vector<int> members = world_ranks(comm, subset);
  std::vector<int> expected, got;
  for (int r = 0; r < parent.nRanks; ++r) {
    if (std::find(members.begin(), members.end(), ncclTeamRankToWorld(comm, parent, r)) == members.end()) {
      expected.push_back(r);
    }
  }
  for (int i = 0; i < parent.nRanks - subset.nRanks; ++i) got.push_back(ncclTeamRankInDifference(parent, subset, i));
  ASSERT_EQ(got, expected) << "nRanks " << comm.nRanks << " lsaSize " << comm.lsaSize << " rank " << comm.rank;
}

TEST(NcclTeam, the_difference_names_every_other_rank_once_and_in_order) {
  for_each_comm([](const ncclDevComm& comm) {
    expect_difference(comm, ncclTeamWorld(comm), ncclTeamLsa(comm));
    expect_difference(comm, ncclTeamWorld(comm), ncclTeamRail(comm));
    expect_difference(comm, ncclTeamWorld(comm), ncclTeamWorld(comm));
    const ncclTeam lsa = ncclTeamLsa(comm);
    const ncclTeam backwards = {lsa.nRanks, lsa.nRanks - 1 - lsa.rank, -1};
    expect_difference(comm, ncclTeamWorld(comm), backwards);
  });
}

// Drawn by a fixed rule, so that each run sees the same ones.
class Draws {
 public:
  int below(int limit) {
    state_ = state_ * 6364136223846793005u + 1442695040888963407u;
    return static_cast<int>((state_ >> 33) % static_cast<uint64_t>(limit));
  }
  // A divisor of `number`.
  int divisor(int number) {
    int found = 1;
    do {
      found = 1 + below(number);
    } while (number % found != 0);
    return found;
  }

 private:
  uint64_t state_ = 1;
};

// Contract B.2: factors of factors, in either direction, of up to 400 ranks.
TEST(NcclTeam, random_teams_keep_every_formula) {
  Draws draws;
  for (int turn = 0; turn < 2000; ++turn) {
    const int nRanks = 1 + draws.below(400);
    const ncclDevComm comm = comm_of(nRanks, draws.divisor(nRanks), draws.below(nRanks));
    const ncclTeam world = ncclTeamWorld(comm);
    const ncclTeam parent = draws.below(2) == 0 ? ncclTeamInnerFactor(world, draws.divisor(nRanks))
                                                : ncclTeamOuterFactor(world, draws.divisor(nRanks));
    const int size = draws.divisor(parent.nRanks);
    ncclTeam subset = draws.below(2) == 0 ? ncclTeamInnerFactor(parent, size) : ncclTeamOuterFactor(parent, size);
    if (draws.below(3) == 0) subset = {subset.nRanks, subset.nRanks - 1 - subset.rank, -subset.stride};
    ASSERT_EQ(ncclTeamRankToWorld(comm, parent, parent.rank), comm.rank);
    ASSERT_EQ(ncclTeamRankToWorld(comm, subset, subset.rank), comm.rank);
    const std::vector<int> of_parent = world_ranks(comm, parent), of_subset = world_ranks(comm, subset);
    for (int r = 0; r < parent.nRanks; ++r) {
      const auto found = std::find(of_subset.begin(), of_subset.end(), of_parent[static_cast<size_t>(r)]);
      ASSERT_EQ(ncclTeamRankIsMember(subset, parent, r), found != of_subset.end());
      if (found == of_subset.end()) continue;
      ASSERT_EQ(ncclTeamRankToTeam(subset, parent, r), found - of_subset.begin());
      ASSERT_EQ(ncclTeamRankToTeam(parent, subset, static_cast<int>(found - of_subset.begin())), r);
    }
    for (int r = 0; r < subset.nRanks; ++r) ASSERT_TRUE(ncclTeamRankIsMember(parent, subset, r));
    expect_difference(comm, parent, subset);
    if (::testing::Test::HasFatalFailure()) return;
    const int lsa = ncclTeamRankToLsa(comm, subset, 0);
    ASSERT_EQ(lsa - comm.lsaRank, of_subset[0] - comm.rank);
  }
}

TEST(NcclTeam, out_of_range_ranks_are_not_clamped) {
  const ncclDevComm comm = comm_of(8, 4, 5);
  EXPECT_EQ(ncclTeamRankToWorld(comm, ncclTeamLsa(comm), -1), 3);
  EXPECT_EQ(ncclTeamRankToWorld(comm, ncclTeamWorld(comm), 8), 8);
  EXPECT_EQ(ncclTeamRankToLsa(comm, ncclTeamWorld(comm), 3), -1);
}

}  // namespace
