// SPDX-License-Identifier: Apache-2.0
#include "anygin/comm/resource_layout.h"

#include <numeric>

namespace anygin::comm {
namespace {

uint64_t round_up(uint64_t value, uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

}  // namespace

ResourceLayout plan_resources(const std::vector<ResourceNode>& nodes, uint32_t user_signals, uint32_t user_counters,
                              uint32_t contexts) {
  ResourceLayout layout;
  layout.signals = user_signals;
  layout.counters = user_counters;
  for (const ResourceNode& node : nodes) {
    layout.bytes = round_up(layout.bytes, std::lcm(kHandleUnit, node.align > 0 ? node.align : 1));
    layout.places.push_back({static_cast<uint32_t>(layout.bytes / kHandleUnit), layout.signals, layout.counters});
    layout.bytes += node.bytes;
    layout.signals += node.signals;
    layout.counters += node.counters;
  }
  layout.shadows_offset = round_up(layout.bytes, kHandleUnit);
  if (layout.signals > 0 && contexts > 0) {
    layout.bytes = layout.shadows_offset + uint64_t{8} * contexts * layout.signals;
  }
  return layout;
}

}  // namespace anygin::comm
