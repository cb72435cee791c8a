// SPDX-License-Identifier: Apache-2.0
// Where an address lies: first mapped memory, then our heap, then __device__ variables, then heaps of peers, then
// loaded images.
#include "memory_place.h"

#include <dlfcn.h>

#include "anygin/base/world.h"
#include "anygin/simt/device_variables.h"
#include "anygin/simt/host_memory.h"
#include "anygin/simt/virtual_memory.h"

namespace anygin::simt::face {

static PlaceOf in_segment(const MemorySegment& segment, const void* address) {
  PlaceOf result;
  result.place = segment.owner.host ? Place::kPinned : Place::kDevice;
  result.device = segment.owner.host ? -1 : segment.owner.id;
  result.base = segment.base;
  result.bytes_left = static_cast<size_t>(segment.base + segment.bytes - static_cast<const char*>(address));
  return result;
}

PlaceOf place_of(const void* address) {
  PlaceOf result;
  if (virtual_memory().reserved(address)) {
    if (const auto segment = virtual_memory().find(address)) return in_segment(*segment, address);
    result.place = Place::kDevice;  // of nothing: no range fits
    result.base = static_cast<char*>(const_cast<void*>(address));
    return result;
  }
  if (const auto segment = find_ipc_memory(address)) return in_segment(*segment, address);
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
  } else if (const auto range = find_registered_memory(address)) {
    result.place = Place::kPinned;
    result.base = range->base;
    result.bytes_left = static_cast<size_t>(range->base + range->bytes - static_cast<const char*>(address));
  } else if (dladdr(address, &image) != 0) {
    result.place = Place::kImage;
  }
  return result;
}

// Pieces that are mapped side by side are one range.
static bool fits(const PlaceOf& place, const void* address, size_t bytes) {
  if (place.base == nullptr || bytes <= place.bytes_left) return true;
  return virtual_memory().reserved(address) && !virtual_memory().segments(address, bytes).empty();
}

bool is_device_range(const void* address, size_t bytes) {
  const PlaceOf place = place_of(address);
  return place.place != Place::kPageable && fits(place, address, bytes);
}

bool is_host_range(const void* address, size_t bytes) {
  const PlaceOf place = place_of(address);
  return address != nullptr && place.place != Place::kDevice && fits(place, address, bytes);
}

bool is_range(const void* address, size_t bytes) {
  return address != nullptr && fits(place_of(address), address, bytes);
}

}  // namespace anygin::simt::face
