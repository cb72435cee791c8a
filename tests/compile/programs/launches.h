// SPDX-License-Identifier: Apache-2.0
// Launches from a header and from macros.
#pragma once

// clang-format off
#define LAUNCH(kernel, grid, block, ...) kernel<<<grid, block>>>(__VA_ARGS__)
#define OPEN_LAUNCH <<<
#define CLOSE_LAUNCH >>>
// clang-format on

namespace outer {
namespace {
inline namespace v1 {
template <typename T, int kStep = 1>
__global__ void add(T* sum, T value) {
  for (int i = 0; i < kStep; ++i) atomicAdd(sum, value);
}
}  // namespace v1
}  // namespace
}  // namespace outer

template <typename T>
struct Adder {
  template <int kStep>
  void run(T* sum, T value) {
    outer::add<T, kStep><<<1, kStep>>>(sum, value);
  }
};
