// SPDX-License-Identifier: Apache-2.0
// All backends' device code, and ncclGinCall, which picks one. Contract 7.11.
#ifndef ANYGIN_NCCL_DEVICE_GIN_DEVICE_API_H_
#define ANYGIN_NCCL_DEVICE_GIN_DEVICE_API_H_

#include "gin_device_common.h"
#include "proxy/gin_proxy.h"

#if NCCL_CHECK_CUDACC
// ApiFn<backend>::call(ctx, args...). The proxy is the only backend with device code here, and the only one that
// ncclDevCommCreate grants.
template <template <ncclNetDeviceType> class ApiFn, unsigned backendMask, typename... Args>
NCCL_DEVICE_INLINE auto ncclGinCall(ncclGinCtx_M<backendMask> ctx, Args&&... args)
    -> decltype(ApiFn<NCCL_NET_DEVICE_GIN_PROXY>::call(ctx, static_cast<Args&&>(args)...)) {
  static_assert((backendMask & (1u << NCCL_NET_DEVICE_GIN_PROXY)) != 0,
                "not yet: a GIN backend other than the proxy (docs/api-coverage.md)");
  return ApiFn<NCCL_NET_DEVICE_GIN_PROXY>::call(ctx, static_cast<Args&&>(args)...);
}
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_GIN_DEVICE_API_H_
