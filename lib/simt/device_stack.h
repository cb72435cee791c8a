// SPDX-License-Identifier: Apache-2.0
// The stack of current devices that the driver API's cuCtxPushCurrent and cuCtxPopCurrent work on: a thread's own.
#pragma once

namespace anygin::simt {

// `device` becomes the current one. Returns a cudaError_t.
int push_device(int device);
// The device before it is current again. False if nothing was pushed.
bool pop_device();

}  // namespace anygin::simt
