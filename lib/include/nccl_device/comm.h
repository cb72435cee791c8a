// SPDX-License-Identifier: Apache-2.0
// The device communicator ncclDevComm, passed to kernels by value; its teams and accessors are declared in core.h.
// Contract 4.1.
#ifndef ANYGIN_NCCL_DEVICE_COMM_H_
#define ANYGIN_NCCL_DEVICE_COMM_H_

#include "core.h"
#include "impl/comm__types.h"

#endif  // ANYGIN_NCCL_DEVICE_COMM_H_
