// SPDX-License-Identifier: Apache-2.0
// Reductions and copies: not yet.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_REDUCE_COPY__FUNCS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_REDUCE_COPY__FUNCS_H_

#include "../reduce_copy.h"

#if NCCL_CHECK_CUDACC
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLsaReduceLsaCopy(Args...) {
  static_assert(nccl::utility::always_false<T>::value, "not yet: ncclLsaReduceLsaCopy (docs/api-coverage.md)");
}
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLsaReduceMultimemCopy(Args...) {
  static_assert(nccl::utility::always_false<T>::value, "not yet: ncclLsaReduceMultimemCopy (docs/api-coverage.md)");
}
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLsaReduceSumLsaCopy(Args...) {
  static_assert(nccl::utility::always_false<T>::value, "not yet: ncclLsaReduceSumLsaCopy (docs/api-coverage.md)");
}
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLsaReduceSumMultimemCopy(Args...) {
  static_assert(nccl::utility::always_false<T>::value, "not yet: ncclLsaReduceSumMultimemCopy (docs/api-coverage.md)");
}
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumLsaCopy(Args...) {
  static_assert(nccl::utility::always_false<T>::value, "not yet: ncclMultimemReduceSumLsaCopy (docs/api-coverage.md)");
}
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumMultimemCopy(Args...) {
  static_assert(nccl::utility::always_false<T>::value,
                "not yet: ncclMultimemReduceSumMultimemCopy (docs/api-coverage.md)");
}
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLsaReduceSum(Args...) {
  static_assert(nccl::utility::always_false<T>::value, "not yet: ncclLsaReduceSum (docs/api-coverage.md)");
}
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclMultimemReduceSum(Args...) {
  static_assert(nccl::utility::always_false<T>::value, "not yet: ncclMultimemReduceSum (docs/api-coverage.md)");
}
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLocalReduceSum(Args...) {
  static_assert(nccl::utility::always_false<T>::value, "not yet: ncclLocalReduceSum (docs/api-coverage.md)");
}
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLsaCopy(Args...) {
  static_assert(nccl::utility::always_false<T>::value, "not yet: ncclLsaCopy (docs/api-coverage.md)");
}
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclMultimemCopy(Args...) {
  static_assert(nccl::utility::always_false<T>::value, "not yet: ncclMultimemCopy (docs/api-coverage.md)");
}
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLocalCopy(Args...) {
  static_assert(nccl::utility::always_false<T>::value, "not yet: ncclLocalCopy (docs/api-coverage.md)");
}
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLsaReduceSumCopy(Args...) {
  static_assert(nccl::utility::always_false<T>::value, "not yet: ncclLsaReduceSumCopy (docs/api-coverage.md)");
}
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumCopy(Args...) {
  static_assert(nccl::utility::always_false<T>::value, "not yet: ncclMultimemReduceSumCopy (docs/api-coverage.md)");
}
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLocalReduceSumCopy(Args...) {
  static_assert(nccl::utility::always_false<T>::value, "not yet: ncclLocalReduceSumCopy (docs/api-coverage.md)");
}
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_REDUCE_COPY__FUNCS_H_
