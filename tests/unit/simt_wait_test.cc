// SPDX-License-Identifier: Apache-2.0
// Waits: parked and raw, across blocks and devices, with more blocks than are resident at first; deadlines.
#include <array>
#include <atomic>
#include <vector>

#include "support/sanitizer_sizes.h"
#include "unit/simt_kernels.h"

namespace anygin::simt {
namespace {

using anygin::testing::size_under_tsan;

class SimtWait : public SimtTest {};

void bump(uint32_t* word) {
  __atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL);
}

TEST_F(SimtWait, EarlyBlocksWaitForLateOnes) {
  constexpr unsigned kBlocks = 64, kThreads = size_under_tsan(512u, 32u);
  uint32_t arrived = 0;
  std::vector<uint32_t> seen(kBlocks, 0);
  uint32_t* word = &arrived;
  uint32_t* results = seen.data();
  // All 64 blocks have to be resident at once, though each grid starts with one a worker.
  ASSERT_EQ(0, run(blocks_of(kBlocks, kThreads), [=] {
              if (anygin_thread_idx.x == 0) {
                bump(word);
                wait_at_least(word, kBlocks);
                results[anygin_block_idx.x] = *word;
              }
              anygin_syncthreads();
            }));
  EXPECT_EQ(seen, std::vector<uint32_t>(kBlocks, kBlocks));
}

TEST_F(SimtWait, BlocksOfEightDevicesMeetManyTimes) {
  constexpr unsigned kDevices = 8, kBlocks = 16, kThreads = size_under_tsan(256u, 16u), kRounds = 20;
  ASSERT_LE(static_cast<int>(kDevices), device_count());
  std::vector<uint32_t> arrived(kBlocks, 0);
  std::atomic<unsigned> early{0};
  uint32_t* words = arrived.data();
  auto* wrong = &early;
  for (unsigned device = 0; device < kDevices; ++device) {
    ASSERT_EQ(0, set_current_device(static_cast<int>(device)));
    ASSERT_EQ(0, launch_callable(blocks_of(kBlocks, kThreads), [=] {
                uint32_t* word = &words[anygin_block_idx.x];
                for (uint32_t round = 1; round <= kRounds; ++round) {
                  anygin_syncthreads();
                  if (anygin_thread_idx.x == 0) {
                    bump(word);
                    wait_at_least(word, round * kDevices);
                  }
                  anygin_syncthreads();
                  if (__atomic_load_n(word, __ATOMIC_RELAXED) < round * kDevices) ++*wrong;
                }
              }));
  }
  for (unsigned device = 0; device < kDevices; ++device) EXPECT_EQ(0, synchronize_device(static_cast<int>(device)));
  EXPECT_EQ(0u, early.load());
  EXPECT_EQ(arrived, std::vector<uint32_t>(kBlocks, kRounds * kDevices));
}

TEST_F(SimtWait, ARawSpinChainThroughAllLanesAndBlocks) {
  constexpr unsigned kBlocks = 6, kThreads = 64;
  uint32_t turn = 0;
  uint32_t* word = &turn;
  // Highest thread first: every lane starts by spinning.
  ASSERT_EQ(0, run(blocks_of(kBlocks, kThreads), [word] {
              const uint32_t mine = kBlocks * kThreads - 1 - static_cast<uint32_t>(global_thread());
              while (read_raw(word) != mine)
                if (tick()) {
                }
              __atomic_store_n(word, mine + 1, __ATOMIC_RELEASE);
            }));
  EXPECT_EQ(kBlocks * kThreads, turn);
}

TEST_F(SimtWait, AHostThreadReleasesASpinAndAParkedWait) {
  uint32_t go = 0, done = 0;
  uint32_t* word = &go;
  uint32_t* count = &done;
  ASSERT_EQ(0, launch_callable(blocks_of(2, 32), [=] {
              if (anygin_block_idx.x == 0) {
                wait_at_least(word, 1);
              } else {
                while (read_raw(word) == 0)
                  if (tick()) {
                  }
              }
              bump(count);
            }));
  EXPECT_TRUE(eventually([] { return parked_lanes() == 64; })) << "64 lanes to wait, " << parked_lanes() << " do";
  EXPECT_EQ(kCudaNotReady, query_stream(resolve_stream(nullptr)));
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);  // nobody rings: the backstop finds it
  EXPECT_EQ(0, synchronize_device(0));
  EXPECT_EQ(64u, done);
}

TEST_F(SimtWait, ADeadlineEndsAWaitAndANap) {
  const Time begin = world().clock.now();
  uint32_t never = 0;
  std::array<Time, 2> ended{};
  std::array<WaitOutcome, 1> outcome{WaitOutcome::kSatisfied};
  uint32_t* word = &never;
  Time* times = ended.data();
  WaitOutcome* how = outcome.data();
  ASSERT_EQ(0, run(blocks_of(1, 2), [=] {
              if (anygin_thread_idx.x == 0) {
                how[0] = wait_at_least(word, 1, nullptr, begin + 3 * kMillisecond);
              } else {
                anygin_nanosleep(2'000'000);
              }
              times[anygin_thread_idx.x] = anygin_clock_ns() * kNanosecond;
            }));
  EXPECT_EQ(WaitOutcome::kDeadline, outcome[0]);
  EXPECT_GE(ended[0], begin + 3 * kMillisecond - kNanosecond);
  EXPECT_GE(ended[1], begin + 2 * kMillisecond - kNanosecond);
  EXPECT_LT(ended[0], begin + kSecond);
}

TEST_F(SimtWait, AClockLoopLetsOthersRun) {
  uint32_t released = 0;
  uint32_t* word = &released;
  // The first lane gives up after 5 s; the second releases it.
  ASSERT_EQ(0, run(blocks_of(1, 2), [word] {
              if (anygin_thread_idx.x == 1) return bump(word);
              const uint64_t begin_ns = anygin_clock_ns();
              while (__atomic_load_n(word, __ATOMIC_ACQUIRE) == 0 && anygin_clock_ns() - begin_ns < 5'000'000'000) {
                (void)tick();  // as clock64() does
              }
              if (anygin_clock_ns() - begin_ns < 5'000'000'000) bump(word);
            }));
  EXPECT_EQ(2u, released);
}

TEST_F(SimtWait, EveryBlockedLaneIsNamedWithWhatItWaitsFor) {
  uint64_t cell = 3;
  uint64_t* word = &cell;
  ASSERT_EQ(0, launch_callable({{1, 2, 1}, {2, 2, 1}}, [word] {
              if (anygin_linear_thread == 3) return;
              if (anygin_block_idx.y == 0 && anygin_linear_thread < 2) anygin_syncthreads();
              WaitReason reason;
              reason.kind = WaitKind::kSignal;
              reason.rank = 5;
              reason.context = 1;
              reason.index = 9;
              reason.want = 4;
              reason.cell = word;
              wait_until([word] { return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= 4; }, nullptr, reason);
            }));
  EXPECT_TRUE(eventually([] { return parked_lanes() == 6; })) << "6 lanes to wait, " << parked_lanes() << " do";
  const std::vector<BlockedLane> lanes = blocked_lanes(100);
  EXPECT_EQ(0u, runnable_lanes());
  EXPECT_EQ(2u, blocked_lanes(2).size());
  ASSERT_EQ(6u, lanes.size());
  EXPECT_EQ("__syncthreads: 2 of 3 came", lanes[0].what);
  EXPECT_EQ("__syncthreads: 2 of 3 came", lanes[1].what);
  for (size_t i = 2; i < 6; ++i) {
    EXPECT_EQ("waitSignal of rank 5, context 1 index 9: wants 4, is 3; 1 more signalled by any rank would end it",
              lanes[i].what);
  }
  EXPECT_EQ(0u, lanes[2].thread[0]);
  EXPECT_EQ(1u, lanes[2].thread[1]);
  EXPECT_EQ(1u, lanes[5].block[1]);
  EXPECT_EQ(0, lanes[5].device);
  EXPECT_EQ("kernel", lanes[5].kernel);
  __atomic_store_n(word, 4, __ATOMIC_RELEASE);
  EXPECT_EQ(0, synchronize_device(0));
  EXPECT_TRUE(blocked_lanes(100).empty());
}

TEST_F(SimtWait, AFullDeviceAdmitsTheNextGridWhenThereIsRoom) {
  uint32_t go = 0, ran = 0;
  uint32_t* word = &go;
  uint32_t* count = &ran;
  Stream* first = create_stream(0, true);
  Stream* second = create_stream(0, true);
  // All the threads that a device holds, or all the blocks.
  constexpr unsigned kBlocks = size_under_tsan(32u, 512u), kThreads = size_under_tsan(1024u, 4u);
  LaunchShape full = blocks_of(kBlocks, kThreads);
  full.stream = first;
  ASSERT_EQ(0, launch_callable(full, [=] {
              if (anygin_thread_idx.x == 0) wait_at_least(word, 1);
              anygin_syncthreads();
            }));
  EXPECT_TRUE(eventually([] { return parked_lanes() == kBlocks * kThreads; }))
      << "all lanes to wait, " << parked_lanes() << " do";
  LaunchShape small = blocks_of(1, 32);
  small.stream = second;
  ASSERT_EQ(0, launch_callable(small, [=] { bump(count); }));
  EXPECT_EQ(kCudaNotReady, query_stream(second));
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  EXPECT_EQ(0, synchronize_stream(second));
  EXPECT_EQ(0, synchronize_stream(first));
  EXPECT_EQ(32u, ran);
  EXPECT_EQ(0, destroy_stream(first));
  EXPECT_EQ(0, destroy_stream(second));
}

}  // namespace
}  // namespace anygin::simt
