// SPDX-License-Identifier: Apache-2.0
// Teams, windows, device communicators and what a program asks for when it creates one; the host functions of the
// device API. C99 and C++17. Contract 2.8, 4 and 6.
#ifndef ANYGIN_NCCL_DEVICE_CORE_H_
#define ANYGIN_NCCL_DEVICE_CORE_H_

#include <nccl.h>
#include <stdbool.h>

#include "utility.h"

// --- Names -----------------------------------------------------------------------------------------------------------
typedef struct ncclDevComm ncclDevComm_t;
typedef struct ncclTeam ncclTeam_t;
typedef struct ncclMultimemHandle ncclMultimemHandle_t;
typedef struct ncclLsaBarrierHandle ncclLsaBarrierHandle_t;
typedef struct ncclGinBarrierHandle ncclGinBarrierHandle_t;
typedef struct ncclLLA2AHandle ncclLLA2AHandle_t;
typedef struct ncclDevCommRequirements ncclDevCommRequirements_t;
typedef struct ncclDevResourceRequirements ncclDevResourceRequirements_t;
typedef struct ncclTeamRequirements ncclTeamRequirements_t;
typedef struct ncclCommProperties ncclCommProperties_t;
typedef struct ncclResourceWindow_vidmem ncclResourceWindow_vidmem_t;
typedef struct ncclWindow_vidmem ncclWindow_vidmem_t;
typedef struct ncclDevCommWindowTable* ncclDevCommWindowTable_t;

// A place in the resource window: the byte offset divided by 128.
typedef uint32_t ncclDevResourceHandle;
typedef ncclDevResourceHandle ncclDevResourceHandle_t;
typedef uint32_t ncclGinSignal_t;
typedef uint32_t ncclGinCounter_t;
// A backend's handle of a window; windows carry their own here, so it is only a name.
typedef void* ncclGinWindow_t;

// How a kernel's requests reach the network. 1 is no value.
typedef enum {
  NCCL_GIN_TYPE_NONE = 0,
  NCCL_GIN_TYPE_PROXY = 2,
  NCCL_GIN_TYPE_GDAKI = 3,
  NCCL_GIN_TYPE_GPI = 4
#if NCCL_VERSION_CODE >= 23100
  ,
  NCCL_GIN_TYPE_EFA_GDA = 5
#endif
} ncclGinType_t;
#if NCCL_VERSION_CODE >= 23100
#define NCCL_GIN_MAX_TYPES 6
#define NCCL_GIN_MAX_ACTIVE_BACKENDS 4
#endif

// Which peers a context reaches: none, all, or those of the caller's rail (the ranks with the same LSA rank).
typedef enum {
  NCCL_GIN_CONNECTION_NONE = 0,
  NCCL_GIN_CONNECTION_FULL = 1,
  NCCL_GIN_CONNECTION_RAIL = 2
#if NCCL_VERSION_CODE >= 23100
  ,
  NCCL_GIN_CONNECTION_CUSTOM_STRIDE = 3  // ranks at a multiple of ginCustomStride from the caller
#endif
#if NCCL_VERSION_CODE >= 23203
  ,
  NCCL_GIN_CONNECTION_CUSTOM_ARRAY = 4  // the world ranks of ginCustomArray
#endif
} ncclGinConnectionType_t;

#if NCCL_VERSION_CODE >= 23203
// How many signals a barrier may own. Here each owns one for each rank of its team.
typedef enum { NCCL_GIN_BARRIER_DEFAULT = 0, NCCL_GIN_BARRIER_SIGNAL_EFFICIENT = 1 } ncclGinBarrierOptions_t;
#endif

#include "impl/core__types.h"

// needs the types above
#include "impl/comm__types.h"

// --- Host functions --------------------------------------------------------------------------------------------------
#if defined(__cplusplus)
extern "C" {
#endif
// What the communicator can do. Start from NCCL_COMM_PROPERTIES_INITIALIZER; another magic or version is
// ncclInvalidUsage. (2.8.1)
ncclResult_t ncclCommQueryProperties(ncclComm_t comm, ncclCommProperties_t* props);

// Collective over the communicator; runs at the outermost group end. Start from NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER.
// What cannot be granted is ncclInvalidUsage or ncclInvalidArgument with the reason, in the order of contract 2.8.3.
// The result is a plain value for kernels; valid until destroyed.
ncclResult_t ncclDevCommCreate(ncclComm_t comm, ncclDevCommRequirements_t const* reqs, ncclDevComm_t* outDevComm);
// Local. No kernel of this or another rank uses the device communicator any more.
ncclResult_t ncclDevCommDestroy(ncclComm_t comm, ncclDevComm_t const* devComm);

// Address of byte `offset` of a rank's part of the window, for loads and stores. ncclInvalidArgument: NULL, an unknown
// window, a rank out of range, offset at or beyond the window's end. A peer that cannot be reached by loads and stores
// (and any multicast address without multicast support) is ncclSuccess with NULL. Multicast: offsets are not checked.
// (2.8.5)
ncclResult_t ncclGetLsaDevicePointer(ncclWindow_t window, size_t offset, int lsaRank, void** outPtr);
ncclResult_t ncclGetPeerDevicePointer(ncclWindow_t window, size_t offset, int peer, void** outPtr);
ncclResult_t ncclGetLsaMultimemDevicePointer(ncclWindow_t window, size_t offset, void** outPtr);
ncclResult_t ncclGetMultimemDevicePointer(ncclWindow_t window, size_t offset, ncclMultimemHandle_t multimem,
                                          void** outPtr);

// Teams of the calling rank, and ranks of them in the communicator's and the LSA team's numbering. Not checked; {0,0,0}
// and -1 if the communicator has no symmetric memory. (4.2)
ncclTeam_t ncclTeamWorld(ncclComm_t comm);
ncclTeam_t ncclTeamLsa(ncclComm_t comm);
ncclTeam_t ncclTeamRail(ncclComm_t comm);
int ncclTeamRankToWorld(ncclComm_t comm, ncclTeam_t team, int rank);
int ncclTeamRankToLsa(ncclComm_t comm, ncclTeam_t team, int rank);

// Each fills a node for ncclDevCommRequirements::resourceRequirementsList and a handle that becomes valid when the
// device communicator is created: both stay where they are until then.
ncclResult_t ncclLsaBarrierCreateRequirement(ncclTeam_t team, int nBarriers, ncclLsaBarrierHandle_t* outHandle,
                                             ncclDevResourceRequirements_t* outReq);
ncclResult_t ncclGinBarrierCreateRequirement(ncclComm_t comm, ncclTeam_t team, int nBarriers,
                                             ncclGinBarrierHandle_t* outHandle, ncclDevResourceRequirements_t* outReq);
int ncclLLA2ACalcSlots(int maxElts, int maxEltSize);
ncclResult_t ncclLLA2ACreateRequirement(int nBlocks, int nSlots, ncclLLA2AHandle_t* outHandle,
                                        ncclDevResourceRequirements_t* outReq);
#if defined(__cplusplus)
}  // extern "C"
#endif

// --- Team arithmetic and pointers, host and device ---------------------------------------------------------------
#if defined(__cplusplus)
// Any thread, pure arithmetic: out-of-range ranks give out-of-range ranks.
NCCL_HOST_DEVICE_INLINE ncclTeam ncclTeamWorld(ncclDevComm const& comm);
NCCL_HOST_DEVICE_INLINE ncclTeam ncclTeamLsa(ncclDevComm const& comm);
NCCL_HOST_DEVICE_INLINE ncclTeam ncclTeamRail(ncclDevComm const& comm);
NCCL_HOST_DEVICE_INLINE int ncclTeamRankToWorld(ncclDevComm const& comm, ncclTeam team, int rank);
NCCL_HOST_DEVICE_INLINE int ncclTeamRankToLsa(ncclDevComm const& comm, ncclTeam team, int rank);
// Is rank `brank` of team `b` also in team `a`? Which rank of `a` is it (asked only of members)?
NCCL_HOST_DEVICE_INLINE bool ncclTeamRankIsMember(ncclTeam_t a, ncclTeam_t b, int brank);
NCCL_HOST_DEVICE_INLINE int ncclTeamRankToTeam(ncclTeam_t a, ncclTeam_t b, int brank);
// The caller's block of `innerSize` neighbours in `parent`; the ranks at the caller's place in all such blocks.
NCCL_HOST_DEVICE_INLINE ncclTeam_t ncclTeamInnerFactor(ncclTeam_t parent, int innerSize);
NCCL_HOST_DEVICE_INLINE ncclTeam_t ncclTeamOuterFactor(ncclTeam_t parent, int innerSize);
// The `index`-th rank of `parent`, in its numbering, that is not in `subset`;
// index in [0, parent.nRanks - subset.nRanks).
NCCL_HOST_DEVICE_INLINE int ncclTeamRankInDifference(ncclTeam_t parent, ncclTeam_t subset, int index);

// Byte offset of a resource in the resource window.
NCCL_HOST_DEVICE_INLINE size_t ncclGetResourceBufferOffset(ncclDevResourceHandle_t h);

#if NCCL_CHECK_CUDACC
// Addresses for loads and stores of the calling thread; offsets in bytes, not checked against the window's size.
// NULL for a rank outside the LSA team (contract A.7). (6.2)
NCCL_DEVICE_INLINE void* ncclGetLocalPointer(ncclWindow_t w, size_t offset);
NCCL_DEVICE_INLINE void* ncclGetLsaPointer(ncclWindow_t w, size_t offset, int peer);
NCCL_DEVICE_INLINE void* ncclGetPeerPointer(ncclWindow_t w, size_t offset, int peer);
NCCL_DEVICE_INLINE void* ncclGetPeerPointer(ncclWindow_t w, size_t offset, ncclTeam team, int peer);
// For multimem instructions on all ranks of the handle's team at once, as far as the smallest part of the window. NULL
// without multicast support and for windows with host memory on any rank. (2.7)
NCCL_DEVICE_INLINE void* ncclGetMultimemPointer(ncclWindow_t w, size_t offset, ncclMultimemHandle mm);
NCCL_DEVICE_INLINE void* ncclGetLsaMultimemPointer(ncclWindow_t w, size_t offset, ncclDevComm const& comm);
// The same for a resource. The device communicator has resources.
NCCL_DEVICE_INLINE void* ncclGetResourceBufferLocalPointer(ncclDevComm const& comm, ncclDevResourceHandle h);
NCCL_DEVICE_INLINE void* ncclGetResourceBufferLsaPointer(ncclDevComm const& comm, ncclDevResourceHandle h, int peer);
NCCL_DEVICE_INLINE void* ncclGetResourceBufferPeerPointer(ncclDevComm const& comm, ncclDevResourceHandle h,
                                                          ncclTeam team, int peer);
NCCL_DEVICE_INLINE void* ncclGetResourceBufferMultimemPointer(ncclDevComm const& comm, ncclDevResourceHandle h,
                                                              ncclMultimemHandle mm);
NCCL_DEVICE_INLINE void* ncclGetResourceBufferLsaMultimemPointer(ncclDevComm const& comm, ncclDevResourceHandle h);
#if NCCL_VERSION_CODE >= 23203
// Can the caller load and store in the memory of this world rank?
NCCL_DEVICE_INLINE bool ncclDevCommCanGetPeerPointer(ncclDevComm const& comm, int worldRank);
#endif
#endif
#endif  // __cplusplus

#endif  // ANYGIN_NCCL_DEVICE_CORE_H_
