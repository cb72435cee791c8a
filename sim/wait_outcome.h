// SPDX-License-Identifier: Apache-2.0
// How a wait of a host thread ends.
#pragma once

#include <optional>

#include "anygin/base/order.h"
#include "anygin/base/wait.h"

namespace anygin::sim {

// Nothing while it goes on.
inline std::optional<WaitOutcome> outcome_of(const Waiter& waiter, Time now) {
  if (waiter.test(waiter.object)) {
    observe_then_read();
    return WaitOutcome::kSatisfied;
  }
  if (waiter.abort_word != nullptr && observe(waiter.abort_word) != 0) return WaitOutcome::kAborted;
  if (now >= waiter.deadline) return WaitOutcome::kDeadline;
  return std::nullopt;
}

}  // namespace anygin::sim
