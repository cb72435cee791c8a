// SPDX-License-Identifier: Apache-2.0
// Memory through libcudart: allocation, copies, fills, what is known of a pointer, and every refusal.
#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <thread>
#include <vector>

#include "cuda_runtime.h"

namespace {

class CudartMemory : public testing::Test {
 protected:
  static constexpr size_t kBytes = 4096;
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cudaMalloc(&device_, kBytes), cudaSuccess);
    ASSERT_EQ(cudaMallocHost(&pinned_, kBytes), cudaSuccess);
    cudaGetLastError();
  }
  void TearDown() override {
    EXPECT_EQ(cudaFree(device_), cudaSuccess);
    EXPECT_EQ(cudaFreeHost(pinned_), cudaSuccess);
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
  }
  std::vector<unsigned char> read_device(size_t bytes) {
    std::vector<unsigned char> copy(bytes, 0xee);
    EXPECT_EQ(cudaMemcpy(copy.data(), device_, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
    return copy;
  }
  unsigned char* device_ = nullptr;
  unsigned char* pinned_ = nullptr;
};

TEST_F(CudartMemory, CopiesThereAndBack) {
  std::vector<unsigned char> bytes(kBytes);
  for (size_t i = 0; i < kBytes; ++i) bytes[i] = static_cast<unsigned char>(i * 7);
  ASSERT_EQ(cudaMemcpy(device_, bytes.data(), kBytes, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(read_device(kBytes), bytes);
  ASSERT_EQ(cudaMemcpy(pinned_, device_ + 100, 50, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(std::memcmp(pinned_, bytes.data() + 100, 50), 0);
}
TEST_F(CudartMemory, FillsExactlyTheRange) {
  ASSERT_EQ(cudaMemset(device_, 0x11, kBytes), cudaSuccess);
  ASSERT_EQ(cudaMemset(device_ + 10, 0x1ab, 5), cudaSuccess);  // the low byte counts
  const auto bytes = read_device(20);
  for (size_t i = 0; i < 20; ++i) EXPECT_EQ(bytes[i], i >= 10 && i < 15 ? 0xab : 0x11) << i;
}
TEST_F(CudartMemory, RowsKeepTheirPitch) {
  ASSERT_EQ(cudaMemset(device_, 0, kBytes), cudaSuccess);
  const unsigned char rows[] = "abcdefghi";
  ASSERT_EQ(cudaMemcpy2D(device_, 8, rows, 3, 3, 3, cudaMemcpyHostToDevice), cudaSuccess);
  const auto bytes = read_device(24);
  EXPECT_EQ(std::memcmp(bytes.data(), "abc\0\0\0\0\0def\0\0\0\0\0ghi\0\0\0\0\0", 24), 0);
  ASSERT_EQ(cudaMemset2D(device_, 8, 'x', 2, 2), cudaSuccess);
  EXPECT_EQ(std::memcmp(read_device(24).data(), "xxc\0\0\0\0\0xxf\0\0\0\0\0ghi\0\0\0\0\0", 24), 0);
  EXPECT_EQ(cudaMemcpy2D(device_, 2, rows, 3, 3, 3, cudaMemcpyHostToDevice), cudaErrorInvalidPitchValue);
}
TEST_F(CudartMemory, BoxesOfOnePlane) {
  ASSERT_EQ(cudaMemset(device_, 0, kBytes), cudaSuccess);
  char source[] = "abcdefgh";
  cudaMemcpy3DParms box{};
  box.srcPtr = {source, 4, 4, 2};
  box.dstPtr = {device_, 16, 16, 4};
  box.dstPos = {1, 1, 0};
  box.extent = {3, 2, 1};
  box.kind = cudaMemcpyHostToDevice;
  ASSERT_EQ(cudaMemcpy3D(&box), cudaSuccess);
  const auto bytes = read_device(64);
  EXPECT_EQ(std::memcmp(bytes.data() + 17, "abc", 3), 0);
  EXPECT_EQ(std::memcmp(bytes.data() + 33, "efg", 3), 0);
  EXPECT_EQ(bytes[20], 0);
}
// Two planes of two rows, out of planes of three rows into planes of four.
TEST_F(CudartMemory, BoxesOfPlanesWithGaps) {
  ASSERT_EQ(cudaMemset(device_, 0, kBytes), cudaSuccess);
  char source[] = "abcdefghijklmnopqrstuvwx";
  cudaMemcpy3DParms box{};
  box.srcPtr = make_cudaPitchedPtr(source, 4, 4, 3);
  box.dstPtr = make_cudaPitchedPtr(device_, 8, 8, 4);
  box.srcPos = make_cudaPos(1, 1, 0);
  box.dstPos = make_cudaPos(0, 2, 0);
  box.extent = make_cudaExtent(2, 2, 2);
  box.kind = cudaMemcpyHostToDevice;
  ASSERT_EQ(cudaMemcpy3DAsync(&box, nullptr), cudaSuccess);
  auto bytes = read_device(64);
  EXPECT_EQ(std::memcmp(bytes.data() + 16, "fg\0\0\0\0\0\0jk", 10), 0);
  EXPECT_EQ(std::memcmp(bytes.data() + 48, "rs\0\0\0\0\0\0vw", 10), 0);
  EXPECT_EQ(bytes[32], 0);
  box.dstPtr.ysize = 1;
  EXPECT_EQ(cudaMemcpy3D(&box), cudaErrorInvalidValue);
  ASSERT_EQ(cudaMemset3D(make_cudaPitchedPtr(device_, 8, 8, 4), 'z', make_cudaExtent(1, 1, 2)), cudaSuccess);
  bytes = read_device(64);
  EXPECT_EQ(bytes[0], 'z');
  EXPECT_EQ(bytes[32], 'z');
  EXPECT_EQ(bytes[8], 0);
  cudaPitchedPtr memory{};
  ASSERT_EQ(cudaMalloc3D(&memory, make_cudaExtent(100, 3, 2)), cudaSuccess);
  EXPECT_EQ(memory.pitch, 512u);
  EXPECT_EQ(memory.ysize, 3u);
  EXPECT_EQ(cudaMemset3D(memory, 1, make_cudaExtent(100, 3, 2)), cudaSuccess);
  EXPECT_EQ(cudaFree(memory.ptr), cudaSuccess);
}
TEST_F(CudartMemory, BatchesMayReadTheirSourceAtOnce) {
  char source[] = "abcd";
  const void* destinations[] = {device_, device_ + 2};
  const void* sources[] = {source, source + 2};
  const size_t sizes[] = {2, 2};
  cudaMemcpyAttributes attributes[2] = {};
  size_t first[] = {0, 1};
  attributes[0].srcAccessOrder = cudaMemcpySrcAccessOrderStream;
  attributes[1].srcAccessOrder = cudaMemcpySrcAccessOrderDuringApiCall;
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  std::atomic<bool> go{false};
  ASSERT_EQ(cudaLaunchHostFunc(
                stream,
                [](void* flag) {
                  while (!*static_cast<std::atomic<bool>*>(flag)) std::this_thread::yield();
                },
                &go),
            cudaSuccess);
  ASSERT_EQ(cudaMemcpyBatchAsync(destinations, sources, sizes, 2, attributes, first, 2, stream), cudaSuccess);
  std::memcpy(source, "wxyz", 4);
  go = true;
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(std::memcmp(read_device(4).data(), "wxcd", 4), 0);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}
TEST_F(CudartMemory, DirectionsAreChecked) {
  unsigned char host[16] = {};
  auto* heap_memory = new unsigned char[16]();
  EXPECT_EQ(cudaMemcpy(device_, heap_memory, 16, static_cast<cudaMemcpyKind>(7)), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpy(heap_memory, device_, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device_, device_ + 16, 16, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(host, device_, 16, cudaMemcpyHostToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device_, heap_memory, 16, cudaMemcpyDeviceToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(nullptr, heap_memory, 16, cudaMemcpyHostToHost), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpy(device_, pinned_, 16, cudaMemcpyDeviceToDevice), cudaSuccess);  // pinned memory is both
  EXPECT_EQ(cudaMemcpy(nullptr, nullptr, 0, cudaMemcpyHostToDevice), cudaSuccess);
  delete[] heap_memory;
}
TEST_F(CudartMemory, RangesThatLeaveTheAllocationAreRefused) {
  std::vector<unsigned char> host(kBytes + 1, 1);
  ASSERT_EQ(cudaMemset(device_, 0, kBytes), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(device_, host.data(), kBytes + 1, cudaMemcpyHostToDevice), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(device_ + 1, 1, kBytes), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyAsync(device_ + kBytes - 1, host.data(), 2, cudaMemcpyDefault, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(read_device(kBytes), std::vector<unsigned char>(kBytes, 0));
}
TEST_F(CudartMemory, FreeTakesOnlyStartsOfLiveAllocations) {
  unsigned char* pointer = nullptr;
  ASSERT_EQ(cudaMalloc(&pointer, 10), cudaSuccess);
  EXPECT_EQ(cudaFree(pointer + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFreeHost(pointer), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(pinned_), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(pointer), cudaSuccess);
  EXPECT_EQ(cudaFree(pointer), cudaErrorInvalidValue);
  EXPECT_EQ(cudaFree(nullptr), cudaSuccess);
  int on_stack = 0;
  EXPECT_EQ(cudaFree(&on_stack), cudaErrorInvalidValue);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidValue);
}
TEST_F(CudartMemory, TooMuchIsOutOfMemory) {
  void* pointer = &pointer;
  EXPECT_EQ(cudaMalloc(&pointer, size_t{1} << 60), cudaErrorMemoryAllocation);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(cudaMalloc(static_cast<void**>(nullptr), 4), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMalloc(&pointer, 0), cudaSuccess);
  EXPECT_EQ(pointer, nullptr);
}
TEST_F(CudartMemory, FreeMemoryGoesDownAndUp) {
  size_t before = 0, during = 0, after = 0, total = 0;
  ASSERT_EQ(cudaMemGetInfo(&before, &total), cudaSuccess);
  void* pointer = nullptr;
  ASSERT_EQ(cudaMalloc(&pointer, 1 << 20), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&during, &total), cudaSuccess);
  ASSERT_EQ(cudaFree(pointer), cudaSuccess);
  ASSERT_EQ(cudaMemGetInfo(&after, &total), cudaSuccess);
  EXPECT_EQ(before - during, size_t{1} << 20);
  EXPECT_EQ(before, after);
}
TEST_F(CudartMemory, PointersKnowWhatTheyAre) {
  cudaPointerAttributes attributes;
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  unsigned char* second = nullptr;
  ASSERT_EQ(cudaMalloc(&second, 64), cudaSuccess);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, second + 63), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 1);
  EXPECT_EQ(attributes.devicePointer, second + 63);
  EXPECT_EQ(attributes.hostPointer, nullptr);
  EXPECT_EQ(cudaFree(second), cudaSuccess);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, pinned_ + 1), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(attributes.devicePointer, pinned_ + 1);
  void* managed = nullptr;
  ASSERT_EQ(cudaMallocManaged(&managed, 64), cudaSuccess);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, managed), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeManaged);
  EXPECT_EQ(cudaFree(managed), cudaSuccess);
  ASSERT_EQ(cudaPointerGetAttributes(&attributes, &attributes), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(attributes.devicePointer, nullptr);
}
TEST_F(CudartMemory, PinnedMemoryIsMapped) {
  void* pointer = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&pointer, pinned_, 0), cudaSuccess);
  EXPECT_EQ(pointer, pinned_);
  int on_stack = 0;
  EXPECT_EQ(cudaHostGetDevicePointer(&pointer, &on_stack, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaHostAlloc(&pointer, 16, 0x80), cudaErrorInvalidValue);
}

TEST_F(CudartMemory, RegisteredMemoryIsPinned) {
  static int words[100];
  cudaPointerAttributes attributes;
  ASSERT_EQ(cudaHostRegister(words, sizeof(words), cudaHostRegisterDefault), cudaSuccess);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, words + 1), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  EXPECT_EQ(attributes.devicePointer, words + 1);
  void* device = nullptr;
  EXPECT_EQ(cudaHostGetDevicePointer(&device, words, 0), cudaSuccess);
  EXPECT_EQ(device, words);
  EXPECT_EQ(cudaHostRegister(words + 50, 8, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(cudaHostRegister(device_, 8, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(words, 1, sizeof(words) + 1), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemset(words, 1, sizeof(words)), cudaSuccess);
  EXPECT_EQ(words[99], 0x01010101);
  EXPECT_EQ(cudaHostUnregister(words + 1), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaHostUnregister(words), cudaSuccess);
  EXPECT_EQ(cudaHostUnregister(words), cudaErrorHostMemoryNotRegistered);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, words + 1), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
}
TEST_F(CudartMemory, PoolsHandOutMemoryOfTheirDevice) {
  cudaMemPool_t standard = nullptr, own = nullptr, found = nullptr;
  ASSERT_EQ(cudaDeviceGetDefaultMemPool(&standard, 1), cudaSuccess);
  cudaMemPoolProps properties{};
  properties.allocType = cudaMemAllocationTypePinned;
  properties.location = {cudaMemLocationTypeDevice, 1};
  ASSERT_EQ(cudaMemPoolCreate(&own, &properties), cudaSuccess);
  EXPECT_NE(own, standard);
  ASSERT_EQ(cudaDeviceSetMemPool(1, own), cudaSuccess);
  EXPECT_EQ(cudaDeviceGetMemPool(&found, 1), cudaSuccess);
  EXPECT_EQ(found, own);
  EXPECT_EQ(cudaDeviceSetMemPool(0, own), cudaErrorInvalidValue);
  unsigned long long threshold = 1 << 20, back = 0;
  EXPECT_EQ(cudaMemPoolSetAttribute(own, cudaMemPoolAttrReleaseThreshold, &threshold), cudaSuccess);
  EXPECT_EQ(cudaMemPoolGetAttribute(own, cudaMemPoolAttrReleaseThreshold, &back), cudaSuccess);
  EXPECT_EQ(back, threshold);
  int* memory = nullptr;
  cudaPointerAttributes attributes;
  ASSERT_EQ(cudaMallocFromPoolAsync(&memory, 64, own, nullptr), cudaSuccess);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, memory), cudaSuccess);
  EXPECT_EQ(attributes.device, 1);
  EXPECT_EQ(cudaFreeAsync(memory, nullptr), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(nullptr), cudaSuccess);
  EXPECT_EQ(cudaMemPoolTrimTo(own, 0), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(own), cudaSuccess);
  EXPECT_EQ(cudaMemPoolDestroy(own), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemPoolDestroy(standard), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetMemPool(&found, 1), cudaSuccess);
  EXPECT_EQ(found, standard);
}
TEST_F(CudartMemory, TheDriverIsFoundByName) {
  void* function = nullptr;
  cudaDriverEntryPointQueryResult status;
  EXPECT_EQ(cudaGetDriverEntryPoint("cuMemMap", &function, cudaEnableDefault, &status), cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSuccess);
  EXPECT_NE(function, nullptr);
  EXPECT_EQ(cudaGetDriverEntryPoint("cuTexRefCreate", &function, cudaEnableDefault, &status), cudaSuccess);
  EXPECT_EQ(status, cudaDriverEntryPointSymbolNotFound);
  EXPECT_EQ(function, nullptr);
}
TEST_F(CudartMemory, WhatIsNotThereSaysSo) {
  cudaLibrary_t library = nullptr;
  EXPECT_EQ(cudaLibraryLoadFromFile(&library, "kernels.cubin", nullptr, nullptr, 0, nullptr, nullptr, 0),
            cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
}

}  // namespace
