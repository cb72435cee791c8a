// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/memory_map.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <iterator>
#include <thread>
#include <vector>

namespace anygin {
namespace {

TEST(MemoryMap, TurnsNamesIntoAddressesAndBack) {
  MemoryMap map;
  std::vector<char> first(100);
  std::vector<char> second(50);
  const HeapId a = map.add(first.data(), first.size());
  const HeapId b = map.add(second.data(), second.size());
  EXPECT_NE(a, b);
  EXPECT_NE(a, HeapId{});
  EXPECT_EQ(map.address({a, 7}), first.data() + 7);
  EXPECT_EQ(map.address({b, 50}), second.data() + 50);  // the end of an empty range
  EXPECT_EQ(map.bytes(b), 50u);
  EXPECT_EQ(&map.agent(a), &mapped_memory_agent());
  EXPECT_EQ(map.name_of(second.data() + 49), (MemName{b, 49}));
  EXPECT_EQ(map.name_of(first.data()), (MemName{a, 0}));
  EXPECT_FALSE(map.name_of(first.data() + 100) == (MemName{a, 100}));
  int elsewhere = 0;
  EXPECT_FALSE(map.name_of(&elsewhere).has_value());
}

TEST(MemoryMap, ARemovedHeapHasNoNames) {
  MemoryMap map;
  std::vector<char> memory(100);
  const HeapId heap = map.add(memory.data(), memory.size());
  map.remove(heap);
  EXPECT_FALSE(map.name_of(memory.data()).has_value());
  EXPECT_NE(map.add(memory.data(), memory.size()), heap);  // a stale name does not find the new heap
}

TEST(MemoryMapDeathTest, MisuseOfNamesIsCaught) {
  MemoryMap map;
  std::vector<char> memory(100);
  const HeapId heap = map.add(memory.data(), memory.size());
  EXPECT_DEATH(map.address({heap, 101}), "assertion failed");
  EXPECT_DEATH(map.address({HeapId(77), 0}), "assertion failed");
  EXPECT_DEATH(map.address({}), "assertion failed");
  EXPECT_DEATH(map.add(memory.data() + 99, 1), "assertion failed");  // overlaps
}

TEST(MemoryMap, IsReadWhileItChanges) {
  MemoryMap map;
  std::vector<char> stays(64);
  std::vector<char> comes_and_goes(64);
  const HeapId heap = map.add(stays.data(), stays.size());
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::thread reader([&] {
    while (!stop.load()) {
      if (map.name_of(stays.data() + 5) != MemName{heap, 5}) wrong.fetch_add(1);
      const auto name = map.name_of(comes_and_goes.data() + 9);
      if (name && name->offset != 9) wrong.fetch_add(1);
    }
  });
  for (int i = 0; i < 5000; ++i) map.remove(map.add(comes_and_goes.data(), comes_and_goes.size()));
  stop.store(true);
  reader.join();
  EXPECT_EQ(wrong.load(), 0);
}

TEST(SharedMapping, IsZeroAndSharedThroughItsFile) {
  Result<SharedMapping> mine = SharedMapping::create("map-test", 3 * 4096);
  ASSERT_TRUE(mine.ok()) << mine.status().message();
  for (size_t i = 0; i < mine->bytes(); ++i) ASSERT_EQ(mine->base()[i], 0);
  Result<SharedMapping> peers = SharedMapping::adopt(dup(mine->fd()), 3 * 4096);
  ASSERT_TRUE(peers.ok()) << peers.status().message();
  EXPECT_NE(peers->base(), mine->base());
  std::strcpy(peers->base() + 5000, "hello");
  EXPECT_STREQ(mine->base() + 5000, "hello");
}

// Offsets into a heap are then the same in each process, where memory is asked for at a large page.
TEST(SharedMapping, ALargeFileBeginsAtALargePageAndTakesNoMoreThanItself) {
  constexpr size_t kLargePage = size_t{2} << 20, kBytes = 3 * kLargePage + 4096;
  const auto mappings = [] {
    std::ifstream maps("/proc/self/maps");
    return std::count(std::istreambuf_iterator<char>(maps), {}, '\n');
  };
  const auto before = mappings();
  std::vector<SharedMapping> all;
  for (int i = 0; i < 3; ++i) {
    Result<SharedMapping> one = SharedMapping::create("map-test", kBytes);
    ASSERT_TRUE(one.ok()) << one.status().message();
    EXPECT_EQ(reinterpret_cast<uintptr_t>(one->base()) % kLargePage, 0u);
    one->base()[0] = one->base()[kBytes - 1] = 1;
    all.push_back(std::move(*one));
  }
  EXPECT_EQ(mappings(), before + 3);
}

TEST(SharedMapping, MovesLeaveNothingBehind) {
  Result<SharedMapping> made = SharedMapping::create("map-test", 4096);
  ASSERT_TRUE(made.ok());
  char* base = made->base();
  SharedMapping moved = std::move(*made);
  EXPECT_EQ(moved.base(), base);
  EXPECT_EQ(made->base(), nullptr);
  SharedMapping assigned;
  assigned = std::move(moved);
  EXPECT_EQ(assigned.base(), base);
  EXPECT_EQ(assigned.bytes(), 4096u);
}

TEST(SharedMapping, CannotBeShrunkByAPeer) {
  Result<SharedMapping> mine = SharedMapping::create("map-test", 2 * 4096);
  ASSERT_TRUE(mine.ok());
  EXPECT_NE(ftruncate(mine->fd(), 4096), 0);
}

TEST(SharedMapping, AForeignFileIsChecked) {
  Result<SharedMapping> small = SharedMapping::create("map-test", 4096);
  ASSERT_TRUE(small.ok());
  const Result<SharedMapping> too_small = SharedMapping::adopt(dup(small->fd()), 8192);
  ASSERT_FALSE(too_small.ok());
  EXPECT_EQ(too_small.status().code(), Code::kRemoteError);
  EXPECT_EQ(too_small.status().text(), "a peer sent a file of 4096 bytes where 8192 were announced");

  const int unsealed = memfd_create("map-test", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(unsealed, 4096), 0);
  const Result<SharedMapping> shrinkable = SharedMapping::adopt(unsealed, 4096);
  ASSERT_FALSE(shrinkable.ok());
  EXPECT_NE(shrinkable.status().text().find("not sealed"), std::string::npos);
  EXPECT_EQ(fcntl(unsealed, F_GETFD), -1);  // owned, and closed

  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_FALSE(SharedMapping::adopt(ends[0], 1).ok());
  close(ends[1]);
}

}  // namespace
}  // namespace anygin
