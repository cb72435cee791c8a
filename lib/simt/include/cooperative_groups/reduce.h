// SPDX-License-Identifier: Apache-2.0
// cooperative_groups::reduce over the lanes of a tile or of a coalesced group. Device code.
#pragma once

#include "cooperative_groups.h"

#ifdef ANYGIN_CUDA_DEVICE_CODE
namespace cooperative_groups {

template <typename T>
struct plus {
  T operator()(T a, T b) const { return a + b; }
};
template <typename T>
struct less {
  T operator()(T a, T b) const { return b < a ? b : a; }
};
template <typename T>
struct greater {
  T operator()(T a, T b) const { return a < b ? b : a; }
};
template <typename T>
struct bit_and {
  T operator()(T a, T b) const { return a & b; }
};
template <typename T>
struct bit_or {
  T operator()(T a, T b) const { return a | b; }
};
template <typename T>
struct bit_xor {
  T operator()(T a, T b) const { return a ^ b; }
};

// The same result on every rank: op over the values in order of rank.
template <typename Group, typename T, typename Operation>
T reduce(const Group& group, T value, Operation&& operation) {
  const unsigned size = static_cast<unsigned>(__builtin_popcount(group.anygin_mask()));
  const unsigned rank = group.thread_rank();
  for (unsigned step = 1; step < size; step *= 2) {
    const T other = group.shfl_down(value, step);
    if (rank + step < size) value = operation(value, other);
  }
  return group.shfl(value, 0);
}

}  // namespace cooperative_groups
#endif
