// SPDX-License-Identifier: Apache-2.0
// Launches by address: the record below is what the rewriter emits for a kernel.
#include <gtest/gtest.h>

#include "anygin/simt/device_runtime.h"
#include "cuda_runtime.h"

namespace {

using anygin::simt::BoundKernel;
using anygin::simt::KernelRecord;

// What the kernel `scale(int* data, int factor)` becomes.
void scale(int* data, int factor) {
  data[blockIdx.x * blockDim.x + threadIdx.x] *= factor;
}
struct ScaleCall {
  int* data;
  int factor;
  void operator()() const { scale(data, factor); }
};
BoundKernel bind_scale(void** arguments) {
  auto* call = new ScaleCall{*static_cast<int**>(arguments[0]), *static_cast<int*>(arguments[1])};
  return {&anygin::simt::run_lanes<ScaleCall>, call, [](void* p) { delete static_cast<ScaleCall*>(p); },
          reinterpret_cast<const void*>(&scale)};
}
constexpr size_t kSizes[] = {sizeof(int*), sizeof(int)};
const KernelRecord kScale{reinterpret_cast<const void*>(&scale), "scale", 2, kSizes, &bind_scale, 256};

void unknown_kernel(int) {}

class CudartKernel : public testing::Test {
 protected:
  static void SetUpTestSuite() { anygin::simt::anygin_register_kernel(&kScale); }
  void SetUp() override {
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    ASSERT_EQ(cudaMallocManaged(&data_, 64 * sizeof(int)), cudaSuccess);
    for (int i = 0; i < 64; ++i) data_[i] = i;
    cudaGetLastError();
  }
  void TearDown() override { EXPECT_EQ(cudaFree(data_), cudaSuccess); }
  void expect_scaled(int factor) {
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    for (int i = 0; i < 64; ++i) ASSERT_EQ(data_[i], i * factor) << i;
  }
  int* data_ = nullptr;
};

TEST_F(CudartKernel, LaunchesByAddress) {
  int factor = 3;
  void* arguments[] = {&data_, &factor};
  ASSERT_EQ(cudaLaunchKernel(scale, dim3(2), dim3(32), arguments, 0, nullptr), cudaSuccess);
  factor = 100;  // parameters were copied
  expect_scaled(3);
}
TEST_F(CudartKernel, LaunchesByConfigurationWithConvertedArguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(4);
  config.blockDim = dim3(16);
  config.attrs = &attribute;
  config.numAttrs = 1;
  const short factor = 5;
  ASSERT_EQ(cudaLaunchKernelEx(&config, scale, data_, factor), cudaSuccess);
  expect_scaled(5);
}
TEST_F(CudartKernel, RefusesWhatItCannotRun) {
  int factor = 1;
  void* arguments[] = {&data_, &factor};
  EXPECT_EQ(cudaLaunchKernel(unknown_kernel, dim3(1), dim3(1), arguments, 0, nullptr), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaLaunchKernel(scale, dim3(0), dim3(1), arguments, 0, nullptr), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(scale, dim3(1), dim3(2048), arguments, 0, nullptr), cudaErrorInvalidConfiguration);
  EXPECT_EQ(cudaLaunchKernel(scale, dim3(1), dim3(512), arguments, 0, nullptr), cudaErrorLaunchOutOfResources);
  EXPECT_EQ(cudaLaunchKernel(scale, dim3(1), dim3(1), nullptr, 0, nullptr), cudaErrorInvalidValue);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeClusterDimension;
  attribute.val.clusterDim = {2, 1, 1};
  cudaLaunchConfig_t config{};
  config.attrs = &attribute;
  config.numAttrs = 1;
  EXPECT_EQ(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(&scale), arguments), cudaErrorNotSupported);
  EXPECT_EQ(cudaGetLastError(), cudaErrorNotSupported);
  expect_scaled(1);
}
TEST_F(CudartKernel, AnswersAboutAKernel) {
  cudaFuncAttributes attributes;
  ASSERT_EQ(cudaFuncGetAttributes(&attributes, scale), cudaSuccess);
  EXPECT_EQ(attributes.maxThreadsPerBlock, 256);
  EXPECT_EQ(cudaFuncGetAttributes(&attributes, unknown_kernel), cudaErrorInvalidDeviceFunction);
  EXPECT_EQ(cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024), cudaSuccess);
  EXPECT_EQ(cudaFuncSetAttribute(scale, cudaFuncAttributeMaxDynamicSharedMemorySize, 228 * 1024),
            cudaErrorInvalidValue);
  const char* name = nullptr;
  EXPECT_EQ(cudaFuncGetName(&name, reinterpret_cast<const void*>(&scale)), cudaSuccess);
  EXPECT_STREQ(name, "scale");
}
TEST_F(CudartKernel, OccupancyIsBoundedByThreadsBlocksAndSharedMemory) {
  int blocks = -1;
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 256, 0), cudaSuccess);
  EXPECT_EQ(blocks, 8);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 1, 0), cudaSuccess);
  EXPECT_EQ(blocks, 32);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 64, 100 * 1024), cudaSuccess);
  EXPECT_EQ(blocks, 2);
  EXPECT_EQ(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, scale, 512, 0), cudaSuccess);
  EXPECT_EQ(blocks, 0);  // more than __launch_bounds__
  int grid = 0, block = 0;
  EXPECT_EQ(cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale), cudaSuccess);
  EXPECT_EQ(block, 256);
  EXPECT_EQ(grid, 128);
}

}  // namespace
