// SPDX-License-Identifier: Apache-2.0
// What a wait waits for, in words: for hang reports of both targets.
#pragma once

#include <string>

#include "anygin/base/wait.h"

namespace anygin {

// "waitSignal of rank 1, context 0 index 3: wants 4, is 3; ... (at ring.cu:31)". Reads the cell.
std::string describe_reason(const WaitReason& reason);

}  // namespace anygin
