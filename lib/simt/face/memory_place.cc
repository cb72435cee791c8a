// SPDX-License-Identifier: Apache-2.0
// Where an address lies: first our heap, then __device__ variables, then heaps of peers, then loaded images.
#include "memory_place.h"

#include <dlfcn.h>

#include "anygin/base/world.h"
#include "anygin/simt/device_variables.h"

namespace anygin::simt::face {

PlaceOf place_of(const void* address) {
  PlaceOf result;
  if (const auto allocation = world().heap.find(address)) {
    result.device = allocation->device;
    result.base = allocation->base;
    result.bytes_left = static_cast<size_t>(allocation->base + allocation->bytes - static_cast<const char*>(address));
    result.place = allocation->device == kPinnedOwner    ? Place::kPinned
                   : allocation->device == kManagedOwner ? Place::kManaged
                                                         : Place::kDevice;
    return result;
  }
  Dl_info image;
  if (const auto variable = find_device_variable(address)) {
    result.device = variable->device;
    result.base = variable->base;
    result.bytes_left = static_cast<size_t>(variable->base + variable->bytes - static_cast<const char*>(address));
    result.place = variable->device >= 0                            ? Place::kDevice
                   : variable->kind == DeviceVariableKind::kManaged ? Place::kManaged
                                                                    : Place::kImage;
  } else if (world().memory.name_of(address)) {
    result.place = Place::kDevice;
  } else if (dladdr(address, &image) != 0) {
    result.place = Place::kImage;
  }
  return result;
}

static bool fits(const PlaceOf& place, size_t bytes) {
  return place.base == nullptr || bytes <= place.bytes_left;
}

bool is_device_range(const void* address, size_t bytes) {
  const PlaceOf place = place_of(address);
  return place.place != Place::kPageable && fits(place, bytes);
}

bool is_host_range(const void* address, size_t bytes) {
  const PlaceOf place = place_of(address);
  return address != nullptr && place.place != Place::kDevice && fits(place, bytes);
}

bool is_range(const void* address, size_t bytes) {
  return address != nullptr && fits(place_of(address), bytes);
}

}  // namespace anygin::simt::face
