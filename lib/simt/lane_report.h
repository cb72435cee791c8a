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
// "waitSignal context 0 signal 3 of rank 1: wants 4, is 3 (at main+0x52 (prog+0x1152))"
std::string describe_reason(const WaitReason& reason);
std::string describe_cause(AbortCause cause);

}  // namespace anygin::simt
