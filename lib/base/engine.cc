// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/engine.h"

namespace anygin {

StepResult step(Engine& engine, Time now, size_t budget, size_t* place) {
  StepResult result;
  ActionList actions(now);
  size_t at = place ? *place : 0;
  size_t offered_before = 0;
  while (result.ran < budget) {
    // What was offered is void once something ran, so the list is made anew each time.
    actions.clear();
    engine.ready(actions);
    result.next_wake = actions.next_wake();
    if (actions.empty()) break;
    // On to the next place, so that an action that stays ready, or a queue that never empties, does not keep the later
    // ones from running. If the list got shorter, the next one has moved into the place of the one that ran.
    if (result.ran > 0 && actions.size() >= offered_before) ++at;
    at %= actions.size();
    offered_before = actions.size();
    engine.run(actions[at], now);
    ++result.ran;
  }
  if (place) *place = result.ran > 0 ? at + 1 : at;
  return result;
}

}  // namespace anygin
