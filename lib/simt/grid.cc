// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/grid.h"

#include <fmt/format.h>

#include "anygin/base/code_site.h"
#include "anygin/base/status.h"
#include "anygin/simt/cuda_error.h"
#include "anygin/simt/device.h"

namespace anygin::simt {

namespace {

std::atomic<uint64_t> last_grid_id{0};

// Adds `count` to `counter` unless that passes `limit`.
bool take_room(std::atomic<uint32_t>& counter, uint32_t count, uint32_t limit) {
  uint32_t seen = counter.load(std::memory_order_relaxed);
  do {
    if (seen + count > limit) return false;
  } while (!counter.compare_exchange_weak(seen, seen + count, std::memory_order_relaxed));
  return true;
}

}  // namespace

uint64_t newest_grid() {
  return last_grid_id.load(std::memory_order_relaxed);
}

bool DeviceLoad::take(uint32_t count) {
  if (!take_room(blocks, 1, blocks_max)) return false;
  if (take_room(lanes, count, lanes_max)) return true;
  blocks.fetch_sub(1, std::memory_order_relaxed);
  return false;
}

void DeviceLoad::give_back(uint32_t count) {
  lanes.fetch_sub(count, std::memory_order_relaxed);
  blocks.fetch_sub(1, std::memory_order_relaxed);
}

Grid::Grid(const LaunchShape& launch_shape, const BoundKernel& bound, DeviceLoad& load)
    : id(last_grid_id.fetch_add(1, std::memory_order_relaxed) + 1),
      shape(launch_shape),
      kernel(bound),
      device(load),
      lanes_per_block(launch_shape.block.x * launch_shape.block.y * launch_shape.block.z),
      blocks(uint64_t{launch_shape.grid.x} * launch_shape.grid.y * launch_shape.grid.z),
      stack_bytes(load.stack_bytes.load(std::memory_order_relaxed)),
      blocks_left(blocks) {}

Grid::~Grid() {
  if (kernel.destroy) kernel.destroy(kernel.arguments);
}

Index3 Grid::index_of(uint64_t linear_block) const {
  const uint64_t rows = linear_block / shape.grid.x;
  return {static_cast<unsigned>(linear_block % shape.grid.x), static_cast<unsigned>(rows % shape.grid.y),
          static_cast<unsigned>(rows / shape.grid.y)};
}

Index3 Grid::thread_of(uint32_t linear_thread) const {
  const uint32_t rows = linear_thread / shape.block.x;
  return {linear_thread % shape.block.x, rows % shape.block.y, rows / shape.block.y};
}

std::string Grid::name() const {
  if (const KernelRecord* record = anygin_find_kernel(kernel.function)) return record->name;
  return kernel.function ? describe_site(kernel.function) : "kernel";
}

void Grid::fail(const std::string& why) {
  fail(fmt::format("{}: {}", info_of(Cause::kKernelFault).name, why), AbortCause::kMisuse);
}

void Grid::fail(const std::string& why, AbortCause cause) {
  AbortCause none = AbortCause::kAlive;
  failed_of_.compare_exchange_strong(none, cause, std::memory_order_relaxed);
  poison_device(device.device, kCudaLaunchFailure, fmt::format("kernel {} (grid {}): {}", name(), id, why), cause);
}

AbortCause Grid::lost_by() const {
  const AbortCause cause = failed_of_.load(std::memory_order_relaxed);
  return cause == AbortCause::kAlive ? AbortCause::kAborted : cause;
}

}  // namespace anygin::simt
