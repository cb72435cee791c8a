// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "anygin/base/executor.h"
#include "anygin/base/memory_map.h"

namespace anygin {
namespace {

constexpr uint64_t kTooLongNs = 5'000'000'000;

struct Table {
  WakeWord word[2];
  std::atomic<int> turn{0};
};

// Plays `rounds` turns of ping-pong, asleep whenever it is not our turn. False if a wake-up was lost.
bool play(Table& table, int me, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    const int mine = 2 * round + me;
    while (true) {
      const uint32_t seen = table.word[me].value.load();
      if (table.turn.load() == mine) break;
      const auto before = std::chrono::steady_clock::now();
      sleep_on(table.word[me], seen, kTooLongNs);
      if (std::chrono::steady_clock::now() - before > std::chrono::nanoseconds(kTooLongNs / 2)) return false;
    }
    table.turn.store(mine + 1);
    ring(table.word[1 - me]);
  }
  return true;
}

TEST(Wake, NoWakeUpIsLostBetweenThreads) {
  Table table;
  bool other = false;
  std::thread thread([&] { other = play(table, 1, 20'000); });
  EXPECT_TRUE(play(table, 0, 20'000));
  thread.join();
  EXPECT_TRUE(other);
  EXPECT_EQ(table.turn.load(), 40'000);
  EXPECT_EQ(table.word[0].sleepers.load(), 0u);
  EXPECT_EQ(table.word[1].sleepers.load(), 0u);
}

TEST(Wake, NoWakeUpIsLostBetweenProcesses) {
  Result<SharedMapping> shared = SharedMapping::create("wake-test", sizeof(Table));
  ASSERT_TRUE(shared.ok()) << shared.status().message();
  auto* table = new (shared->base()) Table;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) _exit(play(*table, 1, 5'000) ? 0 : 1);
  EXPECT_TRUE(play(*table, 0, 5'000));
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(Wake, DoesNotSleepIfTheWordMovedOn) {
  WakeWord word;
  const uint32_t seen = word.value.load();
  ring(word);
  const auto before = std::chrono::steady_clock::now();
  sleep_on(word, seen, kTooLongNs);
  EXPECT_LT(std::chrono::steady_clock::now() - before, std::chrono::seconds(1));
}

TEST(Wake, SleepsNoLongerThanAsked) {
  WakeWord word;
  const auto before = std::chrono::steady_clock::now();
  sleep_on(word, word.value.load(), 20'000'000);
  const auto slept = std::chrono::steady_clock::now() - before;
  EXPECT_GE(slept, std::chrono::milliseconds(15));
  EXPECT_LT(slept, std::chrono::seconds(2));
}

}  // namespace
}  // namespace anygin
