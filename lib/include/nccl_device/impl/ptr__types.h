// SPDX-License-Identifier: Apache-2.0
// ncclSymPtr is complete in ptr.h; this name is kept for programs that include it.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_PTR__TYPES_H_
#define ANYGIN_NCCL_DEVICE_IMPL_PTR__TYPES_H_

#include "../ptr.h"

#endif  // ANYGIN_NCCL_DEVICE_IMPL_PTR__TYPES_H_
