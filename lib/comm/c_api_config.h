// SPDX-License-Identifier: Apache-2.0
// ncclConfig_t: which fields count, what they may be, what they default to (contract 2.3).
#pragma once

#include "anygin/base/status.h"
#include "anygin/comm/communicator.h"
#include "nccl.h"

namespace anygin::comm {

// `given` with defaults in place of what was left open; null gives the defaults.
Result<ncclConfig_t> resolve_config(const ncclConfig_t* given);
// What of it counts here; `inherited` without a config.
Result<CommunicatorSettings> settings_from(const ncclConfig_t* given, const CommunicatorSettings& inherited);

}  // namespace anygin::comm
