// SPDX-License-Identifier: Apache-2.0
// The engine at the edges of a process: launches before main, and exits while lanes wait or spin.
#include <cstdlib>
#include <vector>

#include "unit/simt_kernels.h"

namespace anygin::simt {
namespace {

// Runs while static objects of this file are made.
struct LaunchedEarly {
  std::vector<int> ran = std::vector<int>(256, 0);
  int error = -1;
  LaunchedEarly() {
    int* runs = ran.data();
    error = run(blocks_of(4, 64), [runs] {
      anygin_syncthreads();
      ++runs[global_thread()];
    });
  }
};
LaunchedEarly launched_early;

TEST(SimtProcess, AKernelRunsBeforeMain) {
  EXPECT_EQ(0, launched_early.error);
  EXPECT_EQ(launched_early.ran, std::vector<int>(256, 1));
}

void launch_endless(bool spin) {
  static uint32_t never = 0;
  uint32_t* word = &never;
  launch_callable(blocks_of(8, 128), [=] {
    if (spin) {
      while (__atomic_load_n(word, __ATOMIC_RELAXED) == 0)
        if (tick()) {
        }
    }
    wait_at_least(word, 1);
  });
  eventually([] { return parked_lanes() >= 512; });
}

class SimtProcessDeath : public testing::TestWithParam<bool> {};

TEST_P(SimtProcessDeath, ExitsWhileLanesWait) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        launch_endless(GetParam());
        std::exit(7);
      },
      testing::ExitedWithCode(7), "");
}

INSTANTIATE_TEST_SUITE_P(ParkedAndSpinning, SimtProcessDeath, testing::Values(false, true));

TEST(SimtProcessDeathTest, DeviceFunctionsOnAHostThreadSayThatTheyNeedAKernel) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_DEATH(anygin_syncthreads(), "__syncthreads\\(\\) was used outside of a kernel");
  EXPECT_DEATH(anygin_activemask(), "__activemask\\(\\) was used outside of a kernel");
  EXPECT_EQ(0, anygin_lane_active());
  EXPECT_FALSE(tick());
}

}  // namespace
}  // namespace anygin::simt
