// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/layout.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <numeric>

namespace anygin::comm {

std::string describe(const Topology& topology) {
  if (topology.ranks_of_node.empty()) return topology.rail_only ? "one node, rail" : "one node";
  return fmt::format("nodes of {}{}", fmt::join(topology.ranks_of_node, "+"), topology.rail_only ? ", rail" : "");
}

Result<Layout> plan_layout(int size, const Topology& topology, int lsa_divisor) {
  ANYGIN_ASSERT(size >= 1);
  std::vector<int> nodes = topology.ranks_of_node;
  if (nodes.empty()) nodes.push_back(size);
  const int held = std::accumulate(nodes.begin(), nodes.end(), 0);
  if (held != size) {
    return Status(Cause::kTopologySize, "ANYGIN_TOPOLOGY",
                  fmt::format("{} holds {} ranks, the communicator has {}", describe(topology), held, size));
  }
  Layout layout;
  layout.size = size;
  layout.rails_connected = !topology.rail_only;
  layout.lsa_size = lsa_divisor > 0 ? lsa_divisor : 0;
  for (size_t node = 0; node < nodes.size(); ++node) {
    layout.lsa_size = std::gcd(layout.lsa_size, nodes[node]);
    layout.node_of_rank.insert(layout.node_of_rank.end(), static_cast<size_t>(nodes[node]), static_cast<int>(node));
  }
  return layout;
}

}  // namespace anygin::comm
