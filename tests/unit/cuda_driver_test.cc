// SPDX-License-Identifier: Apache-2.0
// The driver subset: contexts, names, and waits and writes in a stream.
#include <gtest/gtest.h>

#include "cuda.h"
#include "cuda/atomic"
#include "cuda_runtime.h"

namespace {

class CudaDriver : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cuInit(0), CUDA_SUCCESS);
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaMallocManaged(&words_, 64), cudaSuccess);
    for (int i = 0; i < 8; ++i) words_[i] = 0;
  }
  void TearDown() override {
    EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
    EXPECT_EQ(cudaFree(words_), cudaSuccess);
  }
  CUdeviceptr at(int i) { return reinterpret_cast<CUdeviceptr>(words_ + i); }
  cudaStream_t stream_ = nullptr;
  uint64_t* words_ = nullptr;
};

TEST_F(CudaDriver, ContextsFollowTheCurrentDevice) {
  CUcontext first = nullptr, second = nullptr;
  ASSERT_EQ(cuCtxGetCurrent(&first), CUDA_SUCCESS);
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cuCtxGetCurrent(&second), CUDA_SUCCESS);
  EXPECT_NE(first, nullptr);
  EXPECT_NE(first, second);
  EXPECT_EQ(cuCtxSetCurrent(first), CUDA_SUCCESS);
  int device = -1;
  EXPECT_EQ(cudaGetDevice(&device), cudaSuccess);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cuCtxSetCurrent(nullptr), CUDA_ERROR_INVALID_CONTEXT);
}
TEST_F(CudaDriver, DevicesAndErrorsHaveNames) {
  CUdevice device = -1;
  int value = 0;
  EXPECT_EQ(cuDeviceGet(&device, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuDeviceGet(&device, 1000), CUDA_ERROR_INVALID_DEVICE);
  EXPECT_EQ(cuDeviceGetAttribute(&value, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1), CUDA_SUCCESS);
  EXPECT_EQ(value, 9);
  const char* text = nullptr;
  EXPECT_EQ(cuGetErrorName(CUDA_ERROR_LAUNCH_FAILED, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "CUDA_ERROR_LAUNCH_FAILED");
  EXPECT_EQ(cuGetErrorString(CUDA_ERROR_INVALID_VALUE, &text), CUDA_SUCCESS);
  EXPECT_STREQ(text, "invalid argument");
  EXPECT_EQ(cuGetErrorName(static_cast<CUresult>(1023), &text),
            CUDA_ERROR_INVALID_VALUE);  // the largest value it holds
  EXPECT_EQ(text, nullptr);
}
TEST_F(CudaDriver, AddressesKnowTheirAllocation) {
  CUdeviceptr base = 0;
  size_t bytes = 0;
  EXPECT_EQ(cuMemGetAddressRange(&base, &bytes, at(3)), CUDA_SUCCESS);
  EXPECT_EQ(base, at(0));
  EXPECT_EQ(bytes, 64u);
  int local = 0;
  EXPECT_EQ(cuMemGetAddressRange(&base, &bytes, reinterpret_cast<CUdeviceptr>(&local)), CUDA_ERROR_NOT_FOUND);
}
TEST_F(CudaDriver, WritesWaitForTheirTurn) {
  cuda::atomic_ref<uint64_t> gate(words_[0]), done(words_[1]);
  ASSERT_EQ(cuStreamWaitValue64(stream_, at(0), 3, CU_STREAM_WAIT_VALUE_GEQ), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWriteValue64(stream_, at(1), 1ull << 40, 0), CUDA_SUCCESS);
  gate.store(2);
  EXPECT_EQ(cudaStreamQuery(stream_), cudaErrorNotReady);
  EXPECT_EQ(done.load(), 0u);
  gate.store(3);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(done.load(), 1ull << 40);
}
TEST_F(CudaDriver, BatchesRunInOrder) {
  CUstreamBatchMemOpParams operations[3] = {};
  operations[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operations[0].writeValue.address = at(2);
  operations[0].writeValue.value = 0x80000001u;
  operations[1].waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  operations[1].waitValue.address = at(2);
  operations[1].waitValue.value = 0x7fffffffu;  // rolling: 0x80000001 is two past it
  operations[1].waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
  operations[2].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
  operations[2].writeValue.address = at(3);
  operations[2].writeValue.value64 = 9;
  ASSERT_EQ(cuStreamBatchMemOp(stream_, 3, operations, 0), CUDA_SUCCESS);
  ASSERT_EQ(cudaStreamSynchronize(stream_), cudaSuccess);
  EXPECT_EQ(words_[2], 0x80000001u);
  EXPECT_EQ(words_[3], 9u);
}
TEST_F(CudaDriver, BadWordsAreRefused) {
  EXPECT_EQ(cuStreamWriteValue64(stream_, at(0) + 4, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWriteValue64(stream_, 0, 1, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWaitValue32(stream_, at(0), 1, 7), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuStreamWriteValue64(reinterpret_cast<CUstream>(words_), at(0), 1, 0), CUDA_ERROR_INVALID_HANDLE);
  EXPECT_EQ(words_[0], 0u);
}
TEST_F(CudaDriver, PointersSayWhereTheyPoint) {
  CUmemorytype type = CU_MEMORYTYPE_ARRAY;
  int device = -1, local = 0;
  CUdeviceptr start = 0;
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at(2)), CUDA_SUCCESS);
  EXPECT_EQ(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at(2)), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at(2)), CUDA_SUCCESS);
  EXPECT_EQ(start, at(0));
  EXPECT_EQ(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, reinterpret_cast<CUdeviceptr>(&local)),
            CUDA_ERROR_INVALID_VALUE);
}
TEST_F(CudaDriver, CopiesAndFillsAreOrderedByStreamsAndEvents) {
  CUstream first = nullptr, second = nullptr;
  CUevent done = nullptr;
  ASSERT_EQ(cuStreamCreate(&first, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamCreate(&second, CU_STREAM_DEFAULT), CUDA_SUCCESS);
  ASSERT_EQ(cuEventCreate(&done, CU_EVENT_DISABLE_TIMING), CUDA_SUCCESS);
  const uint64_t gift = 77;
  uint64_t back = 0;
  ASSERT_EQ(cuStreamWaitValue64(first, at(0), 1, CU_STREAM_WAIT_VALUE_EQ), CUDA_SUCCESS);
  ASSERT_EQ(cuMemsetD32Async(at(1), 0x01020304, 2, first), CUDA_SUCCESS);
  ASSERT_EQ(cuEventRecord(done, first), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamWaitEvent(second, done, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuMemcpyDtoHAsync(&back, at(1), sizeof(back), second), CUDA_SUCCESS);
  EXPECT_EQ(cuEventQuery(done), CUDA_ERROR_NOT_READY);
  EXPECT_EQ(cuStreamQuery(second), CUDA_ERROR_NOT_READY);
  ASSERT_EQ(cuStreamWriteValue64(CU_STREAM_PER_THREAD, at(0), 1, 0), CUDA_SUCCESS);
  ASSERT_EQ(cuStreamSynchronize(second), CUDA_SUCCESS);
  EXPECT_EQ(cuEventSynchronize(done), CUDA_SUCCESS);
  EXPECT_EQ(back, 0x0102030401020304u);
  EXPECT_EQ(cuMemcpyHtoD(at(2), &gift, sizeof(gift)), CUDA_SUCCESS);
  EXPECT_EQ(cuMemcpyDtoD(at(3), at(2), sizeof(gift)), CUDA_SUCCESS);
  EXPECT_EQ(words_[3], 77u);
  EXPECT_EQ(cuMemsetD8(at(3), 0xff, 1), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamSynchronize(nullptr), CUDA_SUCCESS);
  EXPECT_EQ(words_[3], 0xffu);
  EXPECT_EQ(cuMemcpyHtoD(at(2), &gift, 65), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemsetD32(at(2) + 2, 0, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuEventDestroy(done), CUDA_SUCCESS);
  EXPECT_EQ(cuEventRecord(done, first), CUDA_ERROR_INVALID_HANDLE);
  for (CUstream one : {first, second}) EXPECT_EQ(cuStreamDestroy(one), CUDA_SUCCESS);
  EXPECT_EQ(cuStreamDestroy(nullptr), CUDA_ERROR_INVALID_HANDLE);
}
TEST_F(CudaDriver, ContextsStack) {
  CUcontext second = nullptr, popped = nullptr;
  CUdevice device = -1;
  ASSERT_EQ(cuDevicePrimaryCtxRetain(&second, 1), CUDA_SUCCESS);
  ASSERT_EQ(cuCtxPushCurrent(second), CUDA_SUCCESS);
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_SUCCESS);
  EXPECT_EQ(popped, second);
  EXPECT_EQ(cuCtxGetDevice(&device), CUDA_SUCCESS);
  EXPECT_EQ(device, 0);
  EXPECT_EQ(cuCtxPopCurrent(&popped), CUDA_ERROR_INVALID_CONTEXT);
}
TEST_F(CudaDriver, ModulesAreNotThere) {
  CUmodule module = nullptr;
  EXPECT_EQ(cuModuleLoadDataEx(&module, "", 0, nullptr, nullptr), CUDA_ERROR_NOT_SUPPORTED);
}

}  // namespace
