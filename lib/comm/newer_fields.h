// SPDX-License-Identifier: Apache-2.0
// Fields that releases after 2.30.7 appended to structs which programs hand in. The library is compiled with the older
// headers: each struct here has the newer one's fields at their places (tests/unit/c_api_newer_test.cc compares them).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "nccl_device/core.h"

namespace anygin::comm {

inline constexpr unsigned kSince231 = NCCL_VERSION(2, 31, 0);
inline constexpr unsigned kSince232 = NCCL_VERSION(2, 32, 3);

// Values of ncclGinConnectionType_t.
inline constexpr int kCustomStride = 3, kCustomArray = 4;

struct alignas(8) NewerRequirements {
  char until[offsetof(ncclDevCommRequirements, ginVaSignalsRequired) + 1];
  int custom_stride;
  int gin_type;
  bool use_runtime_version;
  int cft_caps, cft_barriers;
  const int* custom_array;  // from 2.32.3 on
  int custom_array_count;
};

struct alignas(8) NewerProperties {
  char until[offsetof(ncclCommProperties, railedGinType) + sizeof(ncclGinType_t)];
  uint64_t hash;
  int min_stride;
  int connection_type;
  bool support[64];
  size_t dev_comm_bytes;
};

struct alignas(8) NewerConfig {
  char until[offsetof(ncclConfig_t, graphStreamOrdering) + sizeof(int)];
  int rma_signals;
  int rma_eager_init;
  int launch_order_implicit;
  int host_cft_mode;
};

// Is `field` of a newer struct within what the program gave?
#define ANYGIN_HAS_FIELD(Struct, field, size) (offsetof(Struct, field) + sizeof(Struct::field) <= (size))

}  // namespace anygin::comm
