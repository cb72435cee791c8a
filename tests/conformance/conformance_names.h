// SPDX-License-Identifier: Apache-2.0
// Bodies are written in the names of NCCL 2.30. The same sources compile against releases since 2.28.7, where signals have
// one strength and requirements are zero at first; what those do not have stands in #if CONFORMANCE_SINCE_2_30.
#pragma once

#include <nccl.h>
#include <nccl_device.h>

#if NCCL_VERSION_CODE >= 23000
#define CONFORMANCE_SINCE_2_30 1
#else
#define CONFORMANCE_SINCE_2_30 0
#define NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER {}
using ncclGin_StrongSignalInc = ncclGin_SignalInc;
using ncclGin_WeakSignalInc = ncclGin_SignalInc;
using ncclGin_StrongSignalAdd = ncclGin_SignalAdd;
using ncclGin_WeakSignalAdd = ncclGin_SignalAdd;
using ncclGin_WeakCounterInc = ncclGin_CounterInc;
#endif
