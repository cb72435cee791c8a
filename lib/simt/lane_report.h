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

// Whether addresses are looked up, which starts a program.
enum class SourceLines : bool { kNo, kYes };

// Every started lane that has not exited and does not run, in lane order. Not while the block changes.
std::vector<LaneState> describe_lanes(const Block& block, SourceLines lines = SourceLines::kYes);
std::string describe_cause(AbortCause cause);

}  // namespace anygin::simt
