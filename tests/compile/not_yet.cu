// SPDX-License-Identifier: Apache-2.0
// Compiles; with one of the macros set it names something that is not there, or not yet, and must not compile.
#include <nccl_device.h>

__global__ void use(ncclDevComm comm, ncclWindow_t w) {
  const ncclCoopCta cta;
#if defined(USE_GDAKI)
  const ncclGin_BackendOne<NCCL_NET_DEVICE_GIN_GDAKI> gin(comm, 0);
#endif
#if defined(USE_SPAN_15)
  constexpr ncclCoopWarpSpan span(0, 1, 15);
  (void)span;
#endif
  (void)cta, (void)comm, (void)w;
}
