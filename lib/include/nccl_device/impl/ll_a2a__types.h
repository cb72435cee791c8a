// SPDX-License-Identifier: Apache-2.0
// State of a low-latency all-to-all session. Contract 8.4.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_LL_A2A__TYPES_H_
#define ANYGIN_NCCL_DEVICE_IMPL_LL_A2A__TYPES_H_

#include "../comm.h"
#include "../coop.h"

#if NCCL_CHECK_CUDACC
template <typename Coop>
struct ncclLLA2ASession_internal {
  Coop coop;
  ncclDevComm const& comm;
  ncclTeam team;
  ncclLLA2AHandle handle;
  int block;
  int pitch;  // maxElts
  bool multimem;
  ncclMultimemHandle mmHandle;
  uint32_t epoch;
  uint32_t slotsOffset;
};
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_LL_A2A__TYPES_H_
