// SPDX-License-Identifier: Apache-2.0
// How ANYGIN_TOPOLOGY is written: "2x4", "3,5", either with ",rail" behind it.
#include <charconv>
#include <string_view>

#include "anygin/base/options.h"

namespace anygin {
namespace {

constexpr int kRanksMax = 1 << 20;

bool parse_count(std::string_view text, int* out) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return error == std::errc() && end == text.data() + text.size() && *out >= 1 && *out <= kRanksMax;
}

bool parse_product(std::string_view text, std::vector<int>* ranks_of_node) {
  const size_t x = text.find('x');
  int nodes = 0;
  int ranks = 0;
  if (x == std::string_view::npos) return false;
  if (!parse_count(text.substr(0, x), &nodes) || !parse_count(text.substr(x + 1), &ranks)) return false;
  if (static_cast<int64_t>(nodes) * ranks > kRanksMax) return false;
  ranks_of_node->assign(static_cast<size_t>(nodes), ranks);
  return true;
}

bool parse_list(std::string_view text, std::vector<int>* ranks_of_node) {
  while (true) {
    const size_t comma = text.find(',');
    int ranks = 0;
    if (!parse_count(text.substr(0, comma), &ranks)) return false;
    ranks_of_node->push_back(ranks);
    if (comma == std::string_view::npos) return true;
    text.remove_prefix(comma + 1);
  }
}

}  // namespace

Result<Topology> parse_topology(std::string_view text) {
  constexpr std::string_view kRail = ",rail";
  Topology topology;
  std::string_view nodes = text;
  if (nodes.size() > kRail.size() && nodes.substr(nodes.size() - kRail.size()) == kRail) {
    topology.rail_only = true;
    nodes.remove_suffix(kRail.size());
  }
  if (parse_product(nodes, &topology.ranks_of_node)) return topology;
  topology.ranks_of_node.clear();
  if (parse_list(nodes, &topology.ranks_of_node)) return topology;
  return Status(Cause::kEnvironment, "topology",
                "NODESxRANKS such as 2x4, or the ranks of each node such as 3,5; either with ,rail behind it");
}

}  // namespace anygin
