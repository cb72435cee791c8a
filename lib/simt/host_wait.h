// SPDX-License-Identifier: Apache-2.0
// A host thread waits for the engine: on the executor, so that it steps engines meanwhile.
#pragma once

#include "anygin/base/world.h"

namespace anygin::simt {

template <typename Predicate>
void block_host_until(const Predicate& predicate) {
  if (predicate()) return;
  Waiter waiter;
  waiter.test = [](const void* object) { return static_cast<bool>((*static_cast<const Predicate*>(object))()); };
  waiter.object = &predicate;
  world().executor.block(waiter);
}

}  // namespace anygin::simt
