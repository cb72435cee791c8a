// SPDX-License-Identifier: Apache-2.0
// Devices and errors through libcudart.
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "cuda_runtime.h"

namespace {

class CudartDevice : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(cudaGetDeviceCount(&count_), cudaSuccess);
    ASSERT_GE(count_, 2);
    ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
    cudaGetLastError();
  }
  int count_ = 0;
};

TEST_F(CudartDevice, CurrentDeviceBelongsToTheThread) {
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  int there = -1;
  std::thread([&] { cudaGetDevice(&there); }).join();
  int here = -1;
  ASSERT_EQ(cudaGetDevice(&here), cudaSuccess);
  EXPECT_EQ(here, 1);
  EXPECT_EQ(there, 0);
}
TEST_F(CudartDevice, BadDevicesAreRefusedAndChangeNothing) {
  EXPECT_EQ(cudaSetDevice(count_), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  int device = -1;
  cudaGetDevice(&device);
  EXPECT_EQ(device, 0);
  int value = 0;
  EXPECT_EQ(cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, count_), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceGetAttribute(nullptr, cudaDevAttrWarpSize, 0), cudaErrorInvalidValue);
  EXPECT_EQ(cudaDeviceGetAttribute(&value, static_cast<cudaDeviceAttr>(9999), 0), cudaErrorInvalidValue);
  cudaDeviceProp properties;
  EXPECT_EQ(cudaGetDeviceProperties(&properties, -1), cudaErrorInvalidDevice);
}
TEST_F(CudartDevice, AttributesAndPropertiesAgree) {
  cudaDeviceProp properties;
  ASSERT_EQ(cudaGetDeviceProperties(&properties, 1), cudaSuccess);
  const struct {
    cudaDeviceAttr attribute;
    int wanted;
  } rows[] = {
      {cudaDevAttrMultiProcessorCount, 16},
      {cudaDevAttrWarpSize, 32},
      {cudaDevAttrMaxThreadsPerBlock, 1024},
      {cudaDevAttrComputeCapabilityMajor, 9},
      {cudaDevAttrMaxSharedMemoryPerBlock, 48 * 1024},
      {cudaDevAttrMaxSharedMemoryPerBlockOptin, 227 * 1024},
      {cudaDevAttrCooperativeLaunch, 1},
      {cudaDevAttrPciBusId, 2},
  };
  for (const auto& row : rows) {
    int value = -1;
    EXPECT_EQ(cudaDeviceGetAttribute(&value, row.attribute, 1), cudaSuccess);
    EXPECT_EQ(value, row.wanted) << row.attribute;
  }
  EXPECT_EQ(properties.multiProcessorCount, 16);
  EXPECT_EQ(properties.major * 10 + properties.minor, 90);
  EXPECT_EQ(properties.pciBusID, 2);
  EXPECT_GT(properties.totalGlobalMem, 0u);
}
TEST_F(CudartDevice, PeersReachEachOther) {
  int can = -1, value = -1;
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 0, 1), cudaSuccess);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(cudaDeviceCanAccessPeer(&can, 1, 1), cudaSuccess);
  EXPECT_EQ(can, 0);
  EXPECT_EQ(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrNativeAtomicSupported, 0, 1), cudaSuccess);
  EXPECT_EQ(value, 1);
  EXPECT_EQ(cudaDeviceGetP2PAttribute(&value, cudaDevP2PAttrAccessSupported, 0, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(0, 0), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaDeviceEnablePeerAccess(1, 0), cudaSuccess);
}
TEST_F(CudartDevice, PciNamesLeadBack) {
  char name[32];
  int device = -1;
  ASSERT_EQ(cudaDeviceGetPCIBusId(name, sizeof(name), 1), cudaSuccess);
  EXPECT_STREQ(name, "0000:02:00.0");
  EXPECT_EQ(cudaDeviceGetByPCIBusId(&device, name), cudaSuccess);
  EXPECT_EQ(device, 1);
  EXPECT_EQ(cudaDeviceGetPCIBusId(name, 4, 1), cudaErrorInvalidValue);
}
TEST_F(CudartDevice, LastErrorStaysUntilItIsRead) {
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  int count = 0;
  EXPECT_EQ(cudaGetDeviceCount(&count), cudaSuccess);  // a success does not clear it
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
  EXPECT_EQ(cudaGetLastError(), cudaSuccess);
}
TEST_F(CudartDevice, LastErrorBelongsToTheThread) {
  cudaError_t there = cudaErrorUnknown;
  EXPECT_EQ(cudaSetDevice(-1), cudaErrorInvalidDevice);
  std::thread([&] { there = cudaPeekAtLastError(); }).join();
  EXPECT_EQ(there, cudaSuccess);
  EXPECT_EQ(cudaGetLastError(), cudaErrorInvalidDevice);
}
TEST_F(CudartDevice, ErrorsHaveNamesAndTexts) {
  EXPECT_STREQ(cudaGetErrorName(cudaSuccess), "cudaSuccess");
  EXPECT_STREQ(cudaGetErrorString(cudaSuccess), "no error");
  EXPECT_STREQ(cudaGetErrorName(cudaErrorLaunchFailure), "cudaErrorLaunchFailure");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidValue), "invalid argument");
  EXPECT_STREQ(cudaGetErrorString(cudaErrorInvalidDevice), "invalid device ordinal");
  EXPECT_STREQ(cudaGetErrorString(static_cast<cudaError_t>(12345)), "unrecognized error code");
}
TEST_F(CudartDevice, VersionsAreOfCuda13) {
  int runtime = 0, driver = 0;
  EXPECT_EQ(cudaRuntimeGetVersion(&runtime), cudaSuccess);
  EXPECT_EQ(cudaDriverGetVersion(&driver), cudaSuccess);
  EXPECT_EQ(runtime, 13000);
  EXPECT_EQ(driver, 13000);
}

}  // namespace
