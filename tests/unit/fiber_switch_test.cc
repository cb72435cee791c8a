// SPDX-License-Identifier: Apache-2.0
// unit_simt runs twice: with the switch of the build, and as unit_simt_portable with a libanygin.so that has
// Boost.Context's. Each run looks whether it has the one that it is about.
#include <gtest/gtest.h>

#include "anygin/base/env_real.h"
#include "anygin/simt/fiber.h"

namespace anygin::simt {
namespace {

TEST(FiberSwitch, IsTheOneThatThisRunIsAbout) {
  EXPECT_EQ(environment_variable("EXPECTED_FIBER_SWITCH"), anygin_fiber_switch_name);
}

}  // namespace
}  // namespace anygin::simt
