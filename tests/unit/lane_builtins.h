// SPDX-License-Identifier: Apache-2.0
// Runs a callable on lanes and hands back what each wrote.
#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "anygin/simt/device_runtime.h"
#include "cuda_runtime.h"

namespace anygin::test {

// `body(T* out)` runs on `threads` lanes of one block; lane i usually writes out[i]. Starts as zeros.
template <typename T, typename Body>
std::vector<T> on_lanes(unsigned threads, Body body, size_t results = 0) {
  const size_t count = results != 0 ? results : threads;
  T* out = nullptr;
  EXPECT_EQ(cudaMallocHost(&out, count * sizeof(T)), cudaSuccess);
  for (size_t i = 0; i < count; ++i) out[i] = T{};
  simt::LaunchShape shape;
  shape.block = {threads, 1, 1};
  EXPECT_EQ(simt::launch_callable(shape, [=] { body(out); }), cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);  // waits for the grid; ctest bounds it
  std::vector<T> copy(out, out + count);
  EXPECT_EQ(cudaFreeHost(out), cudaSuccess);
  return copy;
}

}  // namespace anygin::test
