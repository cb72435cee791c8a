// SPDX-License-Identifier: Apache-2.0
// Workers outlive a test's world. One that woke while such a world was in place went to sleep on its wake word; that
// went away, no launch woke the worker any more, and the next kernel never ended.
#include <ctime>

#include "support/world_fixture.h"
#include "unit/simt_kernels.h"

namespace anygin::simt {
namespace {

void sleep_ms(long ms) {
  const timespec time{0, ms * 1'000'000};
  nanosleep(&time, nullptr);
}

TEST(SimtWorkersWorld, IsTheOneTheyStartedIn) {
  ASSERT_EQ(run(blocks_of(8, 32), [] {}), 0);
  WakeWord& real_word = world().executor.wake_word();
  {
    anygin::testing::TestWorld other;
    for (int turn = 0; turn < 50; ++turn) {
      ring(real_word);  // whoever sleeps there looks around
      sleep_ms(1);
      ASSERT_EQ(other.test_executor().wake_word().sleepers.load(), 0u) << "turn " << turn;
    }
  }
  EXPECT_EQ(run(blocks_of(8, 32), [] {}), 0);
}

}  // namespace
}  // namespace anygin::simt
