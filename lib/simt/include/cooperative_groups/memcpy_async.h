// SPDX-License-Identifier: Apache-2.0
// cooperative_groups::memcpy_async: the threads of the group copy at once, wait() is the group's barrier. Device code.
#pragma once

#include <cstddef>
#include <cstring>

#include "cooperative_groups.h"

#ifdef ANYGIN_CUDA_DEVICE_CODE
namespace cooperative_groups {

// `bytes` bytes; both sides are ready for use after wait().
template <typename Group, typename To, typename From, typename Bytes>
void memcpy_async(const Group& group, To* to, const From* from, const Bytes& bytes) {
  constexpr size_t kPiece = 256;
  const size_t all = static_cast<size_t>(bytes), threads = group.size();
  for (size_t at = kPiece * group.thread_rank(); at < all; at += kPiece * threads) {
    const size_t piece = all - at < kPiece ? all - at : kPiece;
    memcpy(reinterpret_cast<char*>(to) + at, reinterpret_cast<const char*>(from) + at, piece);
  }
}
// As many elements as both sides have.
template <typename Group, typename T, typename ToCount, typename FromCount>
void memcpy_async(const Group& group, T* to, const ToCount& to_count, const T* from, const FromCount& from_count) {
  const size_t have = static_cast<size_t>(from_count), room = static_cast<size_t>(to_count);
  memcpy_async(group, to, from, (have < room ? have : room) * sizeof(T));
}
template <typename Group>
void wait(const Group& group) {
  group.sync();
}
// All but the last `kStages` copies are done; here all are.
template <unsigned kStages, typename Group>
void wait_prior(const Group& group) {
  group.sync();
}

}  // namespace cooperative_groups
#endif
