// SPDX-License-Identifier: Apache-2.0
// libcuda: memory. Codes of CUresult are cudaError_t's, so the runtime's answers can be handed on.
#include <cstring>

#include "anygin/base/world.h"
#include "anygin/simt/device.h"
#include "anygin/simt/virtual_memory.h"
#include "cuda.h"
#include "device_attribute.h"
#include "memory_place.h"

using namespace anygin::simt;
using namespace anygin::simt::face;
using anygin::world;

namespace {

CUresult result(int error) {
  return static_cast<CUresult>(error);
}
char* pointer(CUdeviceptr address) {
  return reinterpret_cast<char*>(address);
}
bool is_device(int device) {
  return device >= 0 && device < device_count();
}

// Devices, the host and its NUMA nodes own memory.
bool read_location(const CUmemLocation& location, MemoryOwner* owner) {
  switch (location.type) {
    case CU_MEM_LOCATION_TYPE_DEVICE:
      *owner = {false, false, location.id};
      return is_device(location.id);
    case CU_MEM_LOCATION_TYPE_HOST:
      *owner = {true, false, 0};
      return true;
    case CU_MEM_LOCATION_TYPE_HOST_NUMA:
    case CU_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT:
      *owner = {true, true, location.type == CU_MEM_LOCATION_TYPE_HOST_NUMA ? location.id : 0};
      return location.id >= 0;
    default:
      return false;
  }
}

// cudaSuccess, or what is wrong with a description of memory.
CUresult read_properties(const CUmemAllocationProp* properties, MemoryOwner* owner) {
  if (properties == nullptr || properties->type != CU_MEM_ALLOCATION_TYPE_PINNED) return CUDA_ERROR_INVALID_VALUE;
  if (!read_location(properties->location, owner)) {
    return properties->location.type == CU_MEM_LOCATION_TYPE_DEVICE ? CUDA_ERROR_INVALID_DEVICE
                                                                    : CUDA_ERROR_INVALID_VALUE;
  }
  const int kinds = properties->requestedHandleTypes;
  return (kinds & ~CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) == 0 ? CUDA_SUCCESS : CUDA_ERROR_NOT_SUPPORTED;
}

}  // namespace

// --- Plain -----------------------------------------------------------------------------------------------------------
CUresult cuMemAlloc(CUdeviceptr* address, size_t bytes) {
  if (address == nullptr || bytes == 0) return CUDA_ERROR_INVALID_VALUE;
  if (const int lost = device_error(current_device())) return result(lost);
  auto allocated = world().heap.allocate(bytes, current_device());
  if (!allocated.ok()) return CUDA_ERROR_OUT_OF_MEMORY;
  *address = reinterpret_cast<CUdeviceptr>(*allocated);
  return CUDA_SUCCESS;
}
CUresult cuMemFree(CUdeviceptr address) {
  const PlaceOf place = place_of(pointer(address));
  if (place.place != Place::kDevice || place.base != pointer(address)) return CUDA_ERROR_INVALID_VALUE;
  if (const int error = synchronize_device(place.device)) return result(error);
  return world().heap.free(pointer(address)).ok() ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuMemGetInfo(size_t* free, size_t* total) {
  if (free == nullptr || total == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *total = device_memory_bytes(current_device());
  const size_t used = world().heap.allocated();
  *free = used < *total ? *total - used : 0;
  return CUDA_SUCCESS;
}
// Of mapped memory: the one mapping that the address lies in.
CUresult cuMemGetAddressRange(CUdeviceptr* base, size_t* bytes, CUdeviceptr address) {
  const PlaceOf place = place_of(pointer(address));
  const size_t before = place.base != nullptr ? static_cast<size_t>(pointer(address) - place.base) : 0;
  if (place.base == nullptr || before + place.bytes_left == 0) return CUDA_ERROR_NOT_FOUND;
  if (base != nullptr) *base = reinterpret_cast<CUdeviceptr>(place.base);
  if (bytes != nullptr) *bytes = before + place.bytes_left;
  return CUDA_SUCCESS;
}

// --- Addresses apart from memory -------------------------------------------------------------------------------------
CUresult cuMemGetAllocationGranularity(size_t* granularity, const CUmemAllocationProp* properties,
                                       CUmemAllocationGranularity_flags) {
  MemoryOwner owner;
  if (granularity == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *granularity = VirtualMemory::kGranularity;
  return read_properties(properties, &owner);
}
// A wanted address is a hint, which is not taken.
CUresult cuMemAddressReserve(CUdeviceptr* address, size_t bytes, size_t alignment, CUdeviceptr,
                             unsigned long long flags) {
  char* base = nullptr;
  if (address == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  const int error = virtual_memory().reserve(bytes, alignment, &base);
  *address = reinterpret_cast<CUdeviceptr>(base);
  return result(error);
}
CUresult cuMemAddressFree(CUdeviceptr address, size_t bytes) {
  return result(virtual_memory().unreserve(pointer(address), bytes));
}
CUresult cuMemCreate(CUmemGenericAllocationHandle* handle, size_t bytes, const CUmemAllocationProp* properties,
                     unsigned long long flags) {
  MemoryOwner owner;
  MemoryHandle created = 0;
  if (handle == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (const CUresult error = read_properties(properties, &owner)) return error;
  const bool exportable = properties->requestedHandleTypes != CU_MEM_HANDLE_TYPE_NONE;
  const int error = virtual_memory().create(bytes, owner, exportable, &created);
  *handle = created;
  return result(error);
}
CUresult cuMemRelease(CUmemGenericAllocationHandle handle) {
  return result(virtual_memory().release(handle));
}
CUresult cuMemMap(CUdeviceptr address, size_t bytes, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags) {
  if (offset != 0 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  return result(virtual_memory().map(pointer(address), bytes, handle));
}
// Kernels of any device may still use it: they are waited for.
CUresult cuMemUnmap(CUdeviceptr address, size_t bytes) {
  for (int device = 0; device < device_count(); ++device) (void)synchronize_device(device);
  return result(virtual_memory().unmap(pointer(address), bytes));
}
// All devices and the host see memory the same way: the widest of the given rights holds for all.
CUresult cuMemSetAccess(CUdeviceptr address, size_t bytes, const CUmemAccessDesc* rights, size_t count) {
  bool readable = false, writable = false;
  if (rights == nullptr || count == 0) return CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; ++i) {
    MemoryOwner who;
    if (!read_location(rights[i].location, &who)) return CUDA_ERROR_INVALID_DEVICE;
    readable |= rights[i].flags != CU_MEM_ACCESS_FLAGS_PROT_NONE;
    writable |= rights[i].flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
  }
  return result(virtual_memory().set_access(pointer(address), bytes, readable, writable));
}
CUresult cuMemGetAccess(unsigned long long* flags, const CUmemLocation* location, CUdeviceptr address) {
  MemoryOwner who;
  unsigned rights = 0;
  if (flags == nullptr || location == nullptr || !read_location(*location, &who)) return CUDA_ERROR_INVALID_VALUE;
  const int error = virtual_memory().access(pointer(address), &rights);
  *flags = rights;
  return result(error);
}
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle* handle, void* address) {
  MemoryHandle found = 0;
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  const int error = virtual_memory().retain(static_cast<char*>(address), &found);
  *handle = found;
  return result(error);
}
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp* properties, CUmemGenericAllocationHandle handle) {
  MemoryOwner owner;
  bool exportable = false;
  if (properties == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (const int error = virtual_memory().owner_of(handle, &owner, &exportable)) return result(error);
  *properties = CUmemAllocationProp{};
  properties->type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties->requestedHandleTypes = exportable ? CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR : CU_MEM_HANDLE_TYPE_NONE;
  properties->location.type = !owner.host  ? CU_MEM_LOCATION_TYPE_DEVICE
                              : owner.numa ? CU_MEM_LOCATION_TYPE_HOST_NUMA
                                           : CU_MEM_LOCATION_TYPE_HOST;
  properties->location.id = owner.id;
  return CUDA_SUCCESS;
}

// --- Between processes -----------------------------------------------------------------------------------------------
CUresult cuMemExportToShareableHandle(void* shareable, CUmemGenericAllocationHandle handle,
                                      CUmemAllocationHandleType type, unsigned long long flags) {
  if (shareable == nullptr || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  int fd = -1;
  const int error = virtual_memory().export_to(handle, &fd);
  if (error == 0) std::memcpy(shareable, &fd, sizeof fd);
  return result(error);
}
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle* handle, void* shareable,
                                        CUmemAllocationHandleType type) {
  MemoryHandle found = 0;
  if (handle == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (type != CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR) return CUDA_ERROR_NOT_SUPPORTED;
  const int error = virtual_memory().import_from(static_cast<int>(reinterpret_cast<intptr_t>(shareable)), &found);
  *handle = found;
  return result(error);
}

CUresult cuMulticastCreate(CUmemGenericAllocationHandle*, const CUmulticastObjectProp*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuMulticastAddDevice(CUmemGenericAllocationHandle, CUdevice) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuMulticastBindMem(CUmemGenericAllocationHandle, size_t, CUmemGenericAllocationHandle, size_t, size_t,
                            unsigned long long) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuMulticastBindAddr(CUmemGenericAllocationHandle, size_t, CUdeviceptr, size_t, unsigned long long) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuMulticastUnbind(CUmemGenericAllocationHandle, CUdevice, size_t, size_t) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuMulticastGetGranularity(size_t*, const CUmulticastObjectProp*, CUmulticastGranularity_flags) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
