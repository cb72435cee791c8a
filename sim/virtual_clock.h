// SPDX-License-Identifier: Apache-2.0
// Time of the simulated world: picoseconds that pass only when the scheduler says so.
#pragma once

#include "anygin/base/assert.h"
#include "anygin/base/time.h"

namespace anygin::sim {

// Only the scheduler moves it. Read by whoever runs; one thread runs at a time.
class VirtualClock final : public Clock {
 public:
  Time now() override { return now_; }
  void advance_to(Time when) {
    ANYGIN_ASSERT(when >= now_);
    now_ = when;
  }
  void advance_by(Time by) { now_ += by; }

 private:
  Time now_ = 0;
};

}  // namespace anygin::sim
