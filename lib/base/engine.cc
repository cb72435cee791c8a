// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/engine.h"

#include <algorithm>

namespace anygin {

StepResult step(Engine& engine, Time now, size_t budget) {
  StepResult result;
  ActionList actions;
  // What was offered is void once something ran, so the list is made anew each time. The place in the list moves on,
  // so that an action that is always ready does not keep the later ones from running.
  size_t place = 0;
  Action last;
  while (result.ran < budget) {
    actions.clear();
    engine.ready(actions);
    if (actions.empty()) break;
    place %= actions.size();
    if (result.ran > 0 && actions[place].kind == last.kind && actions[place].name == last.name) {
      place = (place + 1) % actions.size();
    }
    last = actions[place];
    result.next_wake = std::min(result.next_wake, engine.run(actions[place], now));
    ++result.ran;
  }
  return result;
}

}  // namespace anygin
