// SPDX-License-Identifier: Apache-2.0
// Reductions and copies over load/store peers, multicast addresses and local memory. Contract 9.
//
// Each call is collective over `coop`, moves `count` elements of T, and orders nothing: put barriers around it.
// Pointers are aligned to sizeof(T). `source(i)` and `destination(i)` give the pointer of participant i, the same on
// all threads of the coop; calls that take a team mean the window place on each of its ranks, and the team lies within
// the LSA team; ncclDevComm stands for its LSA team. Offsets into windows are in bytes, `displ` in elements.
//
// Sources are folded in the order 0, 1, ... nSrc - 1, so that all ranks get the same bits. Sums of half and bfloat16
// accumulate in float, of fp8 in half, of the others in T, and round once. UNROLL: elements a thread has in flight, a
// hint. Multicast addresses: not yet; the names take any arguments and do not compile.
#ifndef ANYGIN_NCCL_DEVICE_REDUCE_COPY_H_
#define ANYGIN_NCCL_DEVICE_REDUCE_COPY_H_

#include "comm.h"
#include "coop.h"
#include "ptr.h"

#if NCCL_CHECK_CUDACC
#include <type_traits>

// --- Any operator ----------------------------------------------------------------------------------------------------
// RedOp is Red<T>, an instance of a class template of one type, with a const operator()(a, b). It is
// default-constructed here: the object passed is not looked at. It accumulates in T, and is not applied to one source
// alone.
template <typename T, typename Coop, typename SrcLambda, typename DstLambda, typename RedOp, typename IntCount,
          int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaReduceLsaCopy(Coop coop, SrcLambda source, int nSrc, DstLambda destination, int nDst,
                                             RedOp const& redOp, IntCount count);

// --- Sums, N to M ----------------------------------------------------------------------------------------------------
template <typename T, typename Coop, typename SrcLambda, typename DstLambda, typename IntCount,
          int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaReduceSumLsaCopy(Coop coop, SrcLambda source, int nSrc, DstLambda destination, int nDst,
                                                IntCount count);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaReduceSumCopy(Coop coop, ncclSymPtr<T> source, ncclSymPtr<T> destination, IntCount count,
                                             ncclTeam team);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaReduceSumCopy(Coop coop, ncclSymPtr<T> source, ncclSymPtr<T> destination, IntCount count,
                                             ncclDevComm const& devComm);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaReduceSumCopy(Coop coop, ncclWindow_t sourceWindow, size_t sourceOffset,
                                             ncclWindow_t destinationWindow, size_t destinationOffset, IntCount count,
                                             ncclTeam team);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaReduceSumCopy(Coop coop, ncclWindow_t sourceWindow, size_t sourceOffset,
                                             ncclWindow_t destinationWindow, size_t destinationOffset, IntCount count,
                                             ncclDevComm const& devComm);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaReduceSumCopy(Coop coop, ncclSymPtr<T> source, ncclTeam sourceTeam,
                                             ncclSymPtr<T> destination, ncclTeam destinationTeam, IntCount count);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLocalReduceSumCopy(Coop coop, int nSrc, T* sourceBase, size_t sourceDispl, int nDst,
                                               T* destinationBase, size_t destinationDispl, IntCount count);

// --- Sums, N to 1 ----------------------------------------------------------------------------------------------------
template <typename T, typename Coop, typename SrcLambda, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaReduceSum(Coop coop, SrcLambda source, int nSrc, T* destination, IntCount count);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaReduceSum(Coop coop, ncclSymPtr<T> source, T* destination, IntCount count,
                                         ncclTeam team);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaReduceSum(Coop coop, ncclSymPtr<T> source, T* destination, IntCount count,
                                         ncclDevComm const& devComm);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaReduceSum(Coop coop, ncclWindow_t window, size_t offset, T* destination, IntCount count,
                                         ncclTeam team);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaReduceSum(Coop coop, ncclWindow_t window, size_t offset, T* destination, IntCount count,
                                         ncclDevComm const& devComm);
template <typename T, typename Coop, typename SrcLambda, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLocalReduceSum(Coop coop, SrcLambda source, int nSrc, T* destination, IntCount count);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLocalReduceSum(Coop coop, int nSrc, T* base, size_t displ, T* destination, IntCount count);

// --- Copies, 1 to N --------------------------------------------------------------------------------------------------
template <typename T, typename Coop, typename DstLambda, typename IntCount, int UNROLL = 4 * 16 / sizeof(T),
          typename = typename std::enable_if<std::is_integral<IntCount>::value>::type>
NCCL_DEVICE_INLINE void ncclLsaCopy(Coop coop, T* source, DstLambda destination, int nDst, IntCount count);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaCopy(Coop coop, T* source, ncclSymPtr<T> destination, IntCount count, ncclTeam team);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaCopy(Coop coop, T* source, ncclSymPtr<T> destination, IntCount count,
                                    ncclDevComm const& devComm);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaCopy(Coop coop, T* source, ncclWindow_t window, size_t offset, IntCount count,
                                    ncclTeam team);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaCopy(Coop coop, T* source, ncclWindow_t window, size_t offset, IntCount count,
                                    ncclDevComm const& devComm);
template <typename T, typename Coop, typename DstLambda, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLocalCopy(Coop coop, T* source, DstLambda destination, int nDst, IntCount count);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLocalCopy(Coop coop, T* source, int nDst, T* base, size_t displ, IntCount count);

// --- Multicast: not yet ----------------------------------------------------------------------------------------------
template <typename T = void, typename... Args>
NCCL_DEVICE_INLINE void ncclLsaReduceMultimemCopy(Args... args);
template <typename T = void, typename... Args>
NCCL_DEVICE_INLINE void ncclLsaReduceSumMultimemCopy(Args... args);
template <typename T = void, typename... Args>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumLsaCopy(Args... args);
template <typename T = void, typename... Args>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumMultimemCopy(Args... args);
template <typename T = void, typename... Args>
NCCL_DEVICE_INLINE void ncclMultimemReduceSum(Args... args);
template <typename T = void, typename... Args>
NCCL_DEVICE_INLINE void ncclMultimemCopy(Args... args);
template <typename T = void, typename... Args>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumCopy(Args... args);
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_REDUCE_COPY_H_
