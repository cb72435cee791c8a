// SPDX-License-Identifier: Apache-2.0
// What the face says of a device, in one place for the runtime and the driver API.
#pragma once

#include "driver_types.h"

namespace anygin::simt::face {

// `attribute` is a cudaDeviceAttr or CUdevice_attribute, which share their numbers. False if it is not known.
bool device_attribute(int attribute, int device, int* value);
void fill_properties(int device, cudaDeviceProp* properties);
// "AnyGIN CPU device"
const char* device_name();
size_t device_memory_bytes(int device);

}  // namespace anygin::simt::face
