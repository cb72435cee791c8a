// SPDX-License-Identifier: Apache-2.0
// The layer between ncclGin and the backends, for programs that dispatch by themselves: a context, and one template an
// operation that each backend specializes (contract 7.11). Not-yet backends fail to compile when they are named.
#ifndef ANYGIN_NCCL_DEVICE_GIN_DEVICE_COMMON_H_
#define ANYGIN_NCCL_DEVICE_GIN_DEVICE_COMMON_H_

#include "../coop.h"
#include "../gin.h"
#include "anygin/backends/device_backend.h"
#include "gin_device_host_common.h"

#if NCCL_CHECK_CUDACC
// A context of one connection, as ncclGin sees it; made for a call, not stored.
struct ncclGinCtx {
  unsigned backendMask;
  ncclNetDeviceType backend;
  int rank, nRanks;  // of the connection: world ranks, or rail ranks if the connections are railed
  void* handle;
  int contextId;  // within the connection
  uint8_t resourceSharingMode;
  uint32_t* abortFlag;
};
template <unsigned backendMask>
struct ncclGinCtx_M : ncclGinCtx {};

typedef enum {
  NCCL_GIN_SIGNAL_TYPE_NONE = 0,
  NCCL_GIN_SIGNAL_TYPE_VA = 1,
  NCCL_GIN_SIGNAL_TYPE_INDEXED = 2
} ncclGinSignalType;

// A signal at a peer; all members are zero for none.
struct ncclGinSignalDescriptor {
  struct VaSignal {
    ncclGinWindow_t signalWindow;
    size_t signalOffset;  // bytes within the peer's window
    ncclWindow_t ncclWindow;
  };
  struct IndexedSignal {
    ncclGinSignal_t signalId;
  };
  ncclGinSignalType type;
  union {
    VaSignal vaSignal;
    IndexedSignal indexedSignal;
  };
  bool isStrong;
};

// A cell of a signal or counter: its value is *ptr - offset.
struct ncclGinOffsetPtr {
  uint64_t* ptr;
  uint64_t offset;
};

namespace anygin {
namespace gin {
// What a backend without device code here has for every operation.
struct NotYet {
  template <typename... Args>
  NCCL_DEVICE_INLINE static void call(Args&&...) {
    static_assert(nccl::utility::always_false<Args...>::value, "not yet: this GIN backend (docs/api-coverage.md)");
  }
};
}  // namespace gin
}  // namespace anygin

// One `call` each, with the arguments of contract 7.11. Called by one thread, but Flush and Get by the whole coop.
// Peers are ranks of the connection; nothing is checked.
template <ncclNetDeviceType backend>
struct ncclGinApi_Put : anygin::gin::NotYet {};
template <ncclNetDeviceType backend>
struct ncclGinApi_PutValue : anygin::gin::NotYet {};
template <ncclNetDeviceType backend>
struct ncclGinApi_Get : anygin::gin::NotYet {};
template <ncclNetDeviceType backend>
struct ncclGinApi_Flush : anygin::gin::NotYet {};
template <ncclNetDeviceType backend>
struct ncclGinApi_FlushAsync : anygin::gin::NotYet {};
template <ncclNetDeviceType backend>
struct ncclGinApi_Wait : anygin::gin::NotYet {};
template <ncclNetDeviceType backend>
struct ncclGinApi_GetSignalPtr : anygin::gin::NotYet {};
template <ncclNetDeviceType backend>
struct ncclGinApi_GetCounterPtr : anygin::gin::NotYet {};
template <ncclNetDeviceType backend>
struct ncclGinApi_ResetSignal : anygin::gin::NotYet {};
template <ncclNetDeviceType backend>
struct ncclGinApi_ResetCounter : anygin::gin::NotYet {};
#endif  // NCCL_CHECK_CUDACC

#endif  // ANYGIN_NCCL_DEVICE_GIN_DEVICE_COMMON_H_
