// SPDX-License-Identifier: Apache-2.0
// ncclConfig_t: which fields count, what they may be, what they default to (contract 2.3).
#pragma once

#include "anygin/base/status.h"
#include "nccl.h"

namespace anygin::comm {

// `given` with defaults in place of what was left open; null gives the defaults.
Result<ncclConfig_t> resolve_config(const ncclConfig_t* given);

}  // namespace anygin::comm
