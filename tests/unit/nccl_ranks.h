// SPDX-License-Identifier: Apache-2.0
// Ranks of a communicator as threads, through nccl.h, for tests.
#pragma once

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "anygin/base/options.h"
#include "nccl_device/core.h"

namespace anygin::comm {

// Options for one test; the ones of the environment afterwards.
class WithOptions {
 public:
  explicit WithOptions(const std::function<void(Options&)>& change) : before_(options()) {
    Options changed = before_;
    change(changed);
    set_options_for_test(changed);
  }
  ~WithOptions() { set_options_for_test(before_); }

 private:
  const Options before_;
};

#define ANYGIN_NCCL_OK(call) EXPECT_EQ(call, ncclSuccess) << ncclGetLastError(nullptr)

// Runs `body(comm, rank)` on a thread a rank, each with a communicator of its own, and destroys them. Before they join,
// `begin(rank)` may give each thread a device.
inline void on_comms(
    int size, const std::function<void(ncclComm_t, int)>& body, const std::function<void(int)>& begin = [](int) {}) {
  ncclUniqueId id;
  ASSERT_EQ(ncclGetUniqueId(&id), ncclSuccess) << ncclGetLastError(nullptr);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      ncclComm_t comm = nullptr;
      begin(rank);
      ASSERT_EQ(ncclCommInitRank(&comm, size, id, rank), ncclSuccess) << ncclGetLastError(nullptr);
      body(comm, rank);
      ANYGIN_NCCL_OK(ncclCommDestroy(comm));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

inline std::string last_error() {
  return ncclGetLastError(nullptr);
}

inline bool last_error_says(const std::string& words) {
  return last_error().find(words) != std::string::npos;
}

// Device memory that is freed at the end.
class DeviceMemory {
 public:
  explicit DeviceMemory(size_t bytes) { ANYGIN_NCCL_OK(ncclMemAlloc(&memory_, bytes)); }
  ~DeviceMemory() { ANYGIN_NCCL_OK(ncclMemFree(memory_)); }
  DeviceMemory(const DeviceMemory&) = delete;
  DeviceMemory& operator=(const DeviceMemory&) = delete;
  char* at(size_t offset = 0) const { return static_cast<char*>(memory_) + offset; }

 private:
  void* memory_ = nullptr;
};

}  // namespace anygin::comm
