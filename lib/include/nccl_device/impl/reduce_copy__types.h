// SPDX-License-Identifier: Apache-2.0
// Reductions and copies have no types of their own yet; the name is kept for programs that include it.
#ifndef ANYGIN_NCCL_DEVICE_IMPL_REDUCE_COPY__TYPES_H_
#define ANYGIN_NCCL_DEVICE_IMPL_REDUCE_COPY__TYPES_H_

#include "../reduce_copy.h"

#endif  // ANYGIN_NCCL_DEVICE_IMPL_REDUCE_COPY__TYPES_H_
