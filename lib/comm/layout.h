// SPDX-License-Identifier: Apache-2.0
// Where the ranks of a communicator stand: nodes, LSA teams and rails. Pure arithmetic (contract 2.8.1, 4.2).
#pragma once

#include <vector>

#include "anygin/base/ids.h"
#include "anygin/base/options.h"
#include "anygin/base/status.h"

namespace anygin::comm {

struct Layout {
  int size = 1;                   // ranks
  int lsa_size = 1;               // ranks of one LSA team: consecutive; divides `size`
  bool rails_connected = true;    // false: only ranks of equal LSA rank reach each other over the network
  std::vector<int> node_of_rank;  // index of the node that holds a rank

  int lsa_team(Rank rank) const { return rank / lsa_size; }
  int lsa_rank(Rank rank) const { return rank % lsa_size; }
  int lsa_teams() const { return size / lsa_size; }
};

// `lsa_divisor` is NCCL_LSA_TEAM_SIZE, 0 if unset. Fails if the topology does not hold exactly `size` ranks.
Result<Layout> plan_layout(int size, const Topology& topology, int lsa_divisor);

// One line that two ranks compare to see whether they plan the same layout: "2+2 ranks", with ", rail" if so.
std::string describe(const Topology& topology);

}  // namespace anygin::comm
