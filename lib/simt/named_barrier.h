// SPDX-License-Identifier: Apache-2.0
// The sixteen barriers that a kernel names by number, but for number 0, which is the block barrier.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace anygin::simt {

struct Block;

struct NamedBarrier {
  uint32_t threads = 0;               // wanted by the first to arrive
  uint32_t warps = 0;                 // that take part: a warp counts whole, exited lanes and all
  std::vector<uint16_t> lanes;        // waiting, in order of arrival
  std::array<uint32_t, 32> passed{};  // by warp: lanes that arrived and did not wait (bar.arrive)
  bool used() const { return warps != 0; }
};

class NamedBarriers {
 public:
  static constexpr int kCount = 16;

  NamedBarrier& at(int id) { return barriers_[static_cast<size_t>(id)]; }
  const NamedBarrier& at(int id) const { return barriers_[static_cast<size_t>(id)]; }
  // Releases what the exit of a lane completed.
  void release_complete(Block& block);
  void clear();

 private:
  std::array<NamedBarrier, kCount> barriers_;
};

// bar.arrive id, threads: counts the calling lane, which goes on.
void arrive_at_named_barrier(int id, int threads);

}  // namespace anygin::simt
