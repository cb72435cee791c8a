// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/env_real.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string_view>
#include <thread>

namespace anygin {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;

TEST(StandstillFilter, TakesSilenceOutButForOneSecond) {
  StandstillFilter filter(0);
  EXPECT_FALSE(filter.note(kSecondNs / 4));
  EXPECT_FALSE(filter.note(kSecondNs + kSecondNs / 4));  // exactly kGapNs: still time
  EXPECT_EQ(filter.taken_out_ns(), 0u);
  EXPECT_TRUE(filter.note(11 * kSecondNs + kSecondNs / 4));
  EXPECT_EQ(filter.taken_out_ns(), 9 * kSecondNs);
  EXPECT_FALSE(filter.note(11 * kSecondNs + kSecondNs / 2));
  EXPECT_TRUE(filter.note(14 * kSecondNs));
  EXPECT_EQ(filter.taken_out_ns(), 9 * kSecondNs + kSecondNs * 3 / 2);
}

TEST(StandstillFilter, IgnoresTimesFromThePast) {
  StandstillFilter filter(5 * kSecondNs);
  EXPECT_FALSE(filter.note(kSecondNs));
  EXPECT_FALSE(filter.note(5 * kSecondNs + kSecondNs / 2));
  EXPECT_EQ(filter.taken_out_ns(), 0u);
}

TEST(RealClock, StartsAtZeroAndRuns) {
  RealClock clock;
  const Time first = clock.now();
  EXPECT_LT(first, kSecond);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_GE(clock.now() - first, 20 * kMillisecond);
}

TEST(RealClock, AnIdleProcessIsNotAStoppedOne) {
  RealClock clock;
  const Time first = clock.now();
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));  // nobody reads the clock
  EXPECT_GE(clock.now() - first, 1500 * kMillisecond);
}

TEST(RealClock, StandsStillWhileTheProcessIsStopped) {
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    RealClock clock;
    const Time before = clock.now();
    raise(SIGSTOP);
    const Time stood = clock.now() - before;
    _exit(write(ends[1], &stood, sizeof(stood)) == sizeof(stood) ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, WUNTRACED), child);
  ASSERT_TRUE(WIFSTOPPED(status));
  std::this_thread::sleep_for(std::chrono::seconds(4));
  ASSERT_EQ(kill(child, SIGCONT), 0);
  Time stood = 0;
  ASSERT_EQ(read(ends[0], &stood, sizeof(stood)), static_cast<ssize_t>(sizeof(stood)));
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_LT(stood, 2 * kSecond);  // a second of the stop counts, and a little around it
  close(ends[0]);
  close(ends[1]);
}

TEST(Environment, IsReadable) {
  ASSERT_EQ(setenv("BASE_ENV_TEST", "some value", 1), 0);
  EXPECT_EQ(environment_variable("BASE_ENV_TEST"), "some value");
  EXPECT_EQ(environment_variable("BASE_ENV_TEST_NOT_SET"), "");
  bool found = false;
  for (const char* entry : process_environment()) found |= std::string_view(entry) == "BASE_ENV_TEST=some value";
  EXPECT_TRUE(found);
}

TEST(Environment, DefaultsAreTakenBackAndNothingElse) {
  ASSERT_EQ(setenv("BASE_ENV_GIVEN", "given", 1), 0);
  set_environment_default("BASE_ENV_GIVEN", "default");
  set_environment_default("BASE_ENV_DEFAULT", "default");
  EXPECT_EQ(environment_variable("BASE_ENV_GIVEN"), "given");
  EXPECT_EQ(environment_variable("BASE_ENV_DEFAULT"), "default");
  unset_environment_defaults();
  EXPECT_EQ(environment_variable("BASE_ENV_GIVEN"), "given");
  EXPECT_EQ(environment_variable("BASE_ENV_DEFAULT"), "");
}

TEST(Process, KnowsItselfAndOthers) {
  EXPECT_EQ(process_id(), static_cast<uint32_t>(getpid()));
  EXPECT_NE(process_start_time(), 0u);
  EXPECT_EQ(process_start_time(0x7fffffff), 0u);  // above the kernel's largest process id
  EXPECT_GE(cpu_count(), 1);
  EXPECT_GT(physical_memory_bytes(), size_t{64} << 20);
}

TEST(Random, FillsAllBytes) {
  unsigned char seen[64] = {};
  for (int i = 0; i < 64; ++i) {
    unsigned char drawn[64] = {};
    draw_random(drawn, sizeof(drawn));
    for (int at = 0; at < 64; ++at) seen[at] = static_cast<unsigned char>(seen[at] | drawn[at]);
  }
  for (const unsigned char byte : seen) EXPECT_EQ(byte, 0xff);
  EXPECT_NE(draw_random_number(), draw_random_number());
}

}  // namespace
}  // namespace anygin
