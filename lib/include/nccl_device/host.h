// SPDX-License-Identifier: Apache-2.0
// The host functions of the device API, by the name that they have since 2.31. C99 and C++17.
#ifndef ANYGIN_NCCL_DEVICE_HOST_H_
#define ANYGIN_NCCL_DEVICE_HOST_H_

#include "core.h"

#endif  // ANYGIN_NCCL_DEVICE_HOST_H_
