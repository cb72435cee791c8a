// SPDX-License-Identifier: Apache-2.0
// cooperative_groups::inclusive_scan and exclusive_scan over the lanes of a tile or of a coalesced group. Device code.
#pragma once

#include "cooperative_groups/reduce.h"

#ifdef ANYGIN_CUDA_DEVICE_CODE
namespace cooperative_groups {

// Rank r gets op over the values of ranks 0 .. r.
template <typename Group, typename T, typename Operation>
T inclusive_scan(const Group& group, T value, Operation&& operation) {
  const unsigned size = static_cast<unsigned>(__builtin_popcount(group.anygin_mask()));
  const unsigned rank = group.thread_rank();
  for (unsigned step = 1; step < size; step *= 2) {
    const T other = group.shfl_up(value, step);
    if (rank >= step) value = operation(other, value);
  }
  return value;
}
template <typename Group, typename T>
T inclusive_scan(const Group& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
// Of ranks 0 .. r-1; rank 0 gets T().
template <typename Group, typename T, typename Operation>
T exclusive_scan(const Group& group, T value, Operation&& operation) {
  const T before = group.shfl_up(inclusive_scan(group, value, operation), 1);
  return group.thread_rank() == 0 ? T() : before;
}
template <typename Group, typename T>
T exclusive_scan(const Group& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

}  // namespace cooperative_groups
#endif
