// SPDX-License-Identifier: Apache-2.0
// Reductions and copies over load/store peers, multicast addresses and local memory. Contract 9. Not yet: each name
// takes any arguments, and is an error when compiled in.
#ifndef ANYGIN_NCCL_DEVICE_REDUCE_COPY_H_
#define ANYGIN_NCCL_DEVICE_REDUCE_COPY_H_

#include "comm.h"
#include "coop.h"
#include "ptr.h"

#if NCCL_CHECK_CUDACC
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLsaReduceLsaCopy(Args... args);
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLsaReduceMultimemCopy(Args... args);
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLsaReduceSumLsaCopy(Args... args);
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLsaReduceSumMultimemCopy(Args... args);
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumLsaCopy(Args... args);
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumMultimemCopy(Args... args);
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLsaReduceSum(Args... args);
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclMultimemReduceSum(Args... args);
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLocalReduceSum(Args... args);
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLsaCopy(Args... args);
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclMultimemCopy(Args... args);
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLocalCopy(Args... args);
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLsaReduceSumCopy(Args... args);
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumCopy(Args... args);
template <typename T, typename... Args>
NCCL_DEVICE_INLINE void ncclLocalReduceSumCopy(Args... args);
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_REDUCE_COPY_H_
