// SPDX-License-Identifier: Apache-2.0
// libcuda: the driver API's subset. A context is its device: handle = device number + 1.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "anygin/base/order.h"
#include "anygin/base/world.h"
#include "anygin/simt/device.h"
#include "anygin/simt/device_stack.h"
#include "cuda.h"
#include "device_attribute.h"
#include "error_text.h"
#include "memory_place.h"

using namespace anygin::simt;
using namespace anygin::simt::face;

namespace {

CUresult result(int error) {
  return static_cast<CUresult>(error);
}
bool is_device(int device) {
  return device >= 0 && device < device_count();
}

template <typename Word>
bool satisfied(Word seen, Word value, unsigned compare) {
  switch (compare) {
    case CU_STREAM_WAIT_VALUE_EQ:
      return seen == value;
    case CU_STREAM_WAIT_VALUE_AND:
      return (seen & value) != 0;
    case CU_STREAM_WAIT_VALUE_NOR:
      return static_cast<Word>(~(seen | value)) != 0;
    default:
      return static_cast<Word>(seen - value) >> (8 * sizeof(Word) - 1) == 0;  // GEQ, rolling
  }
}

// The word that a stream operation names, if it lies in memory that a device can use and is aligned.
template <typename Word>
Word* word_at(CUdeviceptr address) {
  auto* word = reinterpret_cast<Word*>(address);
  const bool usable = address % sizeof(Word) == 0 && address != 0 && is_device_range(word, sizeof(Word));
  return usable ? word : nullptr;
}

template <typename Word>
CUresult wait_value(CUstream handle, CUdeviceptr address, Word value, unsigned flags) {
  Stream* stream = resolve_stream(handle);
  const Word* word = word_at<Word>(address);
  const unsigned compare = flags & ~unsigned{CU_STREAM_WAIT_VALUE_FLUSH};
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (word == nullptr || compare > CU_STREAM_WAIT_VALUE_NOR) return CUDA_ERROR_INVALID_VALUE;
  return result(enqueue_wait(
      stream, [word, value, compare] { return satisfied(anygin::observe(word), value, compare); },
      "cuStreamWaitValue"));
}

template <typename Word>
CUresult write_value(CUstream handle, CUdeviceptr address, Word value, unsigned flags) {
  Stream* stream = resolve_stream(handle);
  Word* word = word_at<Word>(address);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  if (word == nullptr || flags > CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER) return CUDA_ERROR_INVALID_VALUE;
  return result(enqueue_host_work(stream, [word, value]() -> int {
    anygin::publish(word, value);
    return 0;
  }));
}

CUresult memory_operation(CUstream stream, const CUstreamBatchMemOpParams& one) {
  switch (one.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
      return wait_value<uint32_t>(stream, one.waitValue.address, one.waitValue.value, one.waitValue.flags);
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
      return wait_value<uint64_t>(stream, one.waitValue.address, one.waitValue.value64, one.waitValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return write_value<uint32_t>(stream, one.writeValue.address, one.writeValue.value, one.writeValue.flags);
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return write_value<uint64_t>(stream, one.writeValue.address, one.writeValue.value64, one.writeValue.flags);
    // Operations of a stream are ordered and remote writes visible anyway.
    case CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES:
    case CU_STREAM_MEM_OP_BARRIER:
      return CUDA_SUCCESS;
  }
  return CUDA_ERROR_INVALID_VALUE;
}

}  // namespace

// --- Devices and contexts --------------------------------------------------------------------------------------------
CUresult cuInit(unsigned flags) {
  return flags == 0 ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = CUDA_VERSION;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(ordinal)) return CUDA_ERROR_INVALID_DEVICE;
  *device = ordinal;
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetCount(int* count) {
  if (count == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *count = device_count();
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  if (name == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  std::snprintf(name, static_cast<size_t>(length), "%s", device_name());
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  if (value == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  switch (attribute) {
    case CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED:
    case CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED:
      *value = 1;
      return CUDA_SUCCESS;
    case CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED:
      *value = 0;
      return CUDA_SUCCESS;
    default:
      return device_attribute(attribute, device, value) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
}
CUresult cuCtxGetCurrent(CUcontext* context) {
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *context = reinterpret_cast<CUcontext>(static_cast<uintptr_t>(current_device()) + 1);
  return CUDA_SUCCESS;
}
CUresult cuCtxSetCurrent(CUcontext context) {
  const auto device = static_cast<int>(reinterpret_cast<uintptr_t>(context)) - 1;
  if (!is_device(device)) return CUDA_ERROR_INVALID_CONTEXT;
  return result(set_current_device(device));
}
CUresult cuCtxGetDevice(CUdevice* device) {
  if (device == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *device = current_device();
  return CUDA_SUCCESS;
}
CUresult cuCtxPushCurrent(CUcontext context) {
  const auto device = static_cast<int>(reinterpret_cast<uintptr_t>(context)) - 1;
  return is_device(device) ? result(push_device(device)) : CUDA_ERROR_INVALID_CONTEXT;
}
CUresult cuCtxPopCurrent(CUcontext* context) {
  CUcontext popped = nullptr;
  (void)cuCtxGetCurrent(&popped);
  if (!pop_device()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context != nullptr) *context = popped;
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (context == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = reinterpret_cast<CUcontext>(static_cast<uintptr_t>(device) + 1);
  return CUDA_SUCCESS;
}
CUresult cuDevicePrimaryCtxRelease(CUdevice device) {
  return is_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
CUresult cuDeviceTotalMem(size_t* bytes, CUdevice device) {
  if (bytes == nullptr) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  *bytes = device_memory_bytes(device);
  return CUDA_SUCCESS;
}
CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  if (text == nullptr || length <= 0) return CUDA_ERROR_INVALID_VALUE;
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const int wanted = std::snprintf(text, static_cast<size_t>(length), "0000:%02X:00.0", device + 1);
  return wanted < length ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}
CUresult cuPointerGetAttribute(void* data, CUpointer_attribute attribute, CUdeviceptr address) {
  const void* pointer = reinterpret_cast<void*>(address);
  const PlaceOf place = place_of(pointer);
  if (data == nullptr || place.place == Place::kPageable || place.place == Place::kImage) {
    return CUDA_ERROR_INVALID_VALUE;
  }
  const int device = place.device >= 0 ? place.device : current_device();
  const size_t before = place.base != nullptr ? static_cast<size_t>(static_cast<const char*>(pointer) - place.base) : 0;
  switch (attribute) {
    case CU_POINTER_ATTRIBUTE_CONTEXT:
      *static_cast<CUcontext*>(data) = reinterpret_cast<CUcontext>(static_cast<uintptr_t>(device) + 1);
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
      *static_cast<CUmemorytype*>(data) = place.place == Place::kPinned ? CU_MEMORYTYPE_HOST : CU_MEMORYTYPE_DEVICE;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_POINTER:
      *static_cast<CUdeviceptr*>(data) = address;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_HOST_POINTER:
      if (place.place == Place::kDevice) return CUDA_ERROR_INVALID_VALUE;
      *static_cast<const void**>(data) = pointer;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_SYNC_MEMOPS:
    case CU_POINTER_ATTRIBUTE_MAPPED:
      *static_cast<unsigned*>(data) = attribute == CU_POINTER_ATTRIBUTE_MAPPED;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_IS_MANAGED:
      *static_cast<unsigned*>(data) = place.place == Place::kManaged;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
      *static_cast<int*>(data) = device;
      return CUDA_SUCCESS;
    case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
      *static_cast<CUdeviceptr*>(data) = address - before;
      return place.base != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
    case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
      *static_cast<size_t*>(data) = before + place.bytes_left;
      return place.base != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_ERROR_INVALID_VALUE;
}
CUresult cuCtxSynchronize() {
  return result(synchronize_device(current_device()));
}

// --- Waits and writes in a stream ------------------------------------------------------------------------------------
CUresult cuStreamWaitValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  return wait_value<uint32_t>(stream, address, value, flags);
}
CUresult cuStreamWaitValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  return wait_value<uint64_t>(stream, address, value, flags);
}
CUresult cuStreamWriteValue32(CUstream stream, CUdeviceptr address, cuuint32_t value, unsigned flags) {
  return write_value<uint32_t>(stream, address, value, flags);
}
CUresult cuStreamWriteValue64(CUstream stream, CUdeviceptr address, cuuint64_t value, unsigned flags) {
  return write_value<uint64_t>(stream, address, value, flags);
}
CUresult cuStreamBatchMemOp(CUstream stream, unsigned count, CUstreamBatchMemOpParams* operations, unsigned flags) {
  if (operations == nullptr || count == 0 || count > 256 || flags != 0) return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    const CUresult error = memory_operation(stream, operations[i]);
    if (error != CUDA_SUCCESS) return error;
  }
  return CUDA_SUCCESS;
}

// --- Modules: there is no device code to load ------------------------------------------------------------------------
CUresult cuModuleLoadDataEx(CUmodule*, const void*, unsigned, CUjit_option*, void**) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuModuleLoad(CUmodule*, const char*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuModuleLoadData(CUmodule*, const void*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuModuleGetGlobal(CUdeviceptr*, size_t*, CUmodule, const char*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuLaunchKernelEx(const CUlaunchConfig*, CUfunction, void**, void**) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuModuleGetFunction(CUfunction*, CUmodule, const char*) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuModuleUnload(CUmodule) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuFuncSetAttribute(CUfunction, CUfunction_attribute, int) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
CUresult cuLaunchKernel(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
                        void**, void**) {
  return CUDA_ERROR_NOT_SUPPORTED;
}
