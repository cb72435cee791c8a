// SPDX-License-Identifier: Apache-2.0
// atomicAdd and its family on lanes, spins that only the yield points let end, and failing grids.
#include <gtest/gtest.h>

#include "cuda/atomic"
#include "cuda_bf16.h"
#include "cuda_fp16.h"
#include "lane_builtins.h"

namespace {

using anygin::test::on_lanes;

TEST(LaneAtomics, IntegersOfEveryOperation) {
  const auto seen = on_lanes<unsigned>(
      256,
      [](unsigned* out) {
        const unsigned me = threadIdx.x;
        atomicAdd(&out[0], me);
        atomicSub(&out[1], 1);
        atomicMax(&out[2], me);
        atomicMin(reinterpret_cast<int*>(&out[3]), -static_cast<int>(me));
        atomicOr(&out[4], 1u << (me % 32));
        atomicXor(&out[5], me);
        atomicInc(&out[6], 9);
        atomicDec(&out[7], 9);
        atomicAdd_system(&out[8], 2u);
        atomicAdd_block(&out[8], 1u);
      },
      9);
  EXPECT_EQ(seen[0], 255u * 128);
  EXPECT_EQ(seen[1], 0u - 256);
  EXPECT_EQ(seen[2], 255u);
  EXPECT_EQ(static_cast<int>(seen[3]), -255);
  EXPECT_EQ(seen[4], ~0u);
  EXPECT_EQ(seen[5], 0u);
  EXPECT_EQ(seen[6], 6u);  // 256 steps of a count of 10
  EXPECT_EQ(seen[7], 4u);  // 0, then 9 down: 256 = 25 rounds of 10 and 6 steps
  EXPECT_EQ(seen[8], 768u);
}
TEST(LaneAtomics, WideAndFloatingTypes) {
  struct Words {
    unsigned long long u;
    double d;
    float f;
    __half h;
    __nv_bfloat16 b;
    __half2 pair;
  };
  const auto seen = on_lanes<Words>(
      128,
      [](Words* out) {
        atomicAdd(&out->u, 1ull << 33);
        atomicAdd(&out->d, 0.25);
        atomicAdd(&out->f, 0.5f);
        atomicAdd(&out->h, __half(1.0f));
        atomicAdd(&out->b, __nv_bfloat16(1.0f));
        atomicAdd(&out->pair, __floats2half2_rn(1.0f, -1.0f));
      },
      1);
  EXPECT_EQ(seen[0].u, 128ull << 33);
  EXPECT_EQ(seen[0].d, 32.0);
  EXPECT_EQ(seen[0].f, 64.0f);
  EXPECT_EQ(static_cast<float>(seen[0].h), 128.0f);
  EXPECT_EQ(static_cast<float>(seen[0].b), 128.0f);
  EXPECT_EQ(__high2float(seen[0].pair), -128.0f);
}
TEST(LaneAtomics, OldValuesAreAllDifferent) {
  const auto seen = on_lanes<int>(
      64, [](int* out) { out[1 + atomicAdd(&out[0], 1)] += 1; }, 65);
  EXPECT_EQ(seen[0], 64);
  for (size_t i = 1; i < 65; ++i) ASSERT_EQ(seen[i], 1) << i;
}

// Each lane spins for the one after it; the first to run is the last to be let go.
TEST(LaneSpins, EndThroughYieldPoints) {
  const auto by_exchange = on_lanes<int>(
      64,
      [](int* out) {
        while (atomicCAS(&out[0], 0, 1) != 0) {
        }
        out[1] += 1;
        __threadfence();
        atomicExch(&out[0], 0);
      },
      2);
  EXPECT_EQ(by_exchange[1], 64);
  const auto by_load = on_lanes<int>(64, [](int* out) {
    const unsigned me = threadIdx.x;
    if (me < 63) {
      cuda::atomic_ref<int, cuda::thread_scope_block> next(out[me + 1]);
      while (next.load(cuda::memory_order_acquire) == 0) {
      }
    }
    cuda::atomic_ref<int, cuda::thread_scope_block>(out[me]).store(1, cuda::memory_order_release);
  });
  for (int one : by_load) ASSERT_EQ(one, 1);
  const auto by_hint = on_lanes<int>(2, [](int* out) {
    if (threadIdx.x == 0) {
      while (__ldcv(&out[1]) == 0) {
      }
    }
    __stwt(&out[threadIdx.x], 5);
  });
  EXPECT_EQ(by_hint[0], 5);
}
TEST(LaneSpins, WaitParksTheLane) {
  const auto seen = on_lanes<int>(2, [](int* out) {
    if (threadIdx.x == 0) {
      cuda::atomic_ref<int>(out[1]).wait(0);
      out[0] = out[1] + 1;
    } else {
      cuda::atomic_ref<int>(out[1]).store(41);
    }
  });
  EXPECT_EQ(seen[0], 42);
}

// A lane that fails takes its device with it: a device of its own, set right afterwards.
class LaneFailure : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(cudaSetDevice(3), cudaSuccess); }
  void TearDown() override {
    EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    cudaGetLastError();
  }
};

TEST_F(LaneFailure, TrapLosesTheDevice) {
  anygin::simt::LaunchShape shape;
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(anygin::simt::launch_callable(shape, [] { __trap(); }), cudaSuccess);
  const cudaError_t recorded = cudaEventRecord(event);  // the grid may have failed already
  EXPECT_TRUE(recorded == cudaSuccess || recorded == cudaErrorLaunchFailure);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  void* pointer = nullptr;
  EXPECT_EQ(cudaMalloc(&pointer, 16), cudaErrorLaunchFailure);  // sticky
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaGetLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorLaunchFailure);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaErrorLaunchFailure);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorLaunchFailure);  // of the thread, not yet asked for on this device
  cudaGetLastError();
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
  if (recorded == cudaSuccess) {
    EXPECT_EQ(cudaEventQuery(event), cudaErrorLaunchFailure);
    EXPECT_EQ(cudaEventSynchronize(event), cudaErrorLaunchFailure);
  }
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
  cudaGetLastError();
  ASSERT_EQ(cudaSetDevice(3), cudaSuccess);
}
TEST_F(LaneFailure, FailedAssertionFailsTheGridNotTheProcess) {
  anygin::simt::LaunchShape shape;
  shape.block = {2, 1, 1};
  testing::internal::CaptureStderr();
  ASSERT_EQ(anygin::simt::launch_callable(shape, [] { assert(threadIdx.x == 0); }), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorAssert);
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_NE(text.find("block: [0,0,0], thread: [1,0,0] Assertion `threadIdx.x == 0` failed."), std::string::npos)
      << text;
}

}  // namespace
