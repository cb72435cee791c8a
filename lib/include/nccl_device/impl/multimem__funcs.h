// SPDX-License-Identifier: Apache-2.0
// What multicast addresses stand for, for the calls that store to them or reduce over them (docs/decisions/0028).
#ifndef ANYGIN_NCCL_DEVICE_IMPL_MULTIMEM__FUNCS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_MULTIMEM__FUNCS_H_

#include "../utility.h"

#if defined(ANYGIN_TARGET_CPU)
#include "anygin/base/multimem.h"
#endif

#if NCCL_CHECK_CUDACC
namespace anygin {
namespace multimem {

// The same place in the memory of each rank of a team, in the order of the team's ranks. No ranks: the address is no
// multicast address, or the bytes leave its window. The cuda target has none.
template <typename T>
struct Replicas {
  char* const* bases = nullptr;
  size_t offset = 0;
  int count = 0;
  NCCL_DEVICE_INLINE T* operator()(int i) const { return reinterpret_cast<T*>(bases[i] + offset); }
};

template <typename T>
NCCL_DEVICE_INLINE Replicas<T> replicas_of(T* address, size_t count) {
#if defined(ANYGIN_TARGET_CPU)
  MultimemReplicas found;
  anygin_find_multimem(address, count * sizeof(T), &found);
  return {found.bases, found.offset, found.count};
#else
  (void)address, (void)count;
  return {};
#endif
}

}  // namespace multimem
}  // namespace anygin
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_MULTIMEM__FUNCS_H_
