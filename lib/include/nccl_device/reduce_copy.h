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
// hint.
//
// Multicast addresses (`mc...`, or a handle; with lambdas: what they return, all of teams of one size): a source counts
// as the sum over the ranks of its team, in their order, and is added up only; a destination is each rank's part.
// Elements of fewer than 4 bytes move 16 bytes at a time: pointers and count that leave single ones over are a misuse
// unless NCCL_DEVICE_PERMIT_EXPERIMENTAL_CODE is defined. So is an address that is no multicast address.
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

// --- Multicast -------------------------------------------------------------------------------------------------------
template <typename T, typename Coop, typename SrcLambda, typename DstLambda, typename RedOp, typename IntCount,
          int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaReduceMultimemCopy(Coop coop, SrcLambda source, int nSrc, DstLambda destination,
                                                  int nDst, RedOp const& redOp, IntCount count);
template <typename T, typename Coop, typename SrcLambda, typename DstLambda, typename IntCount,
          int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaReduceSumMultimemCopy(Coop coop, SrcLambda source, int nSrc, DstLambda destination,
                                                     int nDst, IntCount count);
template <typename T, typename Coop, typename SrcLambda, typename DstLambda, typename IntCount,
          int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumLsaCopy(Coop coop, SrcLambda source, int nSrc, DstLambda destination,
                                                     int nDst, IntCount count);
template <typename T, typename Coop, typename SrcLambda, typename DstLambda, typename IntCount,
          int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumMultimemCopy(Coop coop, SrcLambda source, int nSrc, DstLambda destination,
                                                          int nDst, IntCount count);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclMultimemReduceSum(Coop coop, T* mcSource, T* destination, IntCount count);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclMultimemReduceSum(Coop coop, ncclSymPtr<T> source, T* destination, IntCount count,
                                              ncclMultimemHandle mm);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclMultimemReduceSum(Coop coop, ncclWindow_t window, size_t offset, T* destination,
                                              IntCount count, ncclMultimemHandle mm);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclMultimemCopy(Coop coop, T* source, T* mcDestination, IntCount count);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclMultimemCopy(Coop coop, T* source, ncclSymPtr<T> destination, IntCount count,
                                         ncclMultimemHandle mm);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclMultimemCopy(Coop coop, T* source, ncclWindow_t window, size_t offset, IntCount count,
                                         ncclMultimemHandle mm);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumCopy(Coop coop, T* mcSource, T* mcDestination, IntCount count);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumCopy(Coop coop, ncclSymPtr<T> source, ncclMultimemHandle sourceMm,
                                                  ncclSymPtr<T> destination, ncclMultimemHandle destinationMm,
                                                  IntCount count);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumCopy(Coop coop, ncclWindow_t sourceWindow, size_t sourceOffset,
                                                  ncclMultimemHandle sourceMm, ncclWindow_t destinationWindow,
                                                  size_t destinationOffset, ncclMultimemHandle destinationMm,
                                                  IntCount count);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaReduceSumMultimemCopy(Coop coop, ncclSymPtr<T> source, ncclTeam team, T* mcDestination,
                                                     IntCount count);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclLsaReduceSumMultimemCopy(Coop coop, ncclSymPtr<T> source, ncclTeam team,
                                                     ncclSymPtr<T> destination, ncclMultimemHandle mm, IntCount count);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumLsaCopy(Coop coop, T* mcSource, ncclSymPtr<T> destination, ncclTeam team,
                                                     IntCount count);
template <typename T, typename Coop, typename IntCount, int UNROLL = 4 * 16 / sizeof(T)>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumLsaCopy(Coop coop, ncclSymPtr<T> source, ncclMultimemHandle mm,
                                                     ncclSymPtr<T> destination, ncclTeam team, IntCount count);
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_REDUCE_COPY_H_
