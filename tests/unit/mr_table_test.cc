// SPDX-License-Identifier: Apache-2.0
// The published region table: keys, bounds, and a reader beside a writer.
#include "anygin/emulated/fabric/mr_table.h"

#include <gtest/gtest.h>

#include <memory>
#include <thread>

namespace anygin::emulated {
namespace {

RegionRecord region(uint64_t address, uint64_t bytes, uint32_t access = kAccessRemoteWrite) {
  RegionRecord record;
  record.access = access;
  record.address = address;
  record.bytes = bytes;
  record.heap_offset = address * 2;
  record.in_heap = true;
  return record;
}

class MrTable : public ::testing::Test {
 protected:
  std::unique_ptr<MrTableMemory> memory_ = std::make_unique<MrTableMemory>();
  MrTableWriter writer_{*memory_};
};

TEST_F(MrTable, FindsWhatIsPublished) {
  const auto key = writer_.publish(region(0x1000, 0x100));
  ASSERT_TRUE(key);
  const auto found = find_region(*memory_, *key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->key, *key);
  EXPECT_EQ(found->address, 0x1000u);
  EXPECT_EQ(found->bytes, 0x100u);
  EXPECT_EQ(found->heap_offset, 0x2000u);
  EXPECT_TRUE(found->in_heap);
}

TEST_F(MrTable, KeysOfNobodyFindNothing) {
  EXPECT_FALSE(find_region(*memory_, 0));
  EXPECT_FALSE(find_region(*memory_, 0xff));
  EXPECT_FALSE(find_region(*memory_, 5 << 8 | 1));
  EXPECT_FALSE(find_region(*memory_, kMrSlots << 8 | 1));
  EXPECT_FALSE(find_region(*memory_, ~uint32_t{0}));
}

TEST_F(MrTable, AStaleKeyDoesNotReachTheNextRegionInItsSlot) {
  const auto first = writer_.publish(region(0x1000, 0x100));
  ASSERT_TRUE(first);
  writer_.withdraw(*first);
  EXPECT_FALSE(find_region(*memory_, *first));
  uint32_t same_slot = 0;
  for (uint32_t i = 0; i < kMrSlots - 1; ++i) {
    const auto key = writer_.publish(region(0x5000 + i, 1));
    ASSERT_TRUE(key);
    if (key_slot(*key) == key_slot(*first)) same_slot = *key;
  }
  EXPECT_FALSE(writer_.publish(region(1, 1))) << "all slots are taken";
  ASSERT_NE(same_slot, 0u);
  EXPECT_NE(same_slot, *first);
  EXPECT_TRUE(find_region(*memory_, same_slot));
  EXPECT_FALSE(find_region(*memory_, *first));
}

TEST_F(MrTable, BoundsAndRights) {
  const RegionRecord record = region(0x1000, 0x100, kAccessRemoteWrite | kAccessRemoteAtomic);
  EXPECT_TRUE(region_allows(record, 0x1000, 0x100, kAccessRemoteWrite));
  EXPECT_TRUE(region_allows(record, 0x10ff, 1, kAccessRemoteAtomic));
  EXPECT_TRUE(region_allows(record, 0x1100, 0, kAccessRemoteWrite));
  EXPECT_FALSE(region_allows(record, 0x1000, 0x101, kAccessRemoteWrite));
  EXPECT_FALSE(region_allows(record, 0xfff, 1, kAccessRemoteWrite));
  EXPECT_FALSE(region_allows(record, 0x1100, 1, kAccessRemoteWrite));
  EXPECT_FALSE(region_allows(record, 0x10ff, ~uint64_t{0}, kAccessRemoteWrite));
  EXPECT_FALSE(region_allows(record, 0x1000, 1, kAccessRemoteRead));
}

TEST_F(MrTable, AReaderNeverSeesHalfAnEntry) {
  std::atomic<uint32_t> key{0};
  std::atomic<bool> stop{false};
  std::thread owner([&] {
    for (uint64_t i = 1; !stop.load(); ++i) {
      const auto published = writer_.publish(region(i << 12, i));
      key.store(*published);
      for (int spin = 0; spin < 50; ++spin) (void)key.load();
      writer_.withdraw(*published);
    }
  });
  uint64_t found = 0;
  for (int i = 0; i < 20'000'000 && found < 1000; ++i) {
    if (i % 1024 == 0) std::this_thread::yield();
    const auto record = find_region(*memory_, key.load());
    if (!record) continue;
    ++found;
    ASSERT_EQ(record->address >> 12, record->bytes);
    ASSERT_EQ(record->heap_offset, record->address * 2);
  }
  stop.store(true);
  owner.join();
  EXPECT_GT(found, 0u);
}

}  // namespace
}  // namespace anygin::emulated
