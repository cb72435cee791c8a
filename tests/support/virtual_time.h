// SPDX-License-Identifier: Apache-2.0
// A clock that moves only when a test moves it.
#pragma once

#include <atomic>

#include "anygin/base/time.h"

namespace anygin::testing {

// Thread-safe.
class VirtualClock final : public Clock {
 public:
  Time now() override { return now_.load(); }
  // To a time that is not in the past.
  void advance_to(Time when);
  void advance_by(Time by) { now_.fetch_add(by); }

 private:
  std::atomic<Time> now_{0};
};

}  // namespace anygin::testing
