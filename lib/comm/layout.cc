// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

namespace anygin::comm {
namespace {

bool is_taken(const std::vector<Seat>& seats, Seat seat) {
  return std::find(seats.begin(), seats.end(), seat) != seats.end();
}

// In rank order. `held`: seats there are; 0: any number.
Status take_free_seats(std::vector<Seat>& seats, int held, const Topology& topology) {
  Seat next = 0;
  for (Seat& seat : seats) {
    if (seat != kAnySeat) continue;
    while (is_taken(seats, next)) ++next;
    if (held != 0 && next >= held) {
      return Status(Cause::kTopologySize, "ANYGIN_TOPOLOGY",
                    fmt::format("{} holds {} ranks, the communicator has {}; it may be that the new ranks find no free "
                                "place beside those that are there",
                                describe(topology), held, seats.size()));
    }
    seat = next;
  }
  return Status();
}

// Greatest common divisor of the runs of ranks of one node, in rank order: no team of that size spans two.
int common_run(const std::vector<int>& node_of_rank, int divisor) {
  int run = 0;
  for (size_t rank = 0; rank < node_of_rank.size(); ++rank) {
    if (rank > 0 && node_of_rank[rank] != node_of_rank[rank - 1]) {
      divisor = std::gcd(divisor, run);
      run = 0;
    }
    ++run;
  }
  return std::gcd(divisor, run);
}

}  // namespace

std::string describe(const Topology& topology) {
  if (topology.ranks_of_node.empty()) return topology.rail_only ? "one node, rail" : "one node";
  return fmt::format("nodes of {}{}", fmt::join(topology.ranks_of_node, "+"), topology.rail_only ? ", rail" : "");
}

Result<Layout> plan_layout(std::vector<Seat> seats, const Topology& topology, int lsa_divisor) {
  ANYGIN_ASSERT(!seats.empty());
  const std::vector<int>& nodes = topology.ranks_of_node;
  const int held = std::accumulate(nodes.begin(), nodes.end(), 0);
  const int size = static_cast<int>(seats.size());
  const bool is_root = std::all_of(seats.begin(), seats.end(), [](Seat seat) { return seat == kAnySeat; });
  if (is_root && held != 0 && held != size) {
    return Status(Cause::kTopologySize, "ANYGIN_TOPOLOGY",
                  fmt::format("{} holds {} ranks, the communicator has {}", describe(topology), held, size));
  }
  ANYGIN_TRY(take_free_seats(seats, held, topology));
  std::vector<int> node_of_seat;
  for (size_t node = 0; node < nodes.size(); ++node) {
    node_of_seat.insert(node_of_seat.end(), static_cast<size_t>(nodes[node]), static_cast<int>(node));
  }
  // Rails are those of the whole topology, whatever part of it the communicator has.
  const int rails = held == 0 ? 1 : common_run(node_of_seat, std::max(lsa_divisor, 0));
  Layout layout;
  layout.size = size;
  layout.rails_connected = !topology.rail_only;
  for (const Seat seat : seats) layout.node_of_rank.push_back(held == 0 ? 0 : node_of_seat[static_cast<size_t>(seat)]);
  layout.lsa_size = common_run(layout.node_of_rank, std::max(lsa_divisor, 0));
  for (Rank rank = 0; rank < size; ++rank) {
    const auto rail_of = [&](Rank of) { return seats[static_cast<size_t>(of)] % rails; };
    layout.rails_line_up &= rail_of(rank) == rail_of(layout.lsa_rank(rank));
  }
  layout.seat_of_rank = std::move(seats);
  return layout;
}

}  // namespace anygin::comm
