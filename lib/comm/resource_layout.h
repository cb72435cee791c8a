// SPDX-License-Identifier: Apache-2.0
// Where the resources of a device communicator lie: buffers in its resource window, signal and counter ids
// (contract 2.8.3, rules 14 to 18). Pure arithmetic, the same on every rank.
#pragma once

#include <cstdint>
#include <vector>

namespace anygin::comm {

// A handle counts units of this many bytes.
inline constexpr uint64_t kHandleUnit = 128;

// One thing that asks for a buffer, signals or counters; all counts may be zero.
struct ResourceNode {
  uint64_t bytes = 0;
  uint64_t align = 1;
  uint32_t signals = 0;
  uint32_t counters = 0;
};

struct ResourcePlace {
  uint32_t handle = 0;  // byte offset / kHandleUnit
  uint32_t first_signal = 0;
  uint32_t first_counter = 0;
};

struct ResourceLayout {
  std::vector<ResourcePlace> places;  // one a node, in the order given
  uint32_t signals = 0;               // the user's and the nodes'
  uint32_t counters = 0;
  uint64_t shadows_offset = 0;  // u64 [context][signal]
  uint64_t bytes = 0;           // of the resource window; 0 if nothing needs one
};

// The user's own signals and counters come first, then the nodes in order, then the shadows.
ResourceLayout plan_resources(const std::vector<ResourceNode>& nodes, uint32_t user_signals, uint32_t user_counters,
                              uint32_t contexts);

// Bytes of the state of `barriers` LSA barriers in a team of `ranks` (contract 8.1).
constexpr uint64_t lsa_barrier_bytes(uint64_t barriers, uint64_t ranks) {
  return (3 * barriers + barriers * ranks) * 4;
}

}  // namespace anygin::comm
