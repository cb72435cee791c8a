// SPDX-License-Identifier: Apache-2.0
// Fence levels, and the state of a GIN barrier session. Contract 2.2, 8.2.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_GIN_BARRIER__TYPES_H_
#define ANYGIN_NCCL_DEVICE_IMPL_GIN_BARRIER__TYPES_H_

#include "../comm.h"
#include "../coop.h"
#include "../gin.h"

#if NCCL_CHECK_CUDACC
namespace anygin {
namespace gin {
struct Limit;
}
}  // namespace anygin

// Unscoped: programs write Put as well as ncclGinFenceLevel::Put. Relaxed is deprecated.
enum ncclGinFenceLevel : uint32_t { None = 0, Put = 1, Get = 2, Relaxed = None };
NCCL_HOST_DEVICE_INLINE constexpr ncclGinFenceLevel operator|(ncclGinFenceLevel a, ncclGinFenceLevel b) {
  return static_cast<ncclGinFenceLevel>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b));
}
NCCL_HOST_DEVICE_INLINE constexpr ncclGinFenceLevel operator&(ncclGinFenceLevel a, ncclGinFenceLevel b) {
  return static_cast<ncclGinFenceLevel>(static_cast<uint32_t>(a) & static_cast<uint32_t>(b));
}

// In place of a context: all of them.
struct ncclGinAllContexts {
  ncclDevComm const& comm;
  ANYGIN_NCCL_HOST_DEVICE constexpr ncclGinAllContexts(ncclDevComm const& devComm) : comm(devComm) {}
};

template <typename Coop>
struct ncclGinBarrierSession_internal {
  Coop coop;
  ncclGin net;  // all contexts: any one
  ncclTeam team;
  ncclGinBarrierHandle handle;
  uint32_t index;
  ncclGinSignal_t signal;  // that of team rank 0
  bool fenceAllContexts;

  NCCL_DEVICE_INLINE void signal_peers(bool fencePut, cuda::memory_order order, const void* callSite);
  NCCL_DEVICE_INLINE ncclResult_t wait_peers(bool fencePut, anygin::gin::Limit limit, const void* callSite);
  NCCL_DEVICE_INLINE ncclResult_t flush_gets(anygin::gin::Limit limit, const void* callSite);
  NCCL_DEVICE_INLINE ncclResult_t sync_within(cuda::memory_order order, ncclGinFenceLevel fence, uint64_t timeoutCycles,
                                              const void* callSite);
};
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_IMPL_GIN_BARRIER__TYPES_H_
