// SPDX-License-Identifier: Apache-2.0
// Symbols: the copy of the current device, its bounds, and what is no symbol.
#include <gtest/gtest.h>

#include "anygin/simt/device_variable.h"
#include "cuda_runtime.h"

namespace {

using anygin::simt::on_device;
using anygin::simt::register_device_variable;

int words[4] = {1, 2, 3, 4};
const int kConstants[2] = {5, 6};
int* pointer = &words[1];
int stranger = 7;
[[maybe_unused]] const bool registered = register_device_variable(words, "words") &&
                                         register_device_variable(kConstants, "kConstants") &&
                                         register_device_variable(pointer, "pointer");

class CudartSymbol : public ::testing::Test {
 protected:
  void TearDown() override {
    for (int device = 0; device < 2; ++device) {
      EXPECT_EQ(cudaSetDevice(device), cudaSuccess);
      EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
    }
    EXPECT_EQ(cudaSetDevice(0), cudaSuccess);
    cudaGetLastError();
  }
};

TEST_F(CudartSymbol, EveryDeviceHasItsCopy) {
  const int values[2] = {30, 40};
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaMemcpyToSymbol(words, values, sizeof(values), 2 * sizeof(int)), cudaSuccess);
  int back[4] = {};
  ASSERT_EQ(cudaMemcpyFromSymbol(back, words, sizeof(back)), cudaSuccess);
  EXPECT_EQ(back[1], 2);
  EXPECT_EQ(back[2], 30);
  EXPECT_EQ(back[3], 40);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  ASSERT_EQ(cudaMemcpyFromSymbol(back, words, sizeof(back)), cudaSuccess);
  EXPECT_EQ(back[2], 3);
  EXPECT_EQ(back[3], 4);
}

TEST_F(CudartSymbol, StreamsSayWhichDevice) {
  cudaStream_t stream;
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
  const int value = 50;
  int back = 0, mine = 0;
  ASSERT_EQ(cudaMemcpyToSymbolAsync(words, &value, sizeof(value), 0, cudaMemcpyHostToDevice, stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpyFromSymbolAsync(&back, words, sizeof(back), 0, cudaMemcpyDeviceToHost, stream), cudaSuccess);
  ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  ASSERT_EQ(cudaMemcpyFromSymbol(&mine, words, sizeof(mine)), cudaSuccess);
  EXPECT_EQ(back, 50);
  EXPECT_EQ(mine, 1);
  EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
}

TEST_F(CudartSymbol, AddressesAreDeviceMemory) {
  void* address[2] = {};
  for (int device = 0; device < 2; ++device) {
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    ASSERT_EQ(cudaGetSymbolAddress(&address[device], words), cudaSuccess);
    cudaPointerAttributes attributes;
    ASSERT_EQ(cudaPointerGetAttributes(&attributes, address[device]), cudaSuccess);
    EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
    EXPECT_EQ(attributes.device, device);
  }
  EXPECT_EQ(address[0], words);
  EXPECT_NE(address[1], words);
  int first = 0;
  EXPECT_EQ(cudaMemcpy(&first, address[1], sizeof(first), cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_EQ(first, 1);
  int many[8] = {};
  EXPECT_EQ(cudaMemcpy(many, address[1], sizeof(many), cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
}

TEST_F(CudartSymbol, APointerPointsIntoItsOwnDevice) {
  int* where = nullptr;
  void* address = nullptr;
  ASSERT_EQ(cudaSetDevice(1), cudaSuccess);
  ASSERT_EQ(cudaGetSymbolAddress(&address, words), cudaSuccess);
  ASSERT_EQ(cudaMemcpyFromSymbol(&where, pointer, sizeof(where)), cudaSuccess);
  EXPECT_EQ(where, static_cast<int*>(address) + 1);
}

TEST_F(CudartSymbol, ResetBringsTheFirstValuesBack) {
  const int value = 60;
  for (int device = 0; device < 2; ++device) {
    int back = 0;
    ASSERT_EQ(cudaSetDevice(device), cudaSuccess);
    ASSERT_EQ(cudaMemcpyToSymbol(words, &value, sizeof(value)), cudaSuccess);
    ASSERT_EQ(cudaDeviceReset(), cudaSuccess);
    ASSERT_EQ(cudaMemcpyFromSymbol(&back, words, sizeof(back)), cudaSuccess);
    EXPECT_EQ(back, 1);
  }
}

TEST_F(CudartSymbol, MisuseIsNamed) {
  size_t bytes = 0;
  int back[2] = {};
  EXPECT_EQ(cudaGetSymbolSize(&bytes, kConstants), cudaSuccess);
  EXPECT_EQ(bytes, sizeof(kConstants));
  EXPECT_EQ(cudaMemcpyFromSymbol(back, kConstants, sizeof(back)), cudaSuccess);
  EXPECT_EQ(back[1], 6);
  EXPECT_EQ(cudaGetSymbolSize(&bytes, stranger), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaMemcpyToSymbol(stranger, back, sizeof(int)), cudaErrorInvalidSymbol);
  EXPECT_EQ(cudaMemcpyToSymbol(words, back, sizeof(back), 3 * sizeof(int)), cudaErrorInvalidValue);
  EXPECT_EQ(cudaMemcpyToSymbol(words, back, sizeof(back), 0, cudaMemcpyDeviceToHost), cudaErrorInvalidMemcpyDirection);
  EXPECT_EQ(cudaMemcpyFromSymbol(back, words, sizeof(back), 2 * sizeof(int)), cudaSuccess);
  EXPECT_EQ(cudaPeekAtLastError(), cudaErrorInvalidMemcpyDirection);
}

TEST_F(CudartSymbol, OnAHostThreadAVariableIsItself) {
  int local = 3;
  EXPECT_EQ(&on_device(words), &words);
  EXPECT_EQ(&on_device(local), &local);
  EXPECT_EQ(on_device(4), 4);
}

}  // namespace
