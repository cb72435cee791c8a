// SPDX-License-Identifier: Apache-2.0
// A launched kernel: its shape, its bound arguments, and how much of it is left to run.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "anygin/base/wait.h"
#include "anygin/simt/device_runtime.h"
#include "anygin/simt/ended_use.h"
#include "anygin/simt/stack_pool.h"

namespace anygin::simt {

// What blocks of all grids of a device share. One a device; never destroyed.
struct DeviceLoad {
  int device = 0;
  uint32_t lanes_max = 0;  // resident at one time
  uint32_t blocks_max = 0;
  std::atomic<int> error{0};                             // cudaError_t once the device is lost: its grids are abandoned
  std::atomic<AbortCause> lost_by{AbortCause::kMisuse};  // while it is lost
  EndedUses ended;
  std::atomic<uint32_t> lanes{0};
  std::atomic<uint32_t> blocks{0};
  std::atomic<size_t> stack_bytes{StackPool::kBytesLeast};  // of lanes of grids launched from now on
  std::atomic<ptrdiff_t> variables_distance{0};             // of its copies of __device__ variables (device_variable.h)

  // Takes room for a block of `count` lanes; any worker.
  bool take(uint32_t count);
  bool has_room(uint32_t count) const { return blocks.load() < blocks_max && lanes.load() + count <= lanes_max; }
  void give_back(uint32_t count);
};

// The id of the last grid that was launched.
uint64_t newest_grid();

// Owned by the stream operation that launched it, until `done` is called.
class Grid {
 public:
  Grid(const LaunchShape& shape, const BoundKernel& kernel, DeviceLoad& device);
  ~Grid();  // destroys the arguments
  Grid(const Grid&) = delete;
  Grid& operator=(const Grid&) = delete;

  Index3 index_of(uint64_t linear_block) const;
  Index3 thread_of(uint32_t linear_thread) const;
  // For reports: the registered name, else the symbol, else "kernel".
  std::string name() const;
  bool abandoned() const { return device.error.load(std::memory_order_relaxed) != 0; }
  // The first reason wins: says it on stderr, and the device is lost with cudaErrorLaunchFailure. Any thread.
  void fail(const std::string& why, AbortCause cause);
  // The kernel itself is at fault.
  void fail(const std::string& why);
  // Why lanes that are abandoned do not go on: what the grid failed of, or kAborted if it is another's fault.
  AbortCause lost_by() const;

  // Fixed.
  const uint64_t id;  // in launch order, from 1
  const LaunchShape shape;
  const BoundKernel kernel;
  DeviceLoad& device;
  const uint32_t lanes_per_block;
  const uint64_t blocks;
  const size_t stack_bytes;  // of a lane
  // Called once by the worker that finished the last block.
  std::function<void()> done;

  // Workers.
  std::atomic<uint64_t> blocks_left;
  // Lanes of a cooperative grid: blocks at its barrier, and how often all have met there.
  std::atomic<uint64_t> sync_arrived{0};
  std::atomic<uint32_t> sync_round{0};

 private:
  std::atomic<AbortCause> failed_of_{AbortCause::kAlive};
};

}  // namespace anygin::simt
