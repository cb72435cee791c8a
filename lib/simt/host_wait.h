// SPDX-License-Identifier: Apache-2.0
// A host thread waits for the engine: on the executor, so that it steps engines meanwhile. Or it asks over and over.
#pragma once

#include "anygin/base/env_real.h"
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

// A query that is answered with `not_ready` is asked again: others go on meanwhile, in the simulated world too.
inline int answer_later(int not_ready) {
  yield_thread();
  return not_ready;
}

}  // namespace anygin::simt
