// SPDX-License-Identifier: Apache-2.0
// Ways out of a kernel that is going nowhere: aborted waits, traps, exceptions. The device is lost, others live.
#include <stdexcept>
#include <vector>

#include "support/reaches.h"
#include "unit/simt_kernels.h"

namespace anygin::simt {
namespace {

class SimtFailure : public SimtTest {};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST_F(SimtFailure, AnAbortedWaitEndsTheGridAndLosesTheDevice) {
  uint32_t abort_word = 0, never = 0, returned = 0;
  uint32_t* abort = &abort_word;
  uint32_t* word = &never;
  uint32_t* count = &returned;
  ASSERT_EQ(0, set_current_device(3));
  testing::internal::CaptureStderr();
  // Some lanes wait on the word, some at a barrier, one spins: all of them end.
  ASSERT_EQ(0, launch_callable(blocks_of(4, 96), [=] {
              if (anygin_thread_idx.x == 40) {
                while (__atomic_load_n(word, __ATOMIC_RELAXED) == 0)
                  if (tick()) {
                  }
              }
              if (anygin_thread_idx.x < 32) wait_at_least(word, 1, abort);
              anygin_syncthreads();
              ++*count;
            }));
  EXPECT_TRUE(eventually([] { return parked_lanes() >= 96; })) << "96 lanes to wait, " << parked_lanes() << " do";
  ASSERT_EQ(0, set_current_device(4));
  uint32_t other_go = 0;
  uint32_t* go = &other_go;
  ASSERT_EQ(0, launch_callable(blocks_of(2, 32), [=] { wait_at_least(go, 1); }));
  __atomic_store_n(abort, static_cast<uint32_t>(AbortCause::kPeerDied), __ATOMIC_RELEASE);
  EXPECT_EQ(kCudaLaunchFailure, synchronize_device(3));
  EXPECT_EQ(0u, returned);
  EXPECT_EQ(kCudaLaunchFailure, device_error(3));
  // Every later call on the device says so.
  ASSERT_EQ(0, set_current_device(3));
  EXPECT_EQ(kCudaLaunchFailure, launch_callable(blocks_of(1, 1), [] {}));
  EXPECT_EQ(kCudaLaunchFailure, last_error(true));
  EXPECT_EQ(kCudaLaunchFailure, synchronize_stream(resolve_stream(nullptr)));
  EXPECT_EQ(kCudaLaunchFailure, enqueue_host_work(resolve_stream(nullptr), [] { return 0; }));
  // The other device goes on.
  __atomic_store_n(go, 1, __ATOMIC_RELEASE);
  EXPECT_EQ(0, synchronize_device(4));
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_TRUE(contains(report, "device 3 is lost (cudaError 719)")) << report;
  EXPECT_TRUE(contains(report, "a peer died, in an element")) << report;
}

TEST_F(SimtFailure, LeavingFromALaneEndsTheOthersAtTheirWait) {
  testing::internal::CaptureStderr();
  const int error = run(blocks_of(8, 64), [] {
    if (anygin_block_idx.x == 5 && anygin_thread_idx.x == 33) anygin_leave_kernel(AbortCause::kMisuse);
    if (anygin_block_idx.x >= 4) anygin_named_barrier(1, 64);
    anygin_syncthreads();
  });
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_EQ(kCudaLaunchFailure, error);
  EXPECT_TRUE(contains(report, "block (5,0,0) thread (33,0,0): left the kernel: the device API was misused")) << report;
}

TEST_F(SimtFailure, ATrapNamesItsReason) {
  testing::internal::CaptureStderr();
  const int error = run(blocks_of(1, 64), [] {
    if (anygin_thread_idx.x == 7) anygin_trap("seven is not allowed");
  });
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_EQ(kCudaLaunchFailure, error);
  EXPECT_TRUE(contains(report, "thread (7,0,0): seven is not allowed")) << report;
  REACHES(GIN_ERR_KERNEL_FAULT, report);
}

TEST_F(SimtFailure, AnExceptionDoesNotLeaveTheKernel) {
  testing::internal::CaptureStderr();
  std::vector<int> ran(64, 0);
  int* runs = ran.data();
  const int error = run(blocks_of(1, 64), [runs] {
    runs[anygin_thread_idx.x] = 1;
    if (anygin_thread_idx.x == 9) throw std::runtime_error("nine");
    runs[anygin_thread_idx.x] = 2;
  });
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_EQ(kCudaLaunchFailure, error);
  EXPECT_TRUE(contains(report, "thread (9,0,0): an exception left the kernel: nine")) << report;
  for (size_t thread = 0; thread < 64; ++thread) EXPECT_EQ(thread == 9 ? 1 : 2, ran[thread]);
}

TEST_F(SimtFailure, AnExitIsNoFailure) {
  std::vector<int> ran(64, 0);
  int* runs = ran.data();
  EXPECT_EQ(0, run(blocks_of(1, 64), [runs] {
              if (anygin_thread_idx.x % 2) anygin_lane_exit();
              anygin_syncthreads();
              runs[anygin_thread_idx.x] = 1;
            }));
  for (size_t thread = 0; thread < 64; ++thread) EXPECT_EQ(thread % 2 == 0, ran[thread]);
}

TEST_F(SimtFailure, GridsQueuedOnALostDeviceAreDroppedWithTheirArguments) {
  testing::internal::CaptureStderr();
  uint32_t ran = 0, go = 0;
  uint32_t* count = &ran;
  uint32_t* word = &go;
  const auto argument = std::make_shared<int>(0);
  ASSERT_EQ(0, launch_callable(blocks_of(1, 1), [=] {
              wait_at_least(word, 1);
              anygin_trap("first of the stream");
            }));
  for (int i = 0; i < 3; ++i) ASSERT_EQ(0, launch_callable(blocks_of(2, 32), [argument, count] { ++*count; }));
  bool worked = false;
  ASSERT_EQ(0, enqueue_host_work(resolve_stream(nullptr), [&worked] { return worked = true, 0; }));
  ASSERT_EQ(0, enqueue_wait(
                   resolve_stream(nullptr), [] { return false; }, "for ever"));
  __atomic_store_n(word, 1, __ATOMIC_RELEASE);
  EXPECT_EQ(kCudaLaunchFailure, synchronize_device(0));
  EXPECT_EQ(0u, ran);
  EXPECT_FALSE(worked);
  EXPECT_EQ(1, argument.use_count());
  testing::internal::GetCapturedStderr();
  reset_device(0);
  EXPECT_EQ(0, run(blocks_of(2, 32), [count] { __atomic_fetch_add(count, 1, __ATOMIC_RELAXED); }));
  EXPECT_EQ(64u, ran);
}

TEST_F(SimtFailure, BarriersOfTwoKindsAreReported) {
  testing::internal::CaptureStderr();
  const int error = run(blocks_of(1, 2), [] {
    if (anygin_thread_idx.x == 0) {
      anygin_syncthreads_reduce(BlockReduce::kCount, 1);
    } else {
      anygin_syncthreads();
    }
  });
  const std::string report = testing::internal::GetCapturedStderr();
  EXPECT_EQ(kCudaLaunchFailure, error);
  EXPECT_TRUE(contains(report, "came to __syncthreads() while others of its block wait in __syncthreads_count"))
      << report;
}

TEST_F(SimtFailure, ALaunchFromAKernelIsRefused) {
  int result = 0;
  int* refused = &result;
  testing::internal::CaptureStderr();
  ASSERT_EQ(0, run(blocks_of(1, 1), [refused] { *refused = launch_callable(blocks_of(1, 1), [] {}); }));
  testing::internal::GetCapturedStderr();
  EXPECT_EQ(kCudaNotSupported, result);
}

}  // namespace
}  // namespace anygin::simt
