// SPDX-License-Identifier: Apache-2.0
// Reductions and copies: who the sources and destinations are. Contract 9.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_REDUCE_COPY__FUNCS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_REDUCE_COPY__FUNCS_H_

#include "../reduce_copy.h"
#include "core__funcs.h"
#include "ptr__funcs.h"
#include "reduce_copy__engine.h"
#include "reduce_copy__multimem.h"

#if NCCL_CHECK_CUDACC
// --- Any operator ----------------------------------------------------------------------------------------------------
template <typename T, typename Coop, typename SrcLambda, typename DstLambda, typename RedOp, typename IntCount,
          int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaReduceLsaCopy(Coop coop, SrcLambda source, int nSrc, DstLambda destination, int nDst,
                                             RedOp const& redOp, IntCount count) {
  static_assert(anygin::reduce_copy::IsRedOf<RedOp, T>::value,
                "ncclLsaReduceLsaCopy: RedOp is an instance Red<T> of a class template with one type parameter");
  (void)redOp;
  anygin::reduce_copy::run<T, anygin::reduce_copy::Custom<T, RedOp>, UNROLL>(
      coop, anygin::reduce_copy::places(source, nSrc), anygin::reduce_copy::places(destination, nDst), count);
}
// --- Sums, N to M ----------------------------------------------------------------------------------------------------
template <typename T, typename Coop, typename SrcLambda, typename DstLambda, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaReduceSumLsaCopy(Coop coop, SrcLambda source, int nSrc, DstLambda destination, int nDst,
                                                IntCount count) {
  anygin::reduce_copy::sum<T, UNROLL>(coop, anygin::reduce_copy::places(source, nSrc),
                                      anygin::reduce_copy::places(destination, nDst), count);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaReduceSumCopy(Coop coop, ncclSymPtr<T> source, ncclSymPtr<T> destination, IntCount count,
                                             ncclTeam team) {
  ncclLsaReduceSumCopy<T, Coop, IntCount, UNROLL>(coop, source, team, destination, team, count);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaReduceSumCopy(Coop coop, ncclSymPtr<T> source, ncclSymPtr<T> destination, IntCount count,
                                             ncclDevComm const& devComm) {
  ncclLsaReduceSumCopy<T, Coop, IntCount, UNROLL>(coop, source, destination, count, ncclTeamLsa(devComm));
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaReduceSumCopy(Coop coop, ncclWindow_t sourceWindow, size_t sourceOffset,
                                             ncclWindow_t destinationWindow, size_t destinationOffset, IntCount count,
                                             ncclTeam team) {
  ncclLsaReduceSumCopy<T, Coop, IntCount, UNROLL>(coop, ncclSymPtr<T>(sourceWindow, sourceOffset),
                                                  ncclSymPtr<T>(destinationWindow, destinationOffset), count, team);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaReduceSumCopy(Coop coop, ncclWindow_t sourceWindow, size_t sourceOffset,
                                             ncclWindow_t destinationWindow, size_t destinationOffset, IntCount count,
                                             ncclDevComm const& devComm) {
  ncclLsaReduceSumCopy<T, Coop, IntCount, UNROLL>(coop, sourceWindow, sourceOffset, destinationWindow,
                                                  destinationOffset, count, ncclTeamLsa(devComm));
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaReduceSumCopy(Coop coop, ncclSymPtr<T> source, ncclTeam sourceTeam,
                                             ncclSymPtr<T> destination, ncclTeam destinationTeam, IntCount count) {
  anygin::reduce_copy::sum<T, UNROLL>(coop, anygin::reduce_copy::team_places(source, sourceTeam),
                                      anygin::reduce_copy::team_places(destination, destinationTeam), count);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLocalReduceSumCopy(Coop coop, int nSrc, T* sourceBase, size_t sourceDispl, int nDst,
                                               T* destinationBase, size_t destinationDispl, IntCount count) {
  using Strided = anygin::reduce_copy::StridedPlaces<T>;
  anygin::reduce_copy::sum<T, UNROLL>(coop, anygin::reduce_copy::places(Strided{sourceBase, sourceDispl}, nSrc),
                                      anygin::reduce_copy::places(Strided{destinationBase, destinationDispl}, nDst),
                                      count);
}
// --- Sums, N to 1 ----------------------------------------------------------------------------------------------------
template <typename T, typename Coop, typename SrcLambda, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaReduceSum(Coop coop, SrcLambda source, int nSrc, T* destination, IntCount count) {
  anygin::reduce_copy::sum<T, UNROLL>(coop, anygin::reduce_copy::places(source, nSrc),
                                      anygin::reduce_copy::one_place(destination), count);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaReduceSum(Coop coop, ncclSymPtr<T> source, T* destination, IntCount count,
                                         ncclTeam team) {
  anygin::reduce_copy::sum<T, UNROLL>(coop, anygin::reduce_copy::team_places(source, team),
                                      anygin::reduce_copy::one_place(destination), count);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaReduceSum(Coop coop, ncclSymPtr<T> source, T* destination, IntCount count,
                                         ncclDevComm const& devComm) {
  ncclLsaReduceSum<T, Coop, IntCount, UNROLL>(coop, source, destination, count, ncclTeamLsa(devComm));
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaReduceSum(Coop coop, ncclWindow_t window, size_t offset, T* destination, IntCount count,
                                         ncclTeam team) {
  ncclLsaReduceSum<T, Coop, IntCount, UNROLL>(coop, ncclSymPtr<T>(window, offset), destination, count, team);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaReduceSum(Coop coop, ncclWindow_t window, size_t offset, T* destination, IntCount count,
                                         ncclDevComm const& devComm) {
  ncclLsaReduceSum<T, Coop, IntCount, UNROLL>(coop, window, offset, destination, count, ncclTeamLsa(devComm));
}
template <typename T, typename Coop, typename SrcLambda, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLocalReduceSum(Coop coop, SrcLambda source, int nSrc, T* destination, IntCount count) {
  anygin::reduce_copy::sum<T, UNROLL>(coop, anygin::reduce_copy::places(source, nSrc),
                                      anygin::reduce_copy::one_place(destination), count);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLocalReduceSum(Coop coop, int nSrc, T* base, size_t displ, T* destination, IntCount count) {
  anygin::reduce_copy::sum<T, UNROLL>(
      coop, anygin::reduce_copy::places(anygin::reduce_copy::StridedPlaces<T>{base, displ}, nSrc),
      anygin::reduce_copy::one_place(destination), count);
}
// --- Copies, 1 to N --------------------------------------------------------------------------------------------------
template <typename T, typename Coop, typename DstLambda, typename IntCount, int UNROLL, typename>
NCCL_DEVICE_INLINE void ncclLsaCopy(Coop coop, T* source, DstLambda destination, int nDst, IntCount count) {
  anygin::reduce_copy::sum<T, UNROLL>(coop, anygin::reduce_copy::one_place(source),
                                      anygin::reduce_copy::places(destination, nDst), count);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaCopy(Coop coop, T* source, ncclSymPtr<T> destination, IntCount count, ncclTeam team) {
  anygin::reduce_copy::sum<T, UNROLL>(coop, anygin::reduce_copy::one_place(source),
                                      anygin::reduce_copy::team_places(destination, team), count);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaCopy(Coop coop, T* source, ncclSymPtr<T> destination, IntCount count,
                                    ncclDevComm const& devComm) {
  ncclLsaCopy<T, Coop, IntCount, UNROLL>(coop, source, destination, count, ncclTeamLsa(devComm));
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaCopy(Coop coop, T* source, ncclWindow_t window, size_t offset, IntCount count,
                                    ncclTeam team) {
  ncclLsaCopy<T, Coop, IntCount, UNROLL>(coop, source, ncclSymPtr<T>(window, offset), count, team);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaCopy(Coop coop, T* source, ncclWindow_t window, size_t offset, IntCount count,
                                    ncclDevComm const& devComm) {
  ncclLsaCopy<T, Coop, IntCount, UNROLL>(coop, source, window, offset, count, ncclTeamLsa(devComm));
}
template <typename T, typename Coop, typename DstLambda, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLocalCopy(Coop coop, T* source, DstLambda destination, int nDst, IntCount count) {
  anygin::reduce_copy::sum<T, UNROLL>(coop, anygin::reduce_copy::one_place(source),
                                      anygin::reduce_copy::places(destination, nDst), count);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLocalCopy(Coop coop, T* source, int nDst, T* base, size_t displ, IntCount count) {
  anygin::reduce_copy::sum<T, UNROLL>(
      coop, anygin::reduce_copy::one_place(source),
      anygin::reduce_copy::places(anygin::reduce_copy::StridedPlaces<T>{base, displ}, nDst), count);
}

// --- Multicast -------------------------------------------------------------------------------------------------------
template <typename T, typename Coop, typename SrcLambda, typename DstLambda, typename RedOp, typename IntCount,
          int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaReduceMultimemCopy(Coop coop, SrcLambda source, int nSrc, DstLambda destination,
                                                  int nDst, RedOp const& redOp, IntCount count) {
  static_assert(anygin::reduce_copy::IsRedOf<RedOp, T>::value,
                "ncclLsaReduceMultimemCopy: RedOp is an instance Red<T> of a class template with one type parameter");
  (void)redOp;
  anygin::reduce_copy::multimem_run<T, anygin::reduce_copy::Custom<T, RedOp>, UNROLL>(
      coop, anygin::reduce_copy::places(source, nSrc),
      anygin::reduce_copy::multimem_list<T>(destination, nDst, count, ANYGIN_CALL_SITE()), count, ANYGIN_CALL_SITE());
}
template <typename T, typename Coop, typename SrcLambda, typename DstLambda, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaReduceSumMultimemCopy(Coop coop, SrcLambda source, int nSrc, DstLambda destination,
                                                     int nDst, IntCount count) {
  const void* const site = ANYGIN_CALL_SITE();
  anygin::reduce_copy::multimem_run<T, anygin::reduce_copy::Sum<T>, UNROLL>(
      coop, anygin::reduce_copy::places(source, nSrc),
      anygin::reduce_copy::multimem_list<T>(destination, nDst, count, site), count, site);
}
template <typename T, typename Coop, typename SrcLambda, typename DstLambda, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumLsaCopy(Coop coop, SrcLambda source, int nSrc, DstLambda destination,
                                                     int nDst, IntCount count) {
  const void* const site = ANYGIN_CALL_SITE();
  anygin::reduce_copy::multimem_run<T, anygin::reduce_copy::Sum<T>, UNROLL>(
      coop, anygin::reduce_copy::multimem_source_list<T>(source, nSrc, count, site),
      anygin::reduce_copy::places(destination, nDst), count, site);
}
template <typename T, typename Coop, typename SrcLambda, typename DstLambda, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumMultimemCopy(Coop coop, SrcLambda source, int nSrc, DstLambda destination,
                                                          int nDst, IntCount count) {
  const void* const site = ANYGIN_CALL_SITE();
  anygin::reduce_copy::multimem_run<T, anygin::reduce_copy::Sum<T>, UNROLL>(
      coop, anygin::reduce_copy::multimem_source_list<T>(source, nSrc, count, site),
      anygin::reduce_copy::multimem_list<T>(destination, nDst, count, site), count, site);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclMultimemReduceSum(Coop coop, T* mcSource, T* destination, IntCount count) {
  const void* const site = ANYGIN_CALL_SITE();
  anygin::reduce_copy::multimem_run<T, anygin::reduce_copy::Sum<T>, UNROLL>(
      coop, anygin::reduce_copy::multimem_source(mcSource, count, site), anygin::reduce_copy::one_place(destination),
      count, site);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclMultimemReduceSum(Coop coop, ncclSymPtr<T> source, T* destination, IntCount count,
                                              ncclMultimemHandle mm) {
  ncclMultimemReduceSum<T, Coop, IntCount, UNROLL>(coop, source.multimemPtr(mm), destination, count);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclMultimemReduceSum(Coop coop, ncclWindow_t window, size_t offset, T* destination,
                                              IntCount count, ncclMultimemHandle mm) {
  ncclMultimemReduceSum<T, Coop, IntCount, UNROLL>(coop, ncclSymPtr<T>(window, offset).multimemPtr(mm), destination,
                                                   count);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclMultimemCopy(Coop coop, T* source, T* mcDestination, IntCount count) {
  const void* const site = ANYGIN_CALL_SITE();
  anygin::reduce_copy::multimem_run<T, anygin::reduce_copy::Sum<T>, UNROLL>(
      coop, anygin::reduce_copy::one_place(source), anygin::reduce_copy::multimem_place(mcDestination, count, site),
      count, site);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclMultimemCopy(Coop coop, T* source, ncclSymPtr<T> destination, IntCount count,
                                         ncclMultimemHandle mm) {
  ncclMultimemCopy<T, Coop, IntCount, UNROLL>(coop, source, destination.multimemPtr(mm), count);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclMultimemCopy(Coop coop, T* source, ncclWindow_t window, size_t offset, IntCount count,
                                         ncclMultimemHandle mm) {
  ncclMultimemCopy<T, Coop, IntCount, UNROLL>(coop, source, ncclSymPtr<T>(window, offset).multimemPtr(mm), count);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumCopy(Coop coop, T* mcSource, T* mcDestination, IntCount count) {
  const void* const site = ANYGIN_CALL_SITE();
  anygin::reduce_copy::multimem_run<T, anygin::reduce_copy::Sum<T>, UNROLL>(
      coop, anygin::reduce_copy::multimem_source(mcSource, count, site),
      anygin::reduce_copy::multimem_place(mcDestination, count, site), count, site);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumCopy(Coop coop, ncclSymPtr<T> source, ncclMultimemHandle sourceMm,
                                                  ncclSymPtr<T> destination, ncclMultimemHandle destinationMm,
                                                  IntCount count) {
  ncclMultimemReduceSumCopy<T, Coop, IntCount, UNROLL>(coop, source.multimemPtr(sourceMm),
                                                       destination.multimemPtr(destinationMm), count);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumCopy(Coop coop, ncclWindow_t sourceWindow, size_t sourceOffset,
                                                  ncclMultimemHandle sourceMm, ncclWindow_t destinationWindow,
                                                  size_t destinationOffset, ncclMultimemHandle destinationMm,
                                                  IntCount count) {
  ncclMultimemReduceSumCopy<T, Coop, IntCount, UNROLL>(coop, ncclSymPtr<T>(sourceWindow, sourceOffset), sourceMm,
                                                       ncclSymPtr<T>(destinationWindow, destinationOffset),
                                                       destinationMm, count);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaReduceSumMultimemCopy(Coop coop, ncclSymPtr<T> source, ncclTeam team, T* mcDestination,
                                                     IntCount count) {
  const void* const site = ANYGIN_CALL_SITE();
  anygin::reduce_copy::multimem_run<T, anygin::reduce_copy::Sum<T>, UNROLL>(
      coop, anygin::reduce_copy::team_places(source, team),
      anygin::reduce_copy::multimem_place(mcDestination, count, site), count, site);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclLsaReduceSumMultimemCopy(Coop coop, ncclSymPtr<T> source, ncclTeam team,
                                                     ncclSymPtr<T> destination, ncclMultimemHandle mm, IntCount count) {
  ncclLsaReduceSumMultimemCopy<T, Coop, IntCount, UNROLL>(coop, source, team, destination.multimemPtr(mm), count);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumLsaCopy(Coop coop, T* mcSource, ncclSymPtr<T> destination, ncclTeam team,
                                                     IntCount count) {
  const void* const site = ANYGIN_CALL_SITE();
  anygin::reduce_copy::multimem_run<T, anygin::reduce_copy::Sum<T>, UNROLL>(
      coop, anygin::reduce_copy::multimem_source(mcSource, count, site),
      anygin::reduce_copy::team_places(destination, team), count, site);
}
template <typename T, typename Coop, typename IntCount, int UNROLL>
NCCL_DEVICE_INLINE void ncclMultimemReduceSumLsaCopy(Coop coop, ncclSymPtr<T> source, ncclMultimemHandle mm,
                                                     ncclSymPtr<T> destination, ncclTeam team, IntCount count) {
  ncclMultimemReduceSumLsaCopy<T, Coop, IntCount, UNROLL>(coop, source.multimemPtr(mm), destination, team, count);
}
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_REDUCE_COPY__FUNCS_H_
