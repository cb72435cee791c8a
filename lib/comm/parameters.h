// SPDX-License-Identifier: Apache-2.0
// What the parameter functions of nccl.h hand out and the calling thread keeps.
#pragma once

#include <string>
#include <vector>

#include "anygin/base/options.h"

namespace anygin::comm {

// NCCL's variables are documented there, ours by `anygin env`: those are listed on demand.
bool parameter_is_listed(const OptionInfo& row);
// Stays until the thread's next call.
const char* keep_parameter_text(std::string text);
// The names of those that are listed; stays until the thread's next call.
std::vector<const char*>& keep_parameter_keys();

}  // namespace anygin::comm
