// SPDX-License-Identifier: Apache-2.0
// Team arithmetic and window addresses. Contract 4.2, 6.2.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_CORE__FUNCS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_CORE__FUNCS_H_

#include "../core.h"
#include "comm__types.h"
#include "core__types.h"

#if NCCL_CHECK_CUDACC
#include "../coop.h"
#endif

// --- Teams -----------------------------------------------------------------------------------------------------------
NCCL_HOST_DEVICE_INLINE ncclTeam ncclTeamWorld(ncclDevComm const& comm) {
  return {comm.nRanks, comm.rank, 1};
}
NCCL_HOST_DEVICE_INLINE ncclTeam ncclTeamLsa(ncclDevComm const& comm) {
  return {comm.lsaSize, comm.lsaRank, 1};
}
NCCL_HOST_DEVICE_INLINE ncclTeam ncclTeamRail(ncclDevComm const& comm) {
  return {comm.nRanks / comm.lsaSize, comm.rank / comm.lsaSize, comm.lsaSize};
}
NCCL_HOST_DEVICE_INLINE int ncclTeamRankToWorld(ncclDevComm const& comm, ncclTeam team, int rank) {
  return comm.rank + (rank - team.rank) * team.stride;
}
NCCL_HOST_DEVICE_INLINE int ncclTeamRankToLsa(ncclDevComm const& comm, ncclTeam team, int rank) {
  return comm.lsaRank + (rank - team.rank) * team.stride;
}
NCCL_HOST_DEVICE_INLINE bool ncclTeamRankIsMember(ncclTeam_t a, ncclTeam_t b, int brank) {
  const int distance = (brank - b.rank) * b.stride;  // in world ranks, from the caller
  const int arank = a.rank + distance / a.stride;
  return distance % a.stride == 0 && 0 <= arank && arank < a.nRanks;
}
NCCL_HOST_DEVICE_INLINE int ncclTeamRankToTeam(ncclTeam_t a, ncclTeam_t b, int brank) {
  return a.rank + (brank - b.rank) * b.stride / a.stride;
}
NCCL_HOST_DEVICE_INLINE ncclTeam_t ncclTeamInnerFactor(ncclTeam_t parent, int innerSize) {
  return {innerSize, parent.rank % innerSize, parent.stride};
}
NCCL_HOST_DEVICE_INLINE ncclTeam_t ncclTeamOuterFactor(ncclTeam_t parent, int innerSize) {
  return {parent.nRanks / innerSize, parent.rank / innerSize, parent.stride * innerSize};
}
NCCL_HOST_DEVICE_INLINE int ncclTeamRankInDifference(ncclTeam_t parent, ncclTeam_t subset, int index) {
  int step = subset.stride / parent.stride;      // between neighbours of the subset, in parent ranks
  int below = parent.rank - subset.rank * step;  // parent ranks in front of the subset's lowest
  if (step < 0) {
    step = -step;
    below -= (subset.nRanks - 1) * step;
  }
  if (index < below) return index;
  const int between = (subset.nRanks - 1) * (step - 1);  // parent ranks in the subset's gaps
  const int k = index - below;
  if (k < between) return below + 1 + (k / (step - 1)) * step + k % (step - 1);
  return below + 1 + (subset.nRanks - 1) * step + (k - between);
}

NCCL_HOST_DEVICE_INLINE size_t ncclGetResourceBufferOffset(ncclDevResourceHandle_t h) {
  return size_t{h} * 128;
}

#endif  // ANYGIN_NCCL_DEVICE_IMPL_CORE__FUNCS_H_
