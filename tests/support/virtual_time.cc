// SPDX-License-Identifier: Apache-2.0
#include "support/virtual_time.h"

#include "anygin/base/assert.h"

namespace anygin::testing {

void VirtualClock::advance_to(Time when) {
  ANYGIN_ASSERT(when >= now_.load());
  now_.store(when);
}

}  // namespace anygin::testing
