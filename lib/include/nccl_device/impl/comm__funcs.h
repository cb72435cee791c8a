// SPDX-License-Identifier: Apache-2.0
// What needs the complete device communicator. Contract 4.1, 6.2.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_COMM__FUNCS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_COMM__FUNCS_H_

#include "../comm.h"
#include "core__funcs.h"

#if NCCL_CHECK_CUDACC && NCCL_VERSION_CODE >= 23203
NCCL_DEVICE_INLINE bool ncclDevCommCanGetPeerPointer(ncclDevComm const& comm, int worldRank) {
  return static_cast<unsigned>(comm.lsaRank + worldRank - comm.rank) < static_cast<unsigned>(comm.lsaSize);
}
#endif

#endif  // ANYGIN_NCCL_DEVICE_IMPL_COMM__FUNCS_H_
