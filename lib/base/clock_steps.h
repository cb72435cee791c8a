// SPDX-License-Identifier: Apache-2.0
// How simulated time goes on for a loop that looks at the clock and pauses nowhere, while nothing else moves: in steps
// that double, so that a delay of any length ends after few looks. Up to a point: the loop may never end.
#pragma once

#include "anygin/base/time.h"

namespace anygin {

class ClockSteps {
 public:
  // The loop got further: steps are short again.
  void begin_again() { step_ = next_ = 0; }
  // The loop has only looked. True: it has seen the time that was its next, and a later one follows.
  bool look(Time now) {
    if (now < next_) return false;
    step_ = step_ == 0 ? kFirst : step_ * 2;
    next_ = now + step_;
    return true;
  }
  // What time the loop is to see next; kNever if it has waited for long enough.
  Time next() const { return step_ <= kLast ? next_ : kNever; }

 private:
  static constexpr Time kFirst = kMicrosecond, kLast = 1000 * kSecond;
  Time step_ = 0, next_ = 0;
};

}  // namespace anygin
