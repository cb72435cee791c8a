// SPDX-License-Identifier: Apache-2.0
#include "support/world_fixture.h"

namespace anygin::testing {

TestWorld::TestWorld(uint64_t seed) : TestWorld(std::make_unique<TestWorldParts>(seed)) {}

TestWorld::TestWorld(std::unique_ptr<TestWorldParts> parts)
    : World(parts->clock, parts->choices, parts->executor, parts->trace, parts->memory, parts->heap, parts->page),
      parts_(std::move(parts)) {
  executor.use_wake_word(page.control().wake);
  set_world_for_test(this);
}

TestWorld::~TestWorld() {
  set_world_for_test(nullptr);
}

}  // namespace anygin::testing
