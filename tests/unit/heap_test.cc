// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/heap.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstring>
#include <map>
#include <vector>

#include "anygin/base/choices_seeded.h"
#include "anygin/base/platform.h"

namespace anygin {
namespace {

constexpr size_t kPage = DeviceHeap::kAlignment;

class Heap : public ::testing::Test {
 protected:
  char* take(size_t bytes, int device = 0) {
    Result<char*> got = heap_.allocate(bytes, device);
    EXPECT_TRUE(got.ok()) << got.status().message();
    return got.ok() ? *got : nullptr;
  }
  size_t resident_bytes() const {
    struct stat file {};
    fstat(heap_.fd(), &file);
    return static_cast<size_t>(file.st_blocks) * 512;
  }

  MemoryMap map_;
  DeviceHeap heap_{map_, 64 * kPage};
};

TEST_F(Heap, GivesAlignedZeroedMemoryThatHasAName) {
  char* a = take(100, 3);
  char* b = take(kPage + 1, 4);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(a) % kPage, 0u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(b) % kPage, 0u);
  for (size_t i = 0; i < kPage + 1; ++i) ASSERT_EQ(b[i], 0);
  const auto name = map_.name_of(b + 5);
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->heap, heap_.id());
  EXPECT_EQ(map_.address(*name), b + 5);
  EXPECT_EQ(heap_.allocated(), 100 + kPage + 1);
  EXPECT_EQ(heap_.capacity(), 64 * kPage);
}

TEST_F(Heap, FindsTheAllocationAroundAnAddress) {
  char* a = take(100, 3);
  const auto found = heap_.find(a + 99);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->base, a);
  EXPECT_EQ(found->bytes, 100u);
  EXPECT_EQ(found->device, 3);
  EXPECT_FALSE(heap_.find(a + 100).has_value());
  EXPECT_FALSE(heap_.find(a - 1).has_value());
  int elsewhere = 0;
  EXPECT_FALSE(heap_.find(&elsewhere).has_value());
  ASSERT_TRUE(heap_.free(a).ok());
  EXPECT_FALSE(heap_.find(a).has_value());
}

TEST_F(Heap, MemoryThatIsGivenOutAgainIsAnotherAllocation) {
  char* a = take(100, 0);
  EXPECT_EQ(heap_.find(a)->serial, 1u);
  ASSERT_TRUE(heap_.free(a).ok());
  ASSERT_EQ(take(100, 0), a);
  EXPECT_EQ(heap_.find(a)->serial, 2u);
}

TEST_F(Heap, ZeroBytesGiveUniquePointers) {
  char* a = take(0);
  char* b = take(0);
  EXPECT_NE(a, b);
  EXPECT_TRUE(heap_.find(a).has_value());
  EXPECT_TRUE(heap_.free(a).ok());
  EXPECT_TRUE(heap_.free(b).ok());
}

TEST_F(Heap, FreedMemoryGoesBackAndComesBackZero) {
  const size_t before = resident_bytes();
  char* a = take(20 * kPage);
  std::memset(a, 0x5a, 20 * kPage);
  EXPECT_GE(resident_bytes(), before + 20 * kPage);
  ASSERT_TRUE(heap_.free(a).ok());
  EXPECT_EQ(resident_bytes(), before);
  char* again = take(20 * kPage);
  EXPECT_EQ(again, a);
  for (size_t i = 0; i < 20 * kPage; ++i) ASSERT_EQ(again[i], 0);
}

TEST_F(Heap, FullIsAnErrorWithNumbers) {
  take(60 * kPage);
  const Result<char*> full = heap_.allocate(3 * kPage, 0);
  ASSERT_FALSE(full.ok());
  EXPECT_EQ(full.status().code(), Code::kCudaError);
  EXPECT_NE(full.status().text().find("12288 bytes asked for; 245760 of 262144 in use, largest free piece 8192"),
            std::string::npos)
      << full.status().text();
  EXPECT_FALSE(heap_.allocate(~size_t{0}, 0).ok());
  EXPECT_TRUE(heap_.allocate(0, 0).ok());  // exactly two pages are left
}

TEST_F(Heap, FreeWantsTheStartOfALiveAllocation) {
  char* a = take(100);
  EXPECT_EQ(heap_.free(a + 1).code(), Code::kInvalidArgument);
  EXPECT_TRUE(heap_.free(a).ok());
  EXPECT_EQ(heap_.free(a).code(), Code::kInvalidArgument);
  int elsewhere = 0;
  EXPECT_EQ(heap_.free(&elsewhere).code(), Code::kInvalidArgument);
}

TEST_F(Heap, HeldMemoryStaysWhereItIsUntilTheLastHoldIsGone) {
  char* a = take(100);
  std::memset(a, 0x5a, 100);
  DeviceHeap::Hold first = heap_.hold(a + 50);
  DeviceHeap::Hold second = heap_.hold(a);
  ASSERT_TRUE(heap_.free(a).ok());
  EXPECT_FALSE(heap_.find(a).has_value()) << "it is no allocation any more";
  EXPECT_EQ(heap_.free(a).code(), Code::kInvalidArgument);
  char* b = take(100);
  EXPECT_NE(b, a);
  EXPECT_EQ(heap_.allocated(), 200u);
  DeviceHeap::Hold moved = std::move(first);
  second = {};
  EXPECT_EQ(a[99], 0x5a);
  moved = {};
  EXPECT_EQ(heap_.allocated(), 100u);
  ASSERT_EQ(take(100), a);
  for (size_t i = 0; i < 100; ++i) ASSERT_EQ(a[i], 0);
}

TEST_F(Heap, HoldsThatEndBeforeTheMemoryIsFreedChangeNothing) {
  char* a = take(100);
  heap_.hold(a);
  EXPECT_TRUE(heap_.find(a).has_value());
  ASSERT_TRUE(heap_.free(a).ok());
  EXPECT_EQ(heap_.allocated(), 0u);
  heap_.hold(a);  // of nothing
  EXPECT_EQ(take(100), a);
}

#if defined(ANYGIN_SANITIZE_ADDRESS)
TEST_F(Heap, RedZonesArePoisoned) {
  volatile char* a = take(100);
  EXPECT_DEATH(a[100] = 1, "use-after-poison");
  EXPECT_DEATH(a[-1] = 1, "use-after-poison");
  EXPECT_DEATH(a[kPage] = 1, "use-after-poison");
  ASSERT_TRUE(heap_.free(const_cast<char*>(a)).ok());
  EXPECT_DEATH(a[0] = 1, "use-after-poison");
}
#else
TEST_F(Heap, FreeSaysWhichSideWasOverwritten) {
  char* a = take(100, 2);
  a[100] = 1;
  ::testing::internal::CaptureStderr();
  const Status behind = heap_.free(a);
  const std::string printed = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(printed.find("overwritten behind its end"), std::string::npos) << "printed: " << printed;
  EXPECT_EQ(behind.code(), Code::kInvalidUsage);
  EXPECT_NE(behind.text().find("overwritten behind its end"), std::string::npos) << behind.text();
  EXPECT_NE(behind.text().find("100 bytes"), std::string::npos);
  char* b = take(kPage);
  b[-1] = 1;
  const Status before = heap_.free(b);
  EXPECT_EQ(before.code(), Code::kInvalidUsage);
  EXPECT_NE(before.text().find("overwritten before its start"), std::string::npos) << before.text();
  EXPECT_TRUE(heap_.find(b).has_value());  // kept: the evidence stays
}
#endif

// Against a model: allocations never overlap, live contents stay, and all comes back.
TEST_F(Heap, AllocatesAndFreesInAnyOrder) {
  SeededChoices choices(1);
  std::map<char*, std::pair<size_t, char>> live;
  for (int round = 0; round < 3000; ++round) {
    const bool take_one = choices.pick_below(ChoiceKind::kDelay, 2) == 0 || live.empty();
    if (take_one) {
      const size_t bytes = choices.pick_below(ChoiceKind::kDelay, 3 * kPage);
      Result<char*> got = heap_.allocate(bytes, 0);
      if (!got.ok()) continue;
      const char fill = static_cast<char>(round);
      for (size_t i = 0; i < bytes; ++i) ASSERT_EQ((*got)[i], 0);
      std::memset(*got, fill, bytes);
      live[*got] = {bytes, fill};
    } else {
      auto victim = live.begin();
      std::advance(victim, static_cast<long>(choices.pick_below(ChoiceKind::kDelay, live.size())));
      for (size_t i = 0; i < victim->second.first; ++i) ASSERT_EQ(victim->first[i], victim->second.second);
      const Status freed = heap_.free(victim->first);
      ASSERT_TRUE(freed.ok()) << freed.message();
      live.erase(victim);
    }
  }
  for (const auto& [base, block] : live) ASSERT_TRUE(heap_.free(base).ok());
  EXPECT_EQ(heap_.allocated(), 0u);
  EXPECT_TRUE(heap_.allocate(62 * kPage, 0).ok());  // in one piece again
}

// The place of kernels of a GPU, without one: remembers what they reach.
class PinningSide final : public KernelSide {
 public:
  bool calls_us() const override { return false; }
  bool pins_memory() const override { return true; }
  Status reach(char* base, size_t bytes) override {
    if (reached.size() == most) return Status(Cause::kOutOfMemory, "test", "no more");
    reached[base] = bytes;
    return Status();
  }
  void release(char* base) override { reached.erase(base); }
  Result<char*> allocate_near(size_t) override { return Status(Cause::kProtocol, "test", "nothing near"); }
  void free_near(char*) override {}
  Status write_near(char*, const void*, size_t) override { return Status(); }

  size_t most = 8;
  std::map<char*, size_t> reached;
};

TEST(PinnedHeap, OpensExtentsThatKernelsReachAsTheyAreNeeded) {
  PinningSide side;
  {
    MemoryMap map;
    DeviceHeap heap(map, 4 * DeviceHeap::kPinnedBytes, side);
    EXPECT_TRUE(side.reached.empty()) << "nothing was asked for";
    char* small = *heap.allocate(100, 0);
    ASSERT_EQ(side.reached.size(), 1u);
    EXPECT_EQ(side.reached.begin()->second, DeviceHeap::kPinnedBytes);
    char* large = *heap.allocate(2 * DeviceHeap::kPinnedBytes, 0);
    EXPECT_EQ(side.reached.size(), 2u);
    EXPECT_GE(large, small + DeviceHeap::kPinnedBytes - kPage);
    const DeviceHeap::Extent first = heap.extent_of(small), second = heap.extent_of(large);
    EXPECT_EQ(first.offset, 0u);
    EXPECT_EQ(first.bytes, DeviceHeap::kPinnedBytes);
    EXPECT_EQ(second.offset, DeviceHeap::kPinnedBytes + kPage) << "a page between, so that nothing spans two extents";
    EXPECT_EQ(second.bytes, 2 * DeviceHeap::kPinnedBytes + 2 * kPage);
    EXPECT_FALSE(heap.allocate(DeviceHeap::kPinnedBytes, 0).ok());
    EXPECT_EQ(side.reached.size(), 2u) << "what does not fit opens nothing";
    EXPECT_TRUE(heap.free(large).ok());
    EXPECT_EQ(heap.extent_of(*heap.allocate(kPage, 0)).offset, 0u);
  }
  EXPECT_TRUE(side.reached.empty()) << "the heap releases what it opened";
}

TEST(PinnedHeap, FreedMemoryKeepsItsPagesAndComesBackZero) {
  PinningSide side;
  MemoryMap map;
  DeviceHeap heap(map, DeviceHeap::kPinnedBytes, side);
  const auto resident = [&] {
    struct stat file {};
    fstat(heap.fd(), &file);
    return static_cast<size_t>(file.st_blocks) * 512;
  };
  char* a = *heap.allocate(20 * kPage, 0);
  std::memset(a, 0x5a, 20 * kPage);
  const size_t before = resident();
  ASSERT_TRUE(heap.free(a).ok());
  EXPECT_GE(resident(), before) << "a hole would part the host's pages from the kernels'";
  char* again = *heap.allocate(20 * kPage, 0);
  EXPECT_EQ(again, a);
  for (size_t i = 0; i < 20 * kPage; ++i) ASSERT_EQ(again[i], 0);
}

TEST(PinnedHeap, SaysWhyKernelsDoNotReachMore) {
  PinningSide side;
  side.most = 0;
  MemoryMap map;
  DeviceHeap heap(map, DeviceHeap::kPinnedBytes, side);
  const Result<char*> refused = heap.allocate(1, 0);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().text(), "no more");
  side.most = 1;
  EXPECT_TRUE(heap.allocate(1, 0).ok());
}

}  // namespace
}  // namespace anygin
