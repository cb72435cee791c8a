// SPDX-License-Identifier: Apache-2.0
// Cooperative groups of the cpu target: the block, the grid (launched cooperatively), tiles of a warp, lanes that are
// together. A cluster is one block. Device code.
#pragma once

#include "anygin_cuda/cuda_mode.h"

#ifdef ANYGIN_CUDA_DEVICE_CODE
#include "anygin/simt/device_runtime.h"
#include "anygin/simt/grid_sync.h"
#include "anygin_cuda/cuda_block.h"
#include "anygin_cuda/group_lanes.h"
#include "vector_types.h"

namespace cooperative_groups {

namespace details {

inline unsigned volume(const dim3& size) {
  return size.x * size.y * size.z;
}
inline unsigned long long linear_block() {
  return blockIdx.x + static_cast<unsigned long long>(gridDim.x) * (blockIdx.y + gridDim.y * blockIdx.z);
}
inline unsigned long long blocks_of_grid() {
  return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
}

}  // namespace details

// --- The block -------------------------------------------------------------------------------------------------------
class thread_block {
 public:
  static void sync() { __syncthreads(); }
  static unsigned thread_rank() { return anygin::simt::anygin_linear_thread; }
  static unsigned size() { return details::volume(blockDim); }
  static unsigned num_threads() { return size(); }
  static dim3 group_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  static dim3 thread_index() { return {threadIdx.x, threadIdx.y, threadIdx.z}; }
  static dim3 group_dim() { return blockDim; }
  static dim3 dim_threads() { return blockDim; }
};
inline thread_block this_thread_block() {
  return {};
}

// --- The cluster: of one block, since launches with larger ones are refused ------------------------------------------
class cluster_group {
 public:
  static void sync() { __syncthreads(); }
  static unsigned thread_rank() { return thread_block::thread_rank(); }
  static unsigned num_threads() { return thread_block::size(); }
  static unsigned size() { return thread_block::size(); }
  static unsigned block_rank() { return 0; }
  static unsigned num_blocks() { return 1; }
  static dim3 block_index() { return {0, 0, 0}; }
  static dim3 dim_blocks() { return {1, 1, 1}; }
  template <typename T>
  static T* map_shared_rank(T* address, int) {
    return address;
  }
};
inline cluster_group this_cluster() {
  return {};
}

// --- The grid --------------------------------------------------------------------------------------------------------
class grid_group {
 public:
  static bool is_valid() { return anygin::simt::anygin_grid_is_cooperative() != 0; }
  // Only in a grid that was launched cooperatively.
  static void sync() { anygin::simt::anygin_grid_sync(); }
  static unsigned long long thread_rank() {
    return details::linear_block() * thread_block::size() + thread_block::thread_rank();
  }
  static unsigned long long size() { return details::blocks_of_grid() * thread_block::size(); }
  static unsigned long long num_threads() { return size(); }
  static unsigned long long block_rank() { return details::linear_block(); }
  static unsigned long long num_blocks() { return details::blocks_of_grid(); }
  static dim3 block_index() { return {blockIdx.x, blockIdx.y, blockIdx.z}; }
  static dim3 dim_blocks() { return gridDim; }
  static dim3 group_dim() { return gridDim; }
};
inline grid_group this_grid() {
  return {};
}

// --- Any of them, by value -------------------------------------------------------------------------------------------
class thread_group {
 public:
  thread_group(const thread_block&) {}
  thread_group(const details::lane_set& lanes) : mask_(lanes.anygin_mask()) {}
  void sync() const {
    if (mask_ == 0) {
      __syncthreads();
    } else {
      __syncwarp(mask_);
    }
  }
  unsigned size() const { return mask_ == 0 ? thread_block::size() : static_cast<unsigned>(__builtin_popcount(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return mask_ == 0 ? thread_block::thread_rank() : lanes().thread_rank(); }

  coalesced_group lanes() const { return coalesced_group(mask_); }
  unsigned anygin_mask() const { return mask_; }

 private:
  unsigned mask_ = 0;  // 0: the block
};

// --- Partitions ------------------------------------------------------------------------------------------------------
template <unsigned kSize>
thread_block_tile<kSize, thread_block> tiled_partition(const thread_block&) {
  return {};
}
template <unsigned kSize, unsigned kParentSize, typename Parent>
thread_block_tile<kSize, thread_block_tile<kParentSize, Parent>> tiled_partition(
    const thread_block_tile<kParentSize, Parent>& parent) {
  static_assert(kSize <= kParentSize, "a tile is not larger than the group that it is part of");
  return thread_block_tile<kSize, thread_block_tile<kParentSize, Parent>>(parent.anygin_mask());
}
// `size` ranks each, in order of rank.
inline coalesced_group tiled_partition(const coalesced_group& parent, unsigned size) {
  unsigned rest = parent.anygin_mask();
  for (unsigned skip = parent.thread_rank() / size * size; skip > 0; --skip) rest &= rest - 1;
  unsigned mask = 0;
  for (unsigned taken = 0; taken < size && rest != 0; ++taken, rest &= rest - 1) mask |= rest & (0u - rest);
  return coalesced_group(mask, parent.thread_rank() / size, (parent.size() + size - 1) / size);
}
inline thread_group tiled_partition(const thread_group& parent, unsigned size) {
  if (parent.anygin_mask() != 0) return tiled_partition(parent.lanes(), size);
  if (size > 32 || (size & (size - 1)) != 0) {
    anygin::simt::anygin_trap("tiled_partition of a block: a size is a power of two up to 32 on the cpu target");
  }
  return coalesced_group(details::tile_mask(size));
}
// The lanes of `group` with the same label.
template <typename Label>
__attribute__((always_inline)) inline coalesced_group labeled_partition(const details::lane_set& group, Label label) {
  return coalesced_group(__match_any_sync(group.anygin_mask(), label));
}
__attribute__((always_inline)) inline coalesced_group binary_partition(const details::lane_set& group, bool predicate) {
  const unsigned yes = __ballot_sync(group.anygin_mask(), predicate);
  return coalesced_group(predicate ? yes : group.anygin_mask() & ~yes);
}

// --- Functions of any group ------------------------------------------------------------------------------------------
template <typename Group>
void sync(const Group& group) {
  group.sync();
}
template <typename Group>
auto thread_rank(const Group& group) {
  return group.thread_rank();
}
template <typename Group>
auto group_size(const Group& group) {
  return group.size();
}
// Calls `function(arguments...)` on one thread of the group.
template <typename Group, typename Function, typename... Arguments>
void invoke_one(const Group& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) function(static_cast<Arguments&&>(arguments)...);
}

}  // namespace cooperative_groups
#endif
