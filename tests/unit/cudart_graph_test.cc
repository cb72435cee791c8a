// SPDX-License-Identifier: Apache-2.0
// Stream capture and graphs: what becomes of captured work, in which order it runs, and which calls end a capture.
#include <gtest/gtest.h>

#include <thread>

#include "anygin/simt/device_runtime.h"
#include "cuda_runtime.h"

namespace {

using anygin::simt::launch_callable;
using anygin::simt::LaunchShape;

class CudartGraph : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cudaMallocManaged(&data_, 64 * sizeof(int)), cudaSuccess);
    for (int i = 0; i < 64; ++i) data_[i] = 0;
    for (cudaStream_t* stream : {&stream_, &other_}) ASSERT_EQ(cudaStreamCreate(stream), cudaSuccess);
    for (cudaEvent_t* event : {&fork_, &join_}) ASSERT_EQ(cudaEventCreate(event), cudaSuccess);
    cudaGetLastError();
  }
  void TearDown() override {
    for (cudaStream_t stream : {stream_, other_}) EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    for (cudaEvent_t event : {fork_, join_}) EXPECT_EQ(cudaEventDestroy(event), cudaSuccess);
    EXPECT_EQ(cudaFree(data_), cudaSuccess);
  }
  // data = data * factor + add, by a kernel of one thread.
  void step(cudaStream_t stream, int factor, int add, int at = 0) {
    LaunchShape shape;
    shape.stream = stream;
    int* data = data_ + at;
    ASSERT_EQ(launch_callable(shape, [=] { *data = *data * factor + add; }), cudaSuccess);
  }
  cudaGraphExec_t instantiated(cudaGraph_t graph) {
    cudaGraphExec_t exec = nullptr;
    EXPECT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    return exec;
  }
  cudaStreamCaptureStatus status(cudaStream_t stream) {
    cudaStreamCaptureStatus found = cudaStreamCaptureStatusActive;
    EXPECT_EQ(cudaStreamIsCapturing(stream, &found), cudaSuccess);
    return found;
  }
  // Begins a capture that the caller spoils: ending it says so, and the stream is as before.
  void expect_lost() {
    cudaGraph_t graph = nullptr;
    EXPECT_EQ(status(stream_), cudaStreamCaptureStatusInvalidated);
    EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureInvalidated);
    EXPECT_EQ(graph, nullptr);
    EXPECT_EQ(status(stream_), cudaStreamCaptureStatusNone);
  }

  int* data_ = nullptr;
  cudaStream_t stream_ = nullptr, other_ = nullptr;
  cudaEvent_t fork_ = nullptr, join_ = nullptr;
};

TEST_F(CudartGraph, CapturedWorkRunsWhenTheGraphIsLaunched) {
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(status(stream_), cudaStreamCaptureStatusNone);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(status(stream_), cudaStreamCaptureStatusActive);
  EXPECT_EQ(status(other_), cudaStreamCaptureStatusNone);
  step(stream_, 2, 1);
  ASSERT_EQ(cudaMemcpyAsync(data_ + 1, data_, sizeof(int), cudaMemcpyDefault, stream_), cudaSuccess);
  ASSERT_EQ(cudaMemsetAsync(data_ + 2, 0x11, sizeof(int), stream_), cudaSuccess);
  ASSERT_EQ(cudaLaunchHostFunc(
                stream_, [](void* at) { *static_cast<int*>(at) += 5; }, data_ + 3),
            cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(status(stream_), cudaStreamCaptureStatusNone);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(data_[0], 0);
  EXPECT_EQ(data_[2], 0);
  size_t nodes = 0;
  EXPECT_EQ(cudaGraphGetNodes(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 4u);

  cudaGraphExec_t exec = instantiated(graph);
  for (int run = 0; run < 3; ++run) ASSERT_EQ(cudaGraphLaunch(exec, other_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(other_), cudaSuccess);
  EXPECT_EQ(data_[0], 7);
  EXPECT_EQ(data_[1], 7);
  EXPECT_EQ(data_[2], 0x11111111);
  EXPECT_EQ(data_[3], 15);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(CudartGraph, StreamsJoinAndMustBeJoined) {
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  step(stream_, 1, 3);
  ASSERT_EQ(cudaEventRecord(fork_, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other_, fork_, 0), cudaSuccess);
  EXPECT_EQ(status(other_), cudaStreamCaptureStatusActive);
  ASSERT_EQ(cudaMemcpyAsync(data_ + 1, data_, sizeof(int), cudaMemcpyDefault, other_), cudaSuccess);
  step(other_, 2, 0, 1);
  step(stream_, 10, 4, 3);
  EXPECT_EQ(cudaEventQuery(fork_), cudaErrorCapturedEvent);
  ASSERT_EQ(cudaEventRecord(join_, other_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(stream_, join_, 0), cudaSuccess);
  int *sum = data_ + 2, *one = data_ + 3, *other = data_ + 1;
  LaunchShape shape;
  shape.stream = stream_;
  ASSERT_EQ(launch_callable(shape, [=] { *sum += *one + *other; }), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(status(other_), cudaStreamCaptureStatusNone);
  cudaGraphExec_t exec = instantiated(graph);
  ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(data_[1], 6);  // the copy saw the first step
  EXPECT_EQ(data_[3], 4);
  EXPECT_EQ(data_[2], 10);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);

  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(fork_, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other_, fork_, 0), cudaSuccess);
  step(other_, 1, 1);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorStreamCaptureUnjoined);
  EXPECT_EQ(status(other_), cudaStreamCaptureStatusNone);
}

// Two kernels that wait for each other, in branches of one graph, and a third one behind both.
TEST_F(CudartGraph, BranchesRunAtTheSameTime) {
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeRelaxed), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(fork_, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other_, fork_, 0), cudaSuccess);
  int* flags = data_;
  for (int side = 0; side < 2; ++side) {
    LaunchShape shape;
    shape.stream = side == 0 ? stream_ : other_;
    ASSERT_EQ(launch_callable(shape,
                              [=] {
                                atomicAdd(flags + side, 1);
                                while (__ldcv(flags + 1 - side) == 0) {
                                }
                              }),
              cudaSuccess);
  }
  ASSERT_EQ(cudaEventRecord(join_, other_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(stream_, join_, 0), cudaSuccess);
  LaunchShape shape;
  shape.stream = stream_;
  ASSERT_EQ(launch_callable(shape, [=] { flags[2] = flags[0] * 10 + flags[1]; }), cudaSuccess);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  cudaGraphExec_t exec = instantiated(graph);
  ASSERT_EQ(cudaGraphLaunch(exec, nullptr), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);  // ctest bounds it
  EXPECT_EQ(data_[2], 11);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

// Steps that do not commute, on two devices in turn: each waits for the one before it.
TEST_F(CudartGraph, NodesWaitForTheNodesBeforeThem) {
  cudaGraph_t graph = nullptr;
  cudaStream_t far = nullptr;
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&far), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  for (int i = 1; i <= 8; ++i) {
    cudaStream_t now = i % 2 == 0 ? far : stream_, next = i % 2 == 0 ? stream_ : far;
    ASSERT_EQ(cudaLaunchHostFunc(
                  now, [](void* at) { ++*static_cast<int*>(at); }, data_ + 1),
              cudaSuccess);
    step(now, 3, i);
    ASSERT_EQ(cudaEventRecord(fork_, now), cudaSuccess);
    ASSERT_EQ(cudaStreamWaitEvent(next, fork_, 0), cudaSuccess);
  }
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  cudaGraphExec_t exec = instantiated(graph);
  int expected = 0;
  for (int run = 0; run < 20; ++run) {
    data_[0] = 0;
    ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
    ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    expected = 0;
    for (int i = 1; i <= 8; ++i) expected = expected * 3 + i;
    ASSERT_EQ(data_[0], expected);
    ASSERT_EQ(data_[1], 8 * (run + 1));
  }
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaStreamDestroy(far), cudaSuccess);
}

TEST_F(CudartGraph, WhatWaitsEndsACapture) {
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamSynchronize(stream_), cudaErrorStreamCaptureUnsupported);
  expect_lost();
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaStreamQuery(stream_), cudaErrorStreamCaptureUnsupported);
  expect_lost();
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorStreamCaptureUnsupported);
  expect_lost();
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(data_, data_ + 1, sizeof(int), cudaMemcpyDefault), cudaErrorStreamCaptureImplicit);
  expect_lost();
  ASSERT_EQ(cudaEventRecord(fork_, other_), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(cudaStreamWaitEvent(stream_, fork_, 0), cudaErrorStreamCaptureIsolation);
  expect_lost();
}

TEST_F(CudartGraph, OnlyTheRightStreamAndThreadEndIt) {
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaErrorIllegalState);
  EXPECT_EQ(cudaStreamBeginCapture(nullptr, cudaStreamCaptureModeGlobal), cudaErrorStreamCaptureUnsupported);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal), cudaSuccess);
  cudaError_t elsewhere = cudaSuccess;
  std::thread([&] { elsewhere = cudaStreamEndCapture(stream_, &graph); }).join();
  EXPECT_EQ(elsewhere, cudaErrorStreamCaptureWrongThread);
  EXPECT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cudaEventRecord(fork_, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamWaitEvent(other_, fork_, 0), cudaSuccess);
  EXPECT_EQ(cudaStreamEndCapture(other_, &graph), cudaErrorStreamCaptureUnmatched);
  expect_lost();
}

TEST_F(CudartGraph, GraphsMadeByHand) {
  cudaGraph_t graph = nullptr, child = nullptr;
  cudaGraphNode_t first = nullptr, second = nullptr, third = nullptr;
  ASSERT_EQ(cudaGraphCreate(&graph, 0), cudaSuccess);
  ASSERT_EQ(cudaGraphCreate(&child, 0), cudaSuccess);
  cudaHostNodeParams add{[](void* at) { *static_cast<int*>(at) += 2; }, data_};
  cudaHostNodeParams triple{[](void* at) { *static_cast<int*>(at) *= 3; }, data_};
  ASSERT_EQ(cudaGraphAddHostNode(&first, child, nullptr, 0, &triple), cudaSuccess);
  ASSERT_EQ(cudaGraphAddHostNode(&first, graph, nullptr, 0, &add), cudaSuccess);
  ASSERT_EQ(cudaGraphAddChildGraphNode(&second, graph, &first, 1, child), cudaSuccess);
  ASSERT_EQ(cudaGraphAddMemcpyNode1D(&third, graph, &second, 1, data_ + 1, data_, sizeof(int), cudaMemcpyDefault),
            cudaSuccess);
  EXPECT_EQ(cudaGraphAddHostNode(&third, graph, &second, 1, nullptr), cudaErrorInvalidValue);
  cudaGraphNode_t stranger = reinterpret_cast<cudaGraphNode_t>(uintptr_t{99});
  EXPECT_EQ(cudaGraphAddEmptyNode(&third, graph, &stranger, 1), cudaErrorInvalidValue);
  cudaGraphExec_t exec = instantiated(graph);
  ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(data_[1], 24);  // ((0 + 2) * 3 + 2) * 3
  EXPECT_EQ(cudaGraphDestroy(child), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphLaunch(exec, stream_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaErrorInvalidValue);
}

TEST_F(CudartGraph, AnExecTakesAnotherGraphOfItsShape) {
  cudaGraph_t graphs[3] = {};
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
    for (int nodes = 0; nodes < (i == 2 ? 2 : 1); ++nodes) step(stream_, 1, i == 0 ? 1 : 100);
    ASSERT_EQ(cudaStreamEndCapture(stream_, &graphs[i]), cudaSuccess);
  }
  cudaGraphExec_t exec = instantiated(graphs[0]);
  cudaGraphExecUpdateResultInfo info;
  ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphExecUpdate(exec, graphs[1], &info), cudaSuccess);
  EXPECT_EQ(info.result, cudaGraphExecUpdateSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, stream_), cudaSuccess);
  EXPECT_EQ(cudaGraphExecUpdate(exec, graphs[2], &info), cudaErrorGraphExecUpdateFailure);
  EXPECT_EQ(info.result, cudaGraphExecUpdateErrorTopologyChanged);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(data_[0], 101);
  for (int i = 1; i < 3; ++i) EXPECT_EQ(cudaGraphDestroy(graphs[i]), cudaSuccess);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
}

TEST_F(CudartGraph, AGraphLaunchedWhileCapturingBecomesPartOfTheGraph) {
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  step(stream_, 1, 1);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  cudaGraphExec_t inner = instantiated(graph);
  ASSERT_EQ(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeGlobal), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(inner, stream_), cudaSuccess);
  step(stream_, 10, 0);
  ASSERT_EQ(cudaStreamEndCapture(stream_, &graph), cudaSuccess);
  cudaGraphExec_t outer = instantiated(graph);
  EXPECT_EQ(cudaGraphExecDestroy(inner), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(outer, stream_), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(outer, stream_), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(data_[0], 110);
  EXPECT_EQ(cudaGraphExecDestroy(outer), cudaSuccess);
}

}  // namespace
