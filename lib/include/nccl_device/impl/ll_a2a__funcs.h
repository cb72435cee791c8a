// SPDX-License-Identifier: Apache-2.0
// Low-latency all-to-all: not yet. Making a session does not compile, so that no program uses it unawares.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_LL_A2A__FUNCS_H_
#define ANYGIN_NCCL_DEVICE_IMPL_LL_A2A__FUNCS_H_

#include "../ll_a2a.h"

#if NCCL_CHECK_CUDACC
template <typename Coop>
NCCL_DEVICE_INLINE ncclLLA2ASession<Coop>::ncclLLA2ASession(Coop c, ncclDevComm const& devComm, ncclTeam tm,
                                                            ncclLLA2AHandle h, uint32_t blockIndex, int maxElts,
                                                            bool useMultimem, ncclMultimemHandle mm)
    : ncclLLA2ASession_internal<Coop>{c, devComm, tm, h, static_cast<int>(blockIndex), maxElts, useMultimem, mm, 0, 0} {
  static_assert(nccl::utility::always_false<Coop>::value, "not yet: ncclLLA2ASession (docs/api-coverage.md)");
}
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_LL_A2A__FUNCS_H_
