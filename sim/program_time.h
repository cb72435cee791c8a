// SPDX-License-Identifier: Apache-2.0
// Virtual time as the program under test sees it. All its clocks show the same: so a deadline means the same on any.
#pragma once

#include <ctime>

#include "anygin/base/time.h"

namespace anygin::sim {

inline constexpr uint64_t kEpochSeconds = 1767225600;  // when a run begins: 2026-01-01 00:00:00 UTC

inline timespec to_timespec(Time now) {
  timespec shown{};
  shown.tv_sec = static_cast<time_t>(kEpochSeconds + now / kSecond);
  shown.tv_nsec = static_cast<long>(now % kSecond / kNanosecond);
  return shown;
}
inline Time duration_of(const timespec& duration) {
  return static_cast<Time>(duration.tv_sec) * kSecond + static_cast<Time>(duration.tv_nsec) * kNanosecond;
}
// Of a point in time; before the run began: 0. Too far to count: never.
inline Time time_of(const timespec& when) {
  const auto seconds = static_cast<uint64_t>(when.tv_sec);
  if (when.tv_sec < 0 || seconds < kEpochSeconds) return 0;
  if (seconds - kEpochSeconds > kNever / kSecond / 2) return kNever;
  return (seconds - kEpochSeconds) * kSecond + static_cast<Time>(when.tv_nsec) * kNanosecond;
}

}  // namespace anygin::sim
