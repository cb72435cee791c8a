// SPDX-License-Identifier: Apache-2.0
// A handle names the owner's heap file and a range of it; opening maps that range once more.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <map>
#include <mutex>

#include "anygin/base/world.h"
#include "anygin/simt/cuda_error.h"
#include "anygin/simt/virtual_memory.h"

namespace anygin::simt {
namespace {

constexpr uint64_t kMagic = 0x3143504947594e41;

struct Opened {
  MemorySegment segment;
  IpcHandle handle;
  int count = 1;
};

struct Table {
  std::mutex mutex;
  std::map<char*, Opened> opened;  // by address
};

Table& table() {
  static Table& one = *new Table;
  return one;
}

bool same(const IpcHandle& a, const IpcHandle& b) {
  return a.process == b.process && a.file == b.file && a.offset == b.offset && a.bytes == b.bytes;
}

}  // namespace

int make_ipc_handle(void* pointer, IpcHandle* handle) {
  const auto allocation = world().heap.find(pointer);
  if (!allocation || allocation->device < 0) return kCudaInvalidValue;
  const auto name = world().memory.name_of(allocation->base);
  *handle = IpcHandle{kMagic, getpid(), world().heap.fd(), name->offset, allocation->bytes, allocation->device, {}};
  return kCudaSuccess;
}

int open_ipc_handle(const IpcHandle& handle, char** base) {
  if (handle.magic != kMagic || handle.bytes == 0) return kCudaInvalidResourceHandle;
  if (handle.process == getpid()) return kCudaDeviceUninitialized;
  const std::lock_guard lock(table().mutex);
  for (auto& [address, one] : table().opened) {
    if (!same(one.handle, handle)) continue;
    ++one.count;
    *base = address;
    return kCudaSuccess;
  }
  const int file = open(fmt::format("/proc/{}/fd/{}", handle.process, handle.file).c_str(), O_RDWR | O_CLOEXEC);
  struct stat there {};
  if (file < 0 || fstat(file, &there) != 0 || static_cast<uint64_t>(there.st_size) < handle.offset + handle.bytes) {
    if (file >= 0) close(file);
    return kCudaMapBufferObjectFailed;
  }
  void* mapped =
      mmap(nullptr, handle.bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(handle.offset));
  close(file);
  if (mapped == MAP_FAILED) return kCudaMapBufferObjectFailed;
  *base = static_cast<char*>(mapped);
  table().opened[*base] = {MemorySegment{*base, handle.bytes, MemoryOwner{false, false, handle.device}, false}, handle};
  return kCudaSuccess;
}

int close_ipc_handle(void* base) {
  const std::lock_guard lock(table().mutex);
  const auto found = table().opened.find(static_cast<char*>(base));
  if (found == table().opened.end()) return kCudaInvalidValue;
  if (--found->second.count > 0) return kCudaSuccess;
  munmap(found->first, found->second.segment.bytes);
  table().opened.erase(found);
  return kCudaSuccess;
}

std::optional<MemorySegment> find_ipc_memory(const void* address) {
  const std::lock_guard lock(table().mutex);
  auto after = table().opened.upper_bound(static_cast<char*>(const_cast<void*>(address)));
  if (after == table().opened.begin()) return std::nullopt;
  const MemorySegment& segment = std::prev(after)->second.segment;
  if (static_cast<const char*>(address) >= segment.base + segment.bytes) return std::nullopt;
  return segment;
}

}  // namespace anygin::simt
