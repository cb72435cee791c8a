// SPDX-License-Identifier: Apache-2.0
// cuda::atomic and cuda::atomic_ref on host threads, and their constants.
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <vector>

#include "cuda/atomic"

namespace {

static_assert(cuda::thread_scope_system == 0 && cuda::thread_scope_device == 1 && cuda::thread_scope_block == 2 &&
              cuda::thread_scope_thread == 10);
static_assert(cuda::memory_order_relaxed == 0 && cuda::memory_order_acquire == 2 && cuda::memory_order_seq_cst == 5);
static_assert(sizeof(cuda::atomic<int>) == 4 && sizeof(cuda::atomic<double, cuda::thread_scope_block>) == 8);

TEST(CudaAtomic, EveryOperationGivesTheOldValue) {
  cuda::atomic<int> a{5};
  EXPECT_EQ(a.fetch_add(3), 5);
  EXPECT_EQ(a.fetch_sub(2), 8);
  EXPECT_EQ(a.exchange(12), 6);
  EXPECT_EQ(a.fetch_and(10), 12);
  EXPECT_EQ(a.fetch_or(5), 8);
  EXPECT_EQ(a.fetch_xor(1), 13);
  EXPECT_EQ(a.fetch_max(20), 12);
  EXPECT_EQ(a.fetch_min(-7), 20);
  EXPECT_EQ(a.load(), -7);
  EXPECT_EQ(++a, -6);
  EXPECT_EQ(a--, -6);
  EXPECT_EQ(a += 10, 3);
  EXPECT_EQ(a = 4, 4);
  EXPECT_EQ(static_cast<int>(a), 4);
}
TEST(CudaAtomic, FailedExchangeShowsWhatIsThere) {
  uint64_t word = 7;
  cuda::atomic_ref<uint64_t> ref(word);
  uint64_t expected = 1;
  EXPECT_FALSE(ref.compare_exchange_strong(expected, 9, cuda::memory_order_acq_rel));
  EXPECT_EQ(expected, 7u);
  EXPECT_TRUE(ref.compare_exchange_weak(expected, 9, cuda::memory_order_release, cuda::memory_order_relaxed));
  EXPECT_EQ(word, 9u);
}
TEST(CudaAtomic, FloatsAndPointersAdd) {
  float value = 1.5f;
  cuda::atomic_ref<float, cuda::thread_scope_device> ref(value);
  EXPECT_EQ(ref.fetch_add(2.0f), 1.5f);
  EXPECT_EQ(value, 3.5f);
  int numbers[4] = {};
  cuda::atomic<int*> pointer{numbers};
  EXPECT_EQ(pointer.fetch_add(3), numbers);
  EXPECT_EQ(pointer.fetch_sub(1), numbers + 3);
  EXPECT_EQ(pointer.load(), numbers + 2);
}
TEST(CudaAtomic, SmallSizesLeaveNeighboursAlone) {
  uint8_t bytes[4] = {1, 255, 3, 4};
  cuda::atomic_ref<uint8_t> ref(bytes[1]);
  EXPECT_EQ(ref.fetch_add(1), 255);
  EXPECT_EQ(bytes[0] + bytes[1] * 10 + bytes[2] * 100 + bytes[3] * 1000, 4301);
}
TEST(CudaAtomic, ThreadsLoseNothing) {
  cuda::atomic<double> sum{0.0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 1000; ++i) sum.fetch_add(0.5, cuda::memory_order_relaxed);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(sum.load(), 2000.0);
}
TEST(CudaAtomic, WaitReturnsWhenTheValueChanges) {
  cuda::atomic<int> word{0};
  int payload = 0;
  std::thread writer([&] {
    payload = 42;
    word.store(1, cuda::memory_order_release);
    word.notify_all();
  });
  word.wait(0, cuda::memory_order_acquire);  // ctest bounds it; waits for the writer's store
  EXPECT_EQ(payload, 42);
  writer.join();
}

}  // namespace
