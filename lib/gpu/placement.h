// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "anygin/base/env_real.h"

namespace anygin::gpu {

// May this process hold several ranks, as threads? Launchers that start a process a rank say so by RANK.
inline bool ranks_may_be_threads() {
  return environment_variable("RANK").empty();
}

}  // namespace anygin::gpu
