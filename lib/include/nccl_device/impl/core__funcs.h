// SPDX-License-Identifier: Apache-2.0
// Team arithmetic and window addresses. Contract 4.2, 6.2.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_CORE__FUNCS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_CORE__FUNCS_H_

#include "../coop.h"
#include "../core.h"
#include "comm__types.h"
#include "core__types.h"

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

#if NCCL_CHECK_CUDACC
// --- Addresses -------------------------------------------------------------------------------------------------------
NCCL_DEVICE_INLINE void* ncclGetLsaPointer(ncclWindow_t w, size_t offset, int peer) {
  if (static_cast<unsigned>(peer) >= static_cast<unsigned>(w->lsaSize)) return nullptr;
  char* base = w->lsaBases[peer];
  return base ? base + offset : nullptr;
}
NCCL_DEVICE_INLINE void* ncclGetLocalPointer(ncclWindow_t w, size_t offset) {
  return w->lsaBases[w->lsaRank] + offset;
}
NCCL_DEVICE_INLINE void* ncclGetPeerPointer(ncclWindow_t w, size_t offset, int peer) {
  return ncclGetLsaPointer(w, offset, w->lsaRank + (peer - w->rank));
}
NCCL_DEVICE_INLINE void* ncclGetPeerPointer(ncclWindow_t w, size_t offset, ncclTeam team, int peer) {
  return ncclGetLsaPointer(w, offset, w->lsaRank + (peer - team.rank) * team.stride);
}
NCCL_DEVICE_INLINE void* ncclGetMultimemPointer(ncclWindow_t w, size_t offset, ncclMultimemHandle mm) {
  if (!mm.mcBasePtr || w->mcOffset4K == 0) return nullptr;
  return static_cast<char*>(mm.mcBasePtr) + size_t{w->mcOffset4K} * 4096 + offset;
}
NCCL_DEVICE_INLINE void* ncclGetLsaMultimemPointer(ncclWindow_t w, size_t offset, ncclDevComm const& comm) {
  return ncclGetMultimemPointer(w, offset, comm.lsaMultimem);
}

NCCL_DEVICE_INLINE void* ncclGetResourceBufferLocalPointer(ncclDevComm const& comm, ncclDevResourceHandle h) {
  return ncclGetLocalPointer(comm.resourceWindow, ncclGetResourceBufferOffset(h));
}
NCCL_DEVICE_INLINE void* ncclGetResourceBufferLsaPointer(ncclDevComm const& comm, ncclDevResourceHandle h, int peer) {
  return ncclGetLsaPointer(comm.resourceWindow, ncclGetResourceBufferOffset(h), peer);
}
NCCL_DEVICE_INLINE void* ncclGetResourceBufferPeerPointer(ncclDevComm const& comm, ncclDevResourceHandle h,
                                                          ncclTeam team, int peer) {
  return ncclGetPeerPointer(comm.resourceWindow, ncclGetResourceBufferOffset(h), team, peer);
}
NCCL_DEVICE_INLINE void* ncclGetResourceBufferMultimemPointer(ncclDevComm const& comm, ncclDevResourceHandle h,
                                                              ncclMultimemHandle mm) {
  return ncclGetMultimemPointer(comm.resourceWindow, ncclGetResourceBufferOffset(h), mm);
}
NCCL_DEVICE_INLINE void* ncclGetResourceBufferLsaMultimemPointer(ncclDevComm const& comm, ncclDevResourceHandle h) {
  return ncclGetMultimemPointer(comm.resourceWindow, ncclGetResourceBufferOffset(h), comm.lsaMultimem);
}

// The window whose registered range holds `ptr`, NULL if none (contract A.8). The same for all threads of the coop,
// which look for themselves: the table is constant.
template <typename Coop>
NCCL_DEVICE_INLINE ncclWindow_t ncclFindWindow(Coop, ncclDevComm const& comm, void const* ptr) {
  const uintptr_t address = reinterpret_cast<uintptr_t>(ptr);
  for (const ncclDevCommWindowTable* table = comm.windowTable; table; table = table->next) {
    for (const ncclDevCommWindowTable::Entry& entry : table->entries) {
      if (entry.window && address - entry.base < entry.size) return entry.window;
    }
  }
  return nullptr;
}
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_CORE__FUNCS_H_
