// SPDX-License-Identifier: Apache-2.0
// Complete type of the device communicator. Order and size are those of contract 4.1: programs copy it to device memory
// by sizeof. Programs read rank, nRanks, lsaRank, lsaSize and ginContextCount, some also the handles.
#include "../core.h"  // in front of the guard: core.h includes this file when its names are declared

#ifndef ANYGIN_NCCL_DEVICE_IMPL_COMM__TYPES_H_
#define ANYGIN_NCCL_DEVICE_IMPL_COMM__TYPES_H_

#define NCCL_GIN_MAX_CONNECTIONS 4

struct ncclDevComm {
  unsigned int magic, version;
  int rank, nRanks;
  uint32_t nRanks_rcp32;  // nccl::utility::idivRcp32(nRanks)
  int lsaRank, lsaSize;
  uint32_t lsaSize_rcp32;
  ncclDevCommWindowTable_t windowTable;
  ncclWindow_t resourceWindow;  // NULL without resources
  ncclResourceWindow_vidmem_t resourceWindow_inlined;
  ncclGinBarrierHandle_t hybridWorldGinBarrier;
  ncclMultimemHandle_t lsaMultimem;
  ncclLsaBarrierHandle_t lsaBarrier;
  ncclGinBarrierHandle_t railGinBarrier;
  uint8_t ginConnectionCount;  // 0: no GIN
  uint8_t ginNetDeviceTypes[NCCL_GIN_MAX_CONNECTIONS];
  void* ginHandles[NCCL_GIN_MAX_CONNECTIONS];  // ContextSet::handle() of each connection
  int ginSignalCount, ginCounterCount;         // per context, those of barriers included
  uint64_t* ginSignalShadows;                  // [context][signal], own rank's
  uint32_t ginContextCount;
  bool ginConnectionsRailed;    // backend ranks are rail ranks
  bool ginStrongLegacySignals;  // strong signals were granted
  bool ginContextsRailed;       // only rail peers are connected
  uint32_t* abortFlag;          // the communicator's abort word (anygin::AbortCause), always set
  ncclLsaBarrierHandle_t hybridLsaBarrier;
  ncclGinBarrierHandle_t hybridRailGinBarrier, worldGinBarrier;
};

#endif  // ANYGIN_NCCL_DEVICE_IMPL_COMM__TYPES_H_
