// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/memory_agent.h"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "support/world_fixture.h"

namespace anygin {
namespace {

class MappedAgent : public testing::WorldFixture {
 protected:
  static constexpr size_t kBytes = 64 * 1024;

  MappedAgent() : heap_(world_.memory.add(reinterpret_cast<char*>(memory_.data()), kBytes)) {}

  char* bytes() { return reinterpret_cast<char*>(memory_.data()); }
  MemName at(uint64_t offset) const { return {heap_, offset}; }

  std::vector<uint64_t> memory_ = std::vector<uint64_t>(kBytes / 8);
  HeapId heap_;
  MemoryAgent& agent_ = mapped_memory_agent();
};

TEST_F(MappedAgent, CopiesAnyLengthFromAndToAnyAlignment) {
  std::vector<char> source(5000);
  for (size_t i = 0; i < source.size(); ++i) source[i] = static_cast<char>(i * 7 + i / 256);
  for (const size_t length : {0u, 1u, 2u, 7u, 8u, 9u, 15u, 16u, 127u, 128u, 129u, 136u, 1023u, 1024u, 1025u, 4100u}) {
    for (size_t to = 0; to < 9; ++to) {
      for (size_t from = 0; from < 9; ++from) {
        std::memset(bytes(), '.', 5000);
        EXPECT_EQ(agent_.write(at(100 + to), source.data() + from, length), kDone);
        ASSERT_EQ(std::memcmp(bytes() + 100 + to, source.data() + from, length), 0) << length << " " << to;
        ASSERT_EQ(bytes()[100 + to - 1], '.');
        ASSERT_EQ(bytes()[100 + to + length], '.');
      }
    }
  }
}

TEST_F(MappedAgent, ReadsAndCopiesByName) {
  std::strcpy(bytes() + 3000, "payload");
  agent_.copy(at(9001), at(3000), 8);
  EXPECT_STREQ(bytes() + 9001, "payload");
  std::array<char, 8> out{};
  EXPECT_TRUE(agent_.poll(agent_.read(out.data(), at(9001), out.size())));
  EXPECT_STREQ(out.data(), "payload");
}

TEST_F(MappedAgent, AddsWrapAndReturnTheOldValue) {
  memory_[5] = ~uint64_t{0} - 1;
  uint64_t old = 0;
  agent_.fetch_add(at(40), 3, &old);
  EXPECT_EQ(old, ~uint64_t{0} - 1);
  EXPECT_EQ(memory_[5], 1u);
  agent_.fetch_add(at(40), 4, nullptr);
  EXPECT_EQ(memory_[5], 5u);
}

TEST_F(MappedAgent, NoAddIsLost) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int n = 0; n < 20'000; ++n) agent_.fetch_add(at(8), 1, nullptr);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(memory_[1], 80'000u);
}

// Writes whole areas of one byte after another; a reader must never see a word of two different bytes.
TEST_F(MappedAgent, AlignedWordsAreNotTorn) {
  struct Shape {
    size_t to, length;
  };
  for (const Shape shape :
       {Shape{0, 8}, Shape{8, 120}, Shape{3, 101}, Shape{4, 777}, Shape{16, 4096}, Shape{5, 9000}}) {
    std::array<std::vector<char>, 4> patterns;
    for (size_t i = 0; i < patterns.size(); ++i)
      patterns[i].assign(shape.length + 3, static_cast<char>(0x11 * (i + 1)));
    std::memset(bytes(), 0x11, kBytes);
    const size_t first = (shape.to + 7) / 8;
    const size_t last = (shape.to + shape.length) / 8;
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> torn{0};
    std::thread reader([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        for (size_t i = first; i < last; ++i) {
          const uint64_t word = __atomic_load_n(&memory_[i], __ATOMIC_RELAXED);
          if (word != (word & 0xff) * 0x0101010101010101) torn.store(word);
        }
      }
    });
    for (size_t round = 0; round < 3000; ++round) {
      agent_.write(at(shape.to), patterns[round % 4].data() + round % 3, shape.length);
    }
    stop.store(true);
    reader.join();
    EXPECT_EQ(torn.load(), 0u) << "at " << shape.to << ", " << shape.length << " bytes";
  }
}

}  // namespace
}  // namespace anygin
