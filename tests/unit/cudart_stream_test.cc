// SPDX-License-Identifier: Apache-2.0
// Streams and events through libcudart: order, the legacy stream, time, handles that are none.
// Streams are held by a kernel of one lane that waits for a word; every test lets it go.
#include <gtest/gtest.h>

#include <cstring>
#include <vector>

#include "anygin/base/world.h"
#include "anygin/simt/device_runtime.h"
#include "cuda/atomic"
#include "cuda_runtime.h"

namespace {

using Word = cuda::atomic_ref<int, cuda::thread_scope_system>;

class CudartStream : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(&gate_, sizeof(int)), cudaSuccess);
    *gate_ = 0;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&data_, 1 << 22), cudaSuccess);
    cudaGetLastError();
  }
  void TearDown() override {
    open_gate();
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(cudaFree(data_), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(gate_), cudaSuccess);
  }
  // The stream gets no further until open_gate().
  void hold(cudaStream_t stream) {
    anygin::simt::LaunchShape shape;
    shape.stream = stream;
    int* gate = gate_;
    ASSERT_EQ(anygin::simt::launch_callable(shape, [gate] { Word(*gate).wait(0); }), cudaSuccess);
  }
  void open_gate() {
    Word(*gate_).store(1);
    anygin::ring(anygin::world().executor.wake_word());
  }
  int* gate_ = nullptr;
  unsigned char* data_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

TEST_F(CudartStream, WorkRunsInOrder) {
  hold(stream_);
  std::vector<unsigned char> source(1 << 22, 5), back(1 << 22, 0);
  ASSERT_EQ(cudaMemsetAsync(data_, 9, source.size(), stream_), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(data_, source.data(), source.size() / 2, cudaMemcpyHostToDevice, stream_), cudaSuccess);
  ASSERT_EQ(cudaMemcpyAsync(back.data(), data_, back.size(), cudaMemcpyDeviceToHost, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream_), cudaErrorNotReady);
  EXPECT_EQ(cudaPeekAtLastError(), cudaSuccess);  // an answer, not an error
  EXPECT_EQ(back, std::vector<unsigned char>(back.size(), 0));
  open_gate();
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  std::vector<unsigned char> wanted(back.size(), 9);
  std::memset(wanted.data(), 5, wanted.size() / 2);
  EXPECT_EQ(back, wanted);
  EXPECT_EQ(cudaStreamQuery(stream_), cudaSuccess);
}
TEST_F(CudartStream, NonBlockingStreamsPassTheLegacyStream) {
  hold(cudaStreamLegacy);
  ASSERT_EQ(cudaMemsetAsync(data_, 1, 16, stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(nullptr), cudaErrorNotReady);
}
TEST_F(CudartStream, BlockingStreamsWaitForTheLegacyStream) {
  cudaStream_t blocking = nullptr;
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  hold(cudaStreamLegacy);
  ASSERT_EQ(cudaMemsetAsync(data_, 1, 16, blocking), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(blocking), cudaErrorNotReady);
  open_gate();
  EXPECT_EQ(cudaStreamSynchronize(blocking), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(blocking), cudaSuccess);
}
TEST_F(CudartStream, SynchronousCopiesWaitForBlockingStreams) {
  cudaStream_t blocking = nullptr;
  ASSERT_EQ(cudaStreamCreate(&blocking), cudaSuccess);
  unsigned char value = 0;
  anygin::simt::LaunchShape shape;
  shape.stream = blocking;
  unsigned char* data = data_;
  ASSERT_EQ(anygin::simt::launch_callable(shape,
                                          [data] {
                                            __nanosleep(2'000'000);
                                            *data = 77;
                                          }),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpy(&value, data_, 1, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(value, 77);
  EXPECT_EQ(cudaStreamDestroy(blocking), cudaSuccess);
}
TEST_F(CudartStream, FillOfABusyStreamDoesNotWait) {
  ASSERT_EQ(cudaMemset(data_, 3, 16), cudaSuccess);  // idle: done at once
  unsigned char first = data_[0];
  EXPECT_EQ(first, 3);
  hold(cudaStreamLegacy);
  ASSERT_EQ(cudaMemset(data_, 4, 16), cudaSuccess);  // would hang here if it waited
  open_gate();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  EXPECT_EQ(data_[15], 4);
}
TEST_F(CudartStream, HostFunctionsRunInOrder) {
  struct Log {
    std::vector<int> seen;
  } log;
  hold(stream_);
  ASSERT_EQ(cudaLaunchHostFunc(
                stream_, [](void* p) { static_cast<Log*>(p)->seen.push_back(1); }, &log),
            cudaSuccess);
  ASSERT_EQ(
      cudaStreamAddCallback(
          stream_, [](cudaStream_t, cudaError_t e, void* p) { static_cast<Log*>(p)->seen.push_back(2 + e); }, &log, 0),
      cudaSuccess);
  EXPECT_TRUE(log.seen.empty());
  open_gate();
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(log.seen, (std::vector<int>{1, 2}));
}

TEST_F(CudartStream, EventsMarkAPlace) {
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaSuccess);  // never recorded
  hold(stream_);
  ASSERT_EQ(cudaEventRecord(event, stream_), cudaSuccess);
  EXPECT_EQ(cudaEventQuery(event), cudaErrorNotReady);
  cudaStream_t other = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other, event), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(data_, 8, 16, other), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(other), cudaErrorNotReady);
  open_gate();
  EXPECT_EQ(cudaEventSynchronize(event), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
  EXPECT_EQ(data_[0], 8);
  EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
}
TEST_F(CudartStream, ElapsedTimeCoversTheKernelBetween) {
  cudaEvent_t start = nullptr, stop = nullptr;
  ASSERT_EQ(cudaEventCreate(&start), cudaSuccess);
  ASSERT_EQ(cudaEventCreate(&stop), cudaSuccess);
  float ms = -1;
  EXPECT_EQ(cudaEventElapsedTime(&ms, start, stop), cudaErrorInvalidResourceHandle);  // not recorded
  ASSERT_EQ(cudaEventRecord(start, stream_), cudaSuccess);
  anygin::simt::LaunchShape shape;
  shape.stream = stream_;
  ASSERT_EQ(anygin::simt::launch_callable(shape, [] { __nanosleep(3'000'000); }), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(stop, stream_), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(stop), cudaSuccess);
  ASSERT_EQ(cudaEventElapsedTime(&ms, start, stop), cudaSuccess);
  EXPECT_GE(ms, 3.0f);
  EXPECT_LT(ms, 10000.0f);
  EXPECT_EQ(cudaEventDestroy(start), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(stop), cudaSuccess);
}
TEST_F(CudartStream, TimeNeedsEventsThatKeepIt) {
  cudaEvent_t untimed = nullptr;
  float ms = 0;
  ASSERT_EQ(cudaEventCreateWithFlags(&untimed, cudaEventDisableTiming), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(untimed, stream_), cudaSuccess);
  ASSERT_EQ(cudaEventSynchronize(untimed), cudaSuccess);
  EXPECT_EQ(cudaEventElapsedTime(&ms, untimed, untimed), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventElapsedTime(nullptr, untimed, untimed), cudaErrorInvalidValue);
  EXPECT_EQ(cudaEventDestroy(untimed), cudaSuccess);
}
TEST_F(CudartStream, WhatIsNoHandleIsRefused) {
  auto* nonsense = reinterpret_cast<cudaStream_t>(gate_);
  EXPECT_EQ(cudaStreamSynchronize(nonsense), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaMemsetAsync(data_, 0, 1, nonsense), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(nullptr), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamDestroy(cudaStreamPerThread), cudaErrorInvalidResourceHandle);
  cudaStream_t gone = nullptr;
  ASSERT_EQ(cudaStreamCreate(&gone), cudaSuccess);
  ASSERT_EQ(cudaStreamDestroy(gone), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(gone), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(nullptr, stream_), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventDestroy(nullptr), cudaErrorInvalidResourceHandle);
  cudaEvent_t event = nullptr;
  ASSERT_EQ(cudaEventCreate(&event), cudaSuccess);
  ASSERT_EQ(cudaEventDestroy(event), cudaSuccess);
  EXPECT_EQ(cudaEventDestroy(event), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaEventRecord(event, stream_), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamWaitEvent(stream_, reinterpret_cast<cudaEvent_t>(gate_)), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(cudaStreamCreateWithFlags(&gone, 0x40), cudaErrorInvalidValue);
  EXPECT_EQ(cudaStreamCreate(nullptr), cudaErrorInvalidValue);
}

}  // namespace
