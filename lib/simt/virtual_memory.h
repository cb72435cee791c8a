// SPDX-License-Identifier: Apache-2.0
// Memory by the driver API's rules: address ranges are reserved, memory is created apart from them, mapped, exported.
// A reservation is a range of world().heap, and memory that is mapped for the first time simply has its place there: so
// windows over mapped memory are windows over the heap, whatever pieces it has. Memory that is mapped twice, or that
// another process may have, lies elsewhere and is mapped a second time ("away from home"). Host threads; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace anygin::simt {

// Who owns a piece of memory: a device, or the host.
struct MemoryOwner {
  bool host = false;
  bool numa = false;  // of a NUMA node of the host
  int id = 0;
};

// What is mapped from `base` on.
struct MemorySegment {
  char* base = nullptr;
  size_t bytes = 0;
  MemoryOwner owner;
  bool at_home = false;  // peers that map the heap see it in its place
};

using MemoryHandle = uint64_t;  // CUmemGenericAllocationHandle

class VirtualMemory {
 public:
  // Sizes and addresses are multiples of it.
  static constexpr size_t kGranularity = size_t{2} << 20;

  // All return a CUresult.
  int reserve(size_t bytes, size_t alignment, char** base);
  int unreserve(char* base, size_t bytes);
  int create(size_t bytes, const MemoryOwner& owner, bool exportable, MemoryHandle* handle);
  // The memory lives on while it is mapped.
  int release(MemoryHandle handle);
  int map(char* base, size_t bytes, MemoryHandle handle);
  int unmap(char* base, size_t bytes);
  // Nobody may touch what is mapped before.
  int set_access(char* base, size_t bytes, bool readable, bool writable);
  // 0 none, 1 read, 3 read and write.
  int access(const char* base, unsigned* rights) const;
  // One more reference to what is mapped at `address`.
  int retain(const char* address, MemoryHandle* handle);
  int owner_of(MemoryHandle handle, MemoryOwner* owner, bool* exportable) const;
  // A file descriptor that import_from() of this user's processes takes while this process lives.
  int export_to(MemoryHandle handle, int* fd);
  int import_from(int fd, MemoryHandle* handle);

  // What is mapped in [base, base + bytes), in order of address; nothing if a part of it is not.
  std::vector<MemorySegment> segments(const void* base, size_t bytes) const;
  // The mapping that `address` lies in.
  std::optional<MemorySegment> find(const void* address) const;
  // True if `address` lies in a reservation, mapped or not.
  bool reserved(const void* address) const;

  VirtualMemory();

 private:
  struct State;
  State* const state_;  // never destroyed
};

VirtualMemory& virtual_memory();

// --- Memory of other processes of this host, by handle ---------------------------------------------------------------
struct IpcHandle {
  uint64_t magic;
  int32_t process, file;
  uint64_t offset, bytes;
  int32_t device;
  int32_t reserved[7];
};
static_assert(sizeof(IpcHandle) == 64);
// cudaError_t values. Only the start of an allocation has a handle; opening is for other processes than the owner.
int make_ipc_handle(void* allocation, IpcHandle* handle);
int open_ipc_handle(const IpcHandle& handle, char** base);
int close_ipc_handle(void* base);
// The opened memory that `address` lies in.
std::optional<MemorySegment> find_ipc_memory(const void* address);

}  // namespace anygin::simt
