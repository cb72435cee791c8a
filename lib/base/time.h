// SPDX-License-Identifier: Apache-2.0
// Time is unsigned 64-bit picoseconds inside engines (213 days) and nanoseconds (`_ns`) at interfaces.
#pragma once

#include "anygin/base/platform.h"

namespace anygin {

using Time = uint64_t;  // picoseconds since the World began

inline constexpr Time kNever = ~Time{0};
inline constexpr Time kNanosecond = 1000;
inline constexpr Time kMicrosecond = 1000 * kNanosecond;
inline constexpr Time kMillisecond = 1000 * kMicrosecond;
inline constexpr Time kSecond = 1000 * kMillisecond;

class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic. Stands still while the process is traced or stopped; virtual under the simulator. Any thread.
  virtual Time now() = 0;
};

}  // namespace anygin
