// SPDX-License-Identifier: Apache-2.0
// Which threads the hang verdict asks about, and what it sees of each.
#include "anygin/base/host_threads.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>

#include "anygin/base/env_real.h"
#include "anygin/base/order.h"

namespace anygin {
namespace {

std::optional<HostThread> find(uint32_t id) {
  const std::vector<HostThread> threads = host_threads();
  const auto found = std::find_if(threads.begin(), threads.end(), [id](const HostThread& t) { return t.id == id; });
  return found == threads.end() ? std::nullopt : std::optional<HostThread>(*found);
}

// Polls for at most two seconds.
template <typename Condition>
bool comes_true(const Condition& condition) {
  for (int turn = 0; turn < 2000; ++turn) {
    if (condition()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

TEST(HostThreads, AThreadIsKnownFromItsFirstCallToItsEnd) {
  std::atomic<uint32_t> id{0};
  std::atomic<int> stage{0};
  std::thread thread([&] {
    id = thread_id();
    stage = 1;
    while (stage != 2) std::this_thread::yield();
    {
      const ApiCall outer("outer");
      const ApiCall inner("inner");
      stage = 3;
      while (stage != 4) std::this_thread::yield();
    }
    stage = 5;
    while (stage != 6) std::this_thread::yield();
  });
  ASSERT_TRUE(comes_true([&] { return stage == 1; }));
  EXPECT_FALSE(find(id).has_value());
  stage = 2;
  ASSERT_TRUE(comes_true([&] { return stage == 3; }));
  ASSERT_TRUE(find(id).has_value());
  EXPECT_EQ(find(id)->call, "inner");
  EXPECT_TRUE(find(id)->inside);
  EXPECT_FALSE(find(id)->waits);
  stage = 4;
  ASSERT_TRUE(comes_true([&] { return stage == 5; }));
  EXPECT_EQ(find(id)->call, "outer");
  EXPECT_FALSE(find(id)->inside);
  stage = 6;
  thread.join();
  EXPECT_FALSE(find(id).has_value());
}

TEST(HostThreads, ABlockedThreadWaits) {
  std::atomic<uint32_t> id{0};
  std::atomic<bool> go{false};
  std::thread thread([&] {
    id = thread_id();
    wait_until([&go] { return go.load(); }, nullptr, WaitReason{});
    id = 0;
  });
  EXPECT_TRUE(comes_true([&] { return id != 0 && find(id).has_value() && find(id)->waits; }));
  go = true;
  thread.join();
}

TEST(HostThreads, JoiningAThreadIsWaitingForAnother) {
  std::atomic<bool> go{false};
  std::atomic<uint32_t> joiner_id{0}, sleeper_id{0};
  std::thread sleeper([&] {
    sleeper_id = thread_id();
    while (!go) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  });
  std::thread joiner([&] {
    joiner_id = thread_id();
    sleeper.join();
  });
  EXPECT_TRUE(comes_true([&] { return joiner_id != 0 && waits_for_another_thread(joiner_id); }));
  EXPECT_FALSE(waits_for_another_thread(sleeper_id));
  EXPECT_FALSE(waits_for_another_thread(thread_id()));
  go = true;
  joiner.join();
}

}  // namespace
}  // namespace anygin
