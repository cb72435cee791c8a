// SPDX-License-Identifier: Apache-2.0
// Cooperative groups inside a warp: tiles of a power of two, and whatever lanes are together. Both are a mask of lanes.
#pragma once

#include <type_traits>

#include "anygin_cuda/cuda_warp.h"
#include "device_launch_parameters.h"

namespace cooperative_groups {

namespace details {

// A value of any size from another lane of the mask.
template <typename T>
__attribute__((always_inline)) inline T from_lane(unsigned mask, const T& value, unsigned lane) {
  static_assert(std::is_trivially_copyable<T>::value, "a shuffle moves plain values");
  T result = value;
  anygin::simt::WarpOp op;
  op.kind = anygin::simt::WarpOpKind::kShuffle;
  op.mask = mask;
  op.source_lane = static_cast<int>(lane);
  op.bytes = sizeof(T);
  op.value = &value;
  op.result = &result;
  op.call_site = anygin::simt::call_site();
  anygin::simt::anygin_warp_op(&op);
  return result;
}

// The lanes of `mask`, by rank: rank 0 is the lowest.
class lane_set {
 public:
  unsigned size() const { return static_cast<unsigned>(__builtin_popcount(mask_)); }
  unsigned num_threads() const { return size(); }
  unsigned thread_rank() const { return rank_of(anygin::simt::lane_of_warp()); }
  __attribute__((always_inline)) void sync() const { __syncwarp(mask_); }

  // Ranks beyond the group count modulo its size.
  template <typename T>
  __attribute__((always_inline)) T shfl(T value, unsigned rank) const {
    return from_lane(mask_, value, lane_of(rank % size()));
  }
  // The own value where there is no such rank.
  template <typename T>
  __attribute__((always_inline)) T shfl_up(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return from_lane(mask_, value, lane_of(rank < delta ? rank : rank - delta));
  }
  template <typename T>
  __attribute__((always_inline)) T shfl_down(T value, unsigned delta) const {
    const unsigned rank = thread_rank();
    return from_lane(mask_, value, lane_of(rank + delta < size() ? rank + delta : rank));
  }
  __attribute__((always_inline)) int any(int predicate) const { return __any_sync(mask_, predicate); }
  __attribute__((always_inline)) int all(int predicate) const { return __all_sync(mask_, predicate); }
  // Bit r: rank r.
  __attribute__((always_inline)) unsigned ballot(int predicate) const {
    return ranks_of(__ballot_sync(mask_, predicate));
  }
  template <typename T>
  __attribute__((always_inline)) unsigned match_any(T value) const {
    return ranks_of(__match_any_sync(mask_, value));
  }
  template <typename T>
  __attribute__((always_inline)) unsigned match_all(T value, int& all_equal) const {
    return ranks_of(__match_all_sync(mask_, value, &all_equal));
  }

  unsigned anygin_mask() const { return mask_; }

 protected:
  explicit lane_set(unsigned mask) : mask_(mask) {}

  unsigned rank_of(int lane) const {
    return static_cast<unsigned>(__builtin_popcount(mask_ & ((1u << static_cast<unsigned>(lane)) - 1)));
  }
  unsigned lane_of(unsigned rank) const {
    unsigned rest = mask_;
    for (; rank > 0; --rank) rest &= rest - 1;
    return static_cast<unsigned>(__builtin_ctz(rest));
  }
  unsigned ranks_of(unsigned lanes) const {
    unsigned ranks = 0, rank = 0;
    for (unsigned rest = mask_; rest != 0; rest &= rest - 1, ++rank) {
      ranks |= ((lanes >> __builtin_ctz(rest)) & 1u) << rank;
    }
    return ranks;
  }

  unsigned mask_;
};

// `size` lanes, a power of two, of the calling lane's warp; in the last warp of a block only those that exist.
inline unsigned tile_mask(unsigned size) {
  const unsigned warp_first = anygin::simt::anygin_linear_thread & ~31u;
  const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
  const unsigned there = threads - warp_first >= 32 ? ~0u : (1u << (threads - warp_first)) - 1;
  const unsigned lane = anygin::simt::anygin_linear_thread & 31u;
  const unsigned ones = size == 32 ? ~0u : (1u << size) - 1;
  return (ones << (lane & ~(size - 1))) & there;
}

}  // namespace details

class coalesced_group : public details::lane_set {
 public:
  explicit coalesced_group(unsigned anygin_lanes, unsigned meta_rank = 0, unsigned meta_size = 1)
      : lane_set(anygin_lanes), meta_rank_(meta_rank), meta_size_(meta_size) {}
  unsigned meta_group_rank() const { return meta_rank_; }
  unsigned meta_group_size() const { return meta_size_; }

 private:
  unsigned meta_rank_;
  unsigned meta_size_;
};

// Lanes that come here together: those of the warp that asked while nothing else of the block could run.
__attribute__((always_inline)) inline coalesced_group coalesced_threads() {
  return coalesced_group(__activemask());
}

template <unsigned kSize, typename Parent = void>
class thread_block_tile : public details::lane_set {
  static_assert((kSize & (kSize - 1)) == 0 && kSize >= 1, "a tile's size is a power of two");
  static_assert(kSize <= 32, "tiles of more than a warp are not supported on the cpu target: use the block");

 public:
  thread_block_tile() : lane_set(details::tile_mask(kSize)) {
    const unsigned threads = blockDim.x * blockDim.y * blockDim.z;
    rank_ = anygin::simt::anygin_linear_thread / kSize;
    tiles_ = (threads + kSize - 1) / kSize;
  }
  // Of a group inside a warp: numbered within it.
  explicit thread_block_tile(unsigned parent_mask) : lane_set(details::tile_mask(kSize) & parent_mask) {
    rank_ = (anygin::simt::anygin_linear_thread & 31u) / kSize;
    tiles_ = (static_cast<unsigned>(__builtin_popcount(parent_mask)) + kSize - 1) / kSize;
    if (tiles_ > 0) rank_ %= tiles_;
  }
  template <typename OtherParent>
  thread_block_tile(const thread_block_tile<kSize, OtherParent>& other)
      : lane_set(other.anygin_mask()), rank_(other.meta_group_rank()), tiles_(other.meta_group_size()) {}

  static constexpr unsigned size() { return kSize; }
  static constexpr unsigned num_threads() { return kSize; }
  unsigned thread_rank() const { return anygin::simt::anygin_linear_thread & (kSize - 1); }
  unsigned meta_group_rank() const { return rank_; }
  unsigned meta_group_size() const { return tiles_; }

  template <typename T>
  __attribute__((always_inline)) T shfl(T value, unsigned rank) const {
    return details::from_lane(mask_, value, first_lane() + rank % kSize);
  }
  template <typename T>
  __attribute__((always_inline)) T shfl_xor(T value, unsigned lane_mask) const {
    const unsigned rank = thread_rank() ^ lane_mask;
    return details::from_lane(mask_, value, first_lane() + (rank < kSize ? rank : thread_rank()));
  }

 private:
  static unsigned first_lane() { return anygin::simt::anygin_linear_thread & 31u & ~(kSize - 1); }

  unsigned rank_;
  unsigned tiles_;
};

}  // namespace cooperative_groups
