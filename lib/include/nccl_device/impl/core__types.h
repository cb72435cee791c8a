// SPDX-License-Identifier: Apache-2.0
// Complete types of core.h. Programs read the documented fields; the window, and what stands behind the reserved bytes
// of the resource window, are laid out for this library (contract 6.1 asks for opacity only). lib/comm fills them.
#include "../core.h"  // in front of the guard: core.h includes this file when its names are declared

#ifndef ANYGIN_NCCL_DEVICE_IMPL_CORE__TYPES_H_
#define ANYGIN_NCCL_DEVICE_IMPL_CORE__TYPES_H_

#if defined(__cplusplus)
#include "anygin/base/ids.h"
#endif

// --- Teams and handles -----------------------------------------------------------------------------------------------
// World ranks comm.rank + (r - rank) * stride for r in [0, nRanks); `rank` is the caller's own.
struct ncclTeam {
  int nRanks;
  int rank;
  int stride;
};

#if defined(__cplusplus)
struct ncclTeamTagWorld {};
struct ncclTeamTagLsa {};
struct ncclTeamTagRail {};
#endif

struct ncclMultimemHandle {
  void* mcBasePtr;  // NULL: no multicast
};

struct ncclLsaBarrierHandle {
  ncclDevResourceHandle_t bufHandle;
  int nBarriers;
};

struct ncclGinBarrierHandle {
  ncclGinSignal_t signal0;  // barrier i uses signals signal0 + i * team.nRanks + [0, team.nRanks)
  // One more than the barriers granted, if the library wrote the handle; 0 in one that a program made up, whose indices
  // are checked as signals are.
  ncclDevResourceHandle_t unused;
};

struct ncclLLA2AHandle {
  ncclDevResourceHandle_t bufHandle;
  uint32_t nSlots;
};

// --- Requirements and properties -------------------------------------------------------------------------------------
// One node of memory, signals and counters; the out pointers are written when the device communicator is created.
struct ncclDevResourceRequirements {
  ncclDevResourceRequirements_t* next;
  size_t bufferSize;   // bytes on each rank, zero-filled
  size_t bufferAlign;  // at least 128 is used
  ncclDevResourceHandle_t* outBufferHandle;
  int ginSignalCount;
  int ginCounterCount;
  ncclGinSignal_t* outGinSignalStart;
  ncclGinCounter_t* outGinCounterStart;
};

struct ncclTeamRequirements {
  ncclTeamRequirements_t* next;
  ncclTeam_t team;
  bool multimem;
  ncclMultimemHandle_t* outMultimemHandle;
};

struct ncclDevCommRequirements {
  size_t size;
  unsigned int magic;
  unsigned int version;
  ncclDevResourceRequirements_t* resourceRequirementsList;
  ncclTeamRequirements_t* teamRequirementsList;
  bool lsaMultimem;
  int barrierCount;                           // ncclBarrierSession, tag constructors; needs GIN
  int lsaBarrierCount;                        // ncclLsaBarrierSession(ncclTeamTagLsa)
  int railGinBarrierCount;                    // ncclGinBarrierSession(ncclTeamTagRail)
  int lsaLLA2ABlockCount, lsaLLA2ASlotCount;  // ignored: there for the layout
  bool ginForceEnable;                        // deprecated: connection type FULL
  int ginContextCount;                        // a wish; ncclDevComm::ginContextCount says what was granted
  int ginSignalCount, ginCounterCount;        // the program's own, ids from 0, per context
  ncclGinConnectionType_t ginConnectionType;
  bool ginExclusiveContexts;  // accepted, without effect
  int ginQueueDepth;          // 0: the backend's default
  int ginTrafficClass;
  int worldGinBarrierCount;       // ncclGinBarrierSession(ncclTeamTagWorld)
  bool ginStrongSignalsRequired;  // also the strength of the deprecated signal actions
  bool ginVaSignalsRequired;
#if NCCL_VERSION_CODE >= 23100
  int ginCustomStride;           // of NCCL_GIN_CONNECTION_CUSTOM_STRIDE: a multiple of ncclCommProperties::ginMinStride
  ncclGinType_t ginType;         // NONE: whichever there is
  bool useRuntimeVersion;        // the device communicator has ncclCommProperties::devCommRuntimeVersionSize bytes
  int cftCaps, cftBarrierCount;  // 0 only
#endif
#if NCCL_VERSION_CODE >= 23203
  const int* ginCustomArray;  // of NCCL_GIN_CONNECTION_CUSTOM_ARRAY
  int ginCustomArrayCount;
#endif
};

#if NCCL_VERSION_CODE >= 23203
#define ANYGIN_NCCL_REQUIREMENTS_NEWER , 1, NCCL_GIN_TYPE_NONE, false, 0, 0, NULL, 0
#elif NCCL_VERSION_CODE >= 23100
#define ANYGIN_NCCL_REQUIREMENTS_NEWER , 1, NCCL_GIN_TYPE_NONE, false, 0, 0
#else
#define ANYGIN_NCCL_REQUIREMENTS_NEWER
#endif

#define NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER                                                        \
  {                                                                                                   \
    sizeof(ncclDevCommRequirements_t),     /* size */                                                 \
        NCCL_API_MAGIC, NCCL_VERSION_CODE, /* magic, version */                                       \
        NULL, NULL,                        /* resourceRequirementsList, teamRequirementsList */       \
        false,                             /* lsaMultimem */                                          \
        0, 0, 0,                           /* barrierCount, lsaBarrierCount, railGinBarrierCount */   \
        0, 0,                              /* lsaLLA2ABlockCount, lsaLLA2ASlotCount */                \
        false,                             /* ginForceEnable */                                       \
        4, 0, 0,                           /* ginContextCount, ginSignalCount, ginCounterCount */     \
        NCCL_GIN_CONNECTION_NONE,          /* ginConnectionType */                                    \
        false, 0, NCCL_CONFIG_UNDEF_INT,   /* ginExclusiveContexts, ginQueueDepth, ginTrafficClass */ \
        0, true,                                                                                      \
        true /* worldGinBarrierCount, ginStrongSignalsRequired, ginVaSignalsRequired */               \
        ANYGIN_NCCL_REQUIREMENTS_NEWER                                                                \
  }

struct ncclCommProperties {
  size_t size;
  unsigned int magic;
  unsigned int version;
  int rank;
  int nRanks;
  int cudaDev;
  int nvmlDev;
  bool deviceApiSupport;
  bool multimemSupport;
  ncclGinType_t ginType;  // the backend that can reach all ranks, or NONE
  int nLsaTeams;
  bool hostRmaSupport;
  ncclGinType_t railedGinType;  // the backend that can reach at least the caller's rail, or NONE
#if NCCL_VERSION_CODE >= 23100
  uint64_t commHash;                          // equal on the ranks of the communicator
  int ginMinStride;                           // of NCCL_GIN_CONNECTION_CUSTOM_STRIDE; INT_MAX: no stride is possible
  ncclGinConnectionType_t ginConnectionType;  // the widest one that is possible
  bool ginSupport[64];                        // by ncclGinType_t
  size_t devCommRuntimeVersionSize;           // bytes of ncclDevComm in this library
#endif
};

#if NCCL_VERSION_CODE >= 23100
#define ANYGIN_NCCL_PROPERTIES_NEWER , 0, 0, NCCL_GIN_CONNECTION_NONE, {false}, 0
#else
#define ANYGIN_NCCL_PROPERTIES_NEWER
#endif

#define NCCL_COMM_PROPERTIES_INITIALIZER                                                                              \
  {                                                                                                                   \
    sizeof(ncclCommProperties_t), NCCL_API_MAGIC, NCCL_VERSION_CODE, 0, 0, 0, 0, false, false, NCCL_GIN_TYPE_NONE, 0, \
        false, NCCL_GIN_TYPE_NONE ANYGIN_NCCL_PROPERTIES_NEWER                                                        \
  }

// --- Windows ---------------------------------------------------------------------------------------------------------
// Fixed part of the resource window, inside ncclDevComm. Three names sit where the contract has them; this library
// keeps no flat address space and leaves them zero.
struct ncclResourceWindow_vidmem {
  const struct anyginDevCommView* view;  // set in every device communicator, with or without resources
  char* lsaFlatBase;
  char reserved2[8];
  uint32_t stride4G;
  uint32_t mcOffset4K;
  char reserved3[32];
};

#if defined(__cplusplus)
inline constexpr uint64_t kAnyginWindowLive = 0x6e69772d6e696761;  // "agin-win"

// Of ncclWindow_vidmem::flags: on some rank the window spans memory of the host.
inline constexpr uint16_t kAnyginWindowHostMemory = 0x8000;

// What ncclWindow_t points to. lib/comm owns it, in memory that kernels reach, from registration on; deregistering sets
// `live` and `communicator` to zero and keeps the memory, so that a late use is seen and named. Constant for kernels.
struct ncclWindow_vidmem {
  uint64_t live;          // kAnyginWindowLive
  uint64_t communicator;  // identity of the communicator, equal on the device communicators it made; 0: deregistered
  anygin::WindowId id;    // the backend's name of it, equal on all ranks
  uint16_t flags;         // NCCL_WIN_*, kAnyginWindowHostMemory
  int rank, nRanks;       // of the communicator
  int lsaRank, lsaSize;
  char* userPointer;          // as registered
  char* const* lsaBases;      // [lsaSize] where this process maps each LSA rank's part; own rank: as kernels use it
  void* const* lsaWakeWords;  // [lsaSize] anygin::WakeWord of the process of each LSA rank; NULL on the cuda target
  uint32_t mcOffset4K;        // where the window lies behind each mcBasePtr, in 4 KiB; 0: it has no multicast address
};

// [nRanks] bytes registered by each rank: they follow the window, so that a kernel finds them without a load before.
NCCL_HOST_DEVICE_INLINE const uint64_t* anyginWindowSizes(const ncclWindow_vidmem* window) {
  return reinterpret_cast<const uint64_t*>(window + 1);
}

// What device code knows of its communicator beyond ncclDevComm. lib/comm owns it, in memory that kernels reach.
struct anyginDevCommView {
  uint64_t communicator;  // as in ncclWindow_vidmem; 0 once destroyed
  // The signals [reservedSignal0, reservedSignalEnd) are those of the library's barriers. The program's own come
  // before, those of its resource requirements behind.
  uint32_t reservedSignal0, reservedSignalEnd;
  bool vaSignals;    // ginVaSignalsRequired was granted
  void* misuseSink;  // anygin::MisuseListener (cpu target) or anygin::MisuseBlock (cuda); see backends/misuse.h
  // Set by the first use of a context index beyond the grant, so that it is reported once.
  uint32_t* contextReported;
  // Connections at a stride or to a list: bit r % 32 of word r / 32 is the world rank r. NULL: the type says it all.
  const uint32_t* connected;
};

// Windows by the address that was registered; a list of full tables. Constant for kernels.
struct ncclDevCommWindowTable {
  struct Entry {
    uintptr_t base, size;
    ncclWindow_t window;  // NULL: free
  } entries[32];
  struct ncclDevCommWindowTable* next;
};
#endif

#endif  // ANYGIN_NCCL_DEVICE_IMPL_CORE__TYPES_H_
