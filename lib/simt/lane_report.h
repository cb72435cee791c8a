// SPDX-License-Identifier: Apache-2.0
// What a block's lanes wait for, in words.
#pragma once

#include <string>
#include <vector>

#include "anygin/base/wait.h"
#include "anygin/simt/block.h"

namespace anygin::simt {

struct LaneState {
  uint32_t lane;
  std::string what;
};

// Every started lane that has not exited, in lane order. Not while one of them runs.
std::vector<LaneState> describe_lanes(const Block& block);
std::string describe_cause(AbortCause cause);

}  // namespace anygin::simt
