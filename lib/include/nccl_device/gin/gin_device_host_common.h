// SPDX-License-Identifier: Apache-2.0
// Names of GIN that host and device share: operations, options, sharing modes, requests. C++17. Contract 2.2, 7.
#ifndef ANYGIN_NCCL_DEVICE_GIN_DEVICE_HOST_COMMON_H_
#define ANYGIN_NCCL_DEVICE_GIN_DEVICE_HOST_COMMON_H_

#include <stdint.h>
#if defined(__has_include)
#if __has_include(<cuda.h>)
#include <cuda.h>
#endif
#endif

#include "../core.h"
#include "../net_device.h"

typedef enum { ncclGinSignalInc = 0, ncclGinSignalAdd = 1 } ncclGinSignalOp_t;

// Hints on an operation. MaySkipCreditCheck: the caller has counted and there is room in the queue.
// AggregateRequests: an operation to the same peer without this flag follows.
typedef enum {
  ncclGinOptFlagsDefault = 0,
  ncclGinOptFlagsMaySkipCreditCheck = 1,
  ncclGinOptFlagsAggregateRequests = 2
} ncclGinOptFlags;

// Who may use a context at a time through one object: any thread, one block, one thread. GPU is always right.
enum ncclGinResourceSharingMode : uint8_t {
  NCCL_GIN_RESOURCE_SHARING_GPU = 0,
  NCCL_GIN_RESOURCE_SHARING_CTA = 1,
  NCCL_GIN_RESOURCE_SHARING_THREAD = 2
};

// A point in the operations to one peer, to be waited for; copied freely, waited for any number of times.
typedef struct {
  uint64_t opaque[2];
} ncclGinRequest_t;

// Which backends' device code is compiled in; predefine to change.
#if !defined(NCCL_GIN_PROXY_ENABLE)
#define NCCL_GIN_PROXY_ENABLE 1
#endif
#if defined(CUDA_VERSION) && defined(__CUDA_ARCH__)
#if CUDA_VERSION >= 12020 && __CUDA_ARCH__ >= 700
#define ANYGIN_NCCL_GIN_DIRECT 1
#endif
#if CUDA_VERSION >= 12080 && __CUDA_ARCH__ >= 900
#define NCCL_GIN_HAS_FENCE_ACQUIRE_RELEASE_PTX 1
#endif
#endif
#if !defined(ANYGIN_NCCL_GIN_DIRECT)
#define ANYGIN_NCCL_GIN_DIRECT 0
#endif
#if !defined(NCCL_GIN_GDAKI_ENABLE)
#define NCCL_GIN_GDAKI_ENABLE ANYGIN_NCCL_GIN_DIRECT
#endif
#if !defined(NCCL_GIN_GPI_ENABLE)
#define NCCL_GIN_GPI_ENABLE ANYGIN_NCCL_GIN_DIRECT
#endif
#define NCCL_GIN_BACKEND_MASK_ALL                                               \
  (((NCCL_GIN_PROXY_ENABLE) ? 1u : 0u) << (unsigned)NCCL_NET_DEVICE_GIN_PROXY | \
   ((NCCL_GIN_GDAKI_ENABLE) ? 1u : 0u) << (unsigned)NCCL_NET_DEVICE_GIN_GDAKI | \
   ((NCCL_GIN_GPI_ENABLE) ? 1u : 0u) << (unsigned)NCCL_NET_DEVICE_GIN_GPI)

#endif  // ANYGIN_NCCL_DEVICE_GIN_DEVICE_HOST_COMMON_H_
