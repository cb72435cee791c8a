// SPDX-License-Identifier: Apache-2.0
// Where an address lies, as the CUDA API sees it. Device, pinned host and managed memory all come from world().heap;
// the device number of an allocation says which it is.
#pragma once

#include <cstddef>

namespace anygin::simt::face {

// Device numbers of allocations that belong to no device.
inline constexpr int kPinnedOwner = -1;
inline constexpr int kManagedOwner = -2;

enum class Place {
  kPageable,  // ordinary host memory
  kPinned,
  kManaged,
  kDevice,
  kImage  // static data of a loaded program or library: __device__ variables live there, and so do host arrays
};

struct PlaceOf {
  Place place = Place::kPageable;
  int device = -1;        // kDevice: whose, -1 if it is a peer's
  char* base = nullptr;   // start of the allocation, if this process made it
  size_t bytes_left = 0;  // from the address to the allocation's end, if base is set
};
PlaceOf place_of(const void* address);

// May the copy engine read or write [address, address+bytes) as device (host) memory?
bool is_device_range(const void* address, size_t bytes);
bool is_host_range(const void* address, size_t bytes);
// Any memory; false if the range leaves its allocation.
bool is_range(const void* address, size_t bytes);

}  // namespace anygin::simt::face
