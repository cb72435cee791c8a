// SPDX-License-Identifier: Apache-2.0
// Random lists of operations for a flow, what they must leave in memory, and the checks of what took effect when.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/flow_pair.h"

namespace anygin::testing {

// Target memory: one slot an operation for puts, then constant bytes for gets, then signal cells.
struct FlowScript {
  static constexpr uint64_t kSlot = 72 * 1024;
  static constexpr uint32_t kOperationsMax = 24;
  static constexpr uint64_t kConstants = kOperationsMax * kSlot;  // known bytes, for gets
  static constexpr uint64_t kConstantBytes = 72 * 1024;
  static constexpr uint64_t kCells = kConstants + kConstantBytes;
  static constexpr uint64_t kCellCount = 4;

  std::vector<emulated::Work> works;
  uint64_t sums[kCellCount] = {};
};

// `hints`: puts and weak signals carry may_pass.
FlowScript make_script(ChoiceSource& draw, FlowPair& pair, bool hints);

using ClassPair = std::pair<emulated::OrderClass, emulated::OrderClass>;

// What was seen to happen in some run.
struct Freedoms {
  std::set<ClassPair> passed;  // (earlier, later)
  bool granules_out_of_order = false;
  bool completed_before_visible = false;
};

// Exact final memory, gets' data, sums; completions in post order; P1, P2; nothing passes what it may not.
void check_run(FlowPair& pair, const FlowScript& script, Profile profile, Freedoms* seen);

}  // namespace anygin::testing
