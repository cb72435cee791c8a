// SPDX-License-Identifier: Apache-2.0
// The device API: teams, windows, coops, GIN, barriers. The only device header that programs need. In host-only
// compilations the host parts appear. C++17; C programs include nccl_device/core.h. Contract 1.1.
#ifndef ANYGIN_NCCL_DEVICE_H_
#define ANYGIN_NCCL_DEVICE_H_

#if defined(__cplusplus)
// The order is the contract's.
// clang-format off
#include "nccl_device/coop.h"
#include "nccl_device/impl/barrier__funcs.h"
#include "nccl_device/impl/comm__funcs.h"
#include "nccl_device/impl/core__funcs.h"
#include "nccl_device/impl/ll_a2a__funcs.h"
#include "nccl_device/impl/lsa_barrier__funcs.h"
#include "nccl_device/impl/gin__funcs.h"
#include "nccl_device/impl/gin_c__funcs.h"
#include "nccl_device/impl/gin_barrier__funcs.h"
#include "nccl_device/impl/ptr__funcs.h"
#include "nccl_device/impl/reduce_copy__funcs.h"
// clang-format on
#else
#include "nccl_device/core.h"
#endif

#endif  // ANYGIN_NCCL_DEVICE_H_
