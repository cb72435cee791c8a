// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a communicator stand: nodes, LSA teams and rails. Pure arithmetic (contract 2.8.1, 4.2).
#pragma once

#include <vector>

#include "anygin/base/ids.h"
#include "anygin/base/options.h"
#include "anygin/base/status.h"

namespace anygin::comm {

// A place of ANYGIN_TOPOLOGY, counted through its nodes in order. The ranks of a root communicator sit in rank order; a
// rank of a child has the seat that it has in its parent, one that joins later gets a free one.
using Seat = int;
inline constexpr Seat kAnySeat = -1;

struct Layout {
  int size = 1;                   // ranks
  int lsa_size = 1;               // ranks of one LSA team: consecutive, of one node; divides `size`
  bool rails_connected = true;    // false: only ranks of one rail reach each other over the network
  bool rails_line_up = true;      // ranks of equal LSA rank are of one rail
  std::vector<int> node_of_rank;  // index of the node that holds a rank
  std::vector<Seat> seat_of_rank;

  int lsa_team(Rank rank) const { return rank / lsa_size; }
  int lsa_rank(Rank rank) const { return rank % lsa_size; }
  int lsa_teams() const { return size / lsa_size; }
  // Does every rank reach those of equal LSA rank over the network, where there is one?
  bool reaches_rail() const { return rails_connected || rails_line_up; }
};

// For ranks that sit at `seats`; those without one get the free seats in order. `lsa_divisor` is NCCL_LSA_TEAM_SIZE, 0
// if unset. Fails if none has a seat and the topology does not hold exactly so many, or if it has too few.
Result<Layout> plan_layout(std::vector<Seat> seats, const Topology& topology, int lsa_divisor);

// One line that two ranks compare to see whether they plan the same layout: "2+2 ranks", with ", rail" if so.
std::string describe(const Topology& topology);

}  // namespace anygin::comm
