// SPDX-License-Identifier: Apache-2.0
// What the benchmarks of the whole thread share: ranks as the examples have them, and medians.
#pragma once

#include <algorithm>
#include <chrono>
#include <vector>

#include "../examples/common.h"

constexpr int kBatches = 5;  // a figure is the median of so many

inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

inline double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

// Nanoseconds, in a kernel of either target.
__device__ inline uint64_t device_ns() {
  uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

// Is this process one rank of several (anygin run), or are the ranks threads?
inline bool ranks_are_processes() {
  return std::getenv("RANK") && std::getenv("WORLD_SIZE");
}
inline const char* placement() {
  return ranks_are_processes() ? "processes" : "threads";
}
