// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/virtual_memory.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <mutex>

#include "anygin/base/assert.h"
#include "anygin/base/mutant.h"
#include "anygin/base/world.h"

namespace anygin::simt {
namespace {

// CUresult values.
constexpr int kOk = 0, kInvalidValue = 1, kOutOfMemory = 2, kInvalidHandle = 400, kNotPermitted = 800;
// Owner of reservations and stores in the heap: neither a device's nor pinned memory by themselves.
constexpr int kReservationOwner = -3;
constexpr uint64_t kExportMagic = 0x31564d4e4759;

struct Reservation {
  char* allocation;  // of the heap
  size_t bytes;
};

// Where the bytes of created memory are: a file and an offset.
struct Store {
  int file = -1;
  uint64_t offset = 0;
  char* allocation = nullptr;  // of the heap, if it is one of its own
  bool foreign = false;        // of another process; `file` is ours to close
  bool placed() const { return file >= 0; }
};

struct Memory {
  size_t bytes = 0;
  MemoryOwner owner;
  bool exportable = false;
  bool exported = false;
  int references = 0;
  int mappings = 0;
  Store store;
};

struct Mapping {
  size_t bytes;
  MemoryHandle handle;
  bool at_home;
  unsigned rights = 0;
};

// What an exported descriptor holds.
struct Export {
  uint64_t magic;
  int32_t process, file;
  uint64_t offset, bytes;
  MemoryOwner owner;
};

bool whole(size_t bytes) {
  return bytes > 0 && bytes % VirtualMemory::kGranularity == 0;
}

uint64_t heap_offset(const char* address) {
  const std::optional<MemName> name = world().memory.name_of(address);
  ANYGIN_ASSERT(name && name->heap == world().heap.id());
  return name->offset;
}

bool copy_bytes(const Store& from, const Store& to, size_t bytes) {
  std::vector<char> piece(std::min<size_t>(bytes, size_t{1} << 20));
  for (size_t at = 0; at < bytes; at += piece.size()) {
    const auto length = static_cast<ssize_t>(piece.size());
    if (pread(from.file, piece.data(), piece.size(), static_cast<off_t>(from.offset + at)) != length) return false;
    if (pwrite(to.file, piece.data(), piece.size(), static_cast<off_t>(to.offset + at)) != length) return false;
  }
  return true;
}

void clear_bytes(const Store& store, size_t bytes) {
  fallocate(store.file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(store.offset),
            static_cast<off_t>(bytes));
}

}  // namespace

struct VirtualMemory::State {
  mutable std::mutex mutex;
  std::map<char*, Reservation> reservations;
  std::map<char*, Mapping> mappings;
  std::map<MemoryHandle, Memory> memories;
  MemoryHandle last_handle = 0;

  Memory* memory(MemoryHandle handle) {
    const auto found = memories.find(handle);
    return found == memories.end() ? nullptr : &found->second;
  }
  const std::pair<char* const, Mapping>* mapping_at(const void* address) const {
    auto after = mappings.upper_bound(static_cast<char*>(const_cast<void*>(address)));
    if (after == mappings.begin()) return nullptr;
    const auto& found = *std::prev(after);
    return static_cast<const char*>(address) < found.first + found.second.bytes ? &found : nullptr;
  }
  bool inside_reservation(char* base, size_t bytes) const {
    auto after = reservations.upper_bound(base);
    if (after == reservations.begin()) return false;
    const auto& [start, one] = *std::prev(after);
    return base + bytes <= start + one.bytes;
  }
  bool free_of_mappings(char* base, size_t bytes) const {
    auto next = mappings.lower_bound(base);
    if (next != mappings.end() && next->first < base + bytes) return false;
    return next == mappings.begin() || std::prev(next)->first + std::prev(next)->second.bytes <= base;
  }

  int give_store(Memory& memory);
  void drop_store(Memory& memory);
  int evict(char* base, size_t bytes);
  void forget_unused(MemoryHandle handle);
};

// A place of its own for what has none.
int VirtualMemory::State::give_store(Memory& memory) {
  Result<char*> allocation =
      world().heap.allocate(memory.bytes, memory.owner.host ? kReservationOwner : memory.owner.id);
  if (!allocation.ok()) return kOutOfMemory;
  Store fresh{world().heap.fd(), heap_offset(*allocation), *allocation, false};
  if (memory.store.placed() && !copy_bytes(memory.store, fresh, memory.bytes)) return kOutOfMemory;
  drop_store(memory);
  memory.store = fresh;
  return kOk;
}

void VirtualMemory::State::drop_store(Memory& memory) {
  if (memory.store.allocation != nullptr) (void)world().heap.free(memory.store.allocation);
  if (memory.store.foreign) close(memory.store.file);
  memory.store = Store{};
}

// Memory that has its place in [base, base + bytes) and is mapped nowhere moves out.
int VirtualMemory::State::evict(char* base, size_t bytes) {
  const uint64_t from = heap_offset(base);
  for (auto& [handle, memory] : memories) {
    const Store& store = memory.store;
    if (!store.placed() || store.foreign || store.allocation != nullptr) continue;
    if (store.offset + memory.bytes <= from || store.offset >= from + bytes) continue;
    if (const int error = give_store(memory)) return error;
  }
  return kOk;
}

void VirtualMemory::State::forget_unused(MemoryHandle handle) {
  Memory* memory = this->memory(handle);
  if (memory->references > 0 || memory->mappings > 0) return;
  drop_store(*memory);
  memories.erase(handle);
}

VirtualMemory::VirtualMemory() : state_(new State) {}

VirtualMemory& virtual_memory() {
  static VirtualMemory& one = *new VirtualMemory;
  return one;
}

// --- Ranges of addresses ---

int VirtualMemory::reserve(size_t bytes, size_t alignment, char** base) {
  if (!whole(bytes) || (alignment & (alignment - 1)) != 0) return kInvalidValue;
  alignment = std::max(alignment, kGranularity);
  const std::lock_guard lock(state_->mutex);
  Result<char*> allocation = world().heap.allocate(bytes + alignment, kReservationOwner);
  if (!allocation.ok()) return kOutOfMemory;
  const auto address = (reinterpret_cast<uintptr_t>(*allocation) + alignment - 1) / alignment * alignment;
  *base = reinterpret_cast<char*>(address);
  mprotect(*base, bytes, PROT_NONE);
  state_->reservations[*base] = {*allocation, bytes};
  return kOk;
}

int VirtualMemory::unreserve(char* base, size_t bytes) {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->reservations.find(base);
  if (found == state_->reservations.end() || found->second.bytes != bytes) return kInvalidValue;
  if (!state_->free_of_mappings(base, bytes)) return kInvalidValue;
  if (const int error = state_->evict(base, bytes)) return error;
  mprotect(base, bytes, PROT_READ | PROT_WRITE);
  (void)world().heap.free(found->second.allocation);
  state_->reservations.erase(found);
  return kOk;
}

// --- Memory ---

int VirtualMemory::create(size_t bytes, const MemoryOwner& owner, bool exportable, MemoryHandle* handle) {
  if (!whole(bytes)) return kInvalidValue;
  if (bytes > world().heap.capacity()) return kOutOfMemory;
  const std::lock_guard lock(state_->mutex);
  Memory memory;
  memory.bytes = bytes;
  memory.owner = owner;
  memory.exportable = exportable;
  memory.references = 1;
  *handle = ++state_->last_handle;
  state_->memories[*handle] = memory;
  return kOk;
}

int VirtualMemory::release(MemoryHandle handle) {
  const std::lock_guard lock(state_->mutex);
  Memory* memory = state_->memory(handle);
  if (memory == nullptr || memory->references == 0) return kInvalidValue;
  --memory->references;
  state_->forget_unused(handle);
  return kOk;
}

int VirtualMemory::owner_of(MemoryHandle handle, MemoryOwner* owner, bool* exportable) const {
  const std::lock_guard lock(state_->mutex);
  const Memory* memory = state_->memory(handle);
  if (memory == nullptr) return kInvalidValue;
  *owner = memory->owner;
  *exportable = memory->exportable;
  return kOk;
}

int VirtualMemory::map(char* base, size_t bytes, MemoryHandle handle) {
  const std::lock_guard lock(state_->mutex);
  Memory* memory = state_->memory(handle);
  if (memory == nullptr || memory->bytes != bytes || !whole(reinterpret_cast<uintptr_t>(base))) return kInvalidValue;
  if (!state_->inside_reservation(base, bytes) || !state_->free_of_mappings(base, bytes)) return kInvalidValue;
  const Store here{world().heap.fd(), heap_offset(base), nullptr, false};
  const bool stays = memory->mappings > 0 || memory->exported || memory->store.foreign;
  const bool back = memory->store.file == here.file && memory->store.offset == here.offset;
  if (!back) {
    if (const int error = state_->evict(base, bytes)) return error;
  }
  if (!stays && !back) {  // it moves in
    clear_bytes(here, bytes);
    if (memory->store.placed() && !MUTANT(moved_memory_is_empty) && !copy_bytes(memory->store, here, bytes)) {
      return kOutOfMemory;
    }
    state_->drop_store(*memory);
    memory->store = here;
  }
  const bool at_home = !stays || back;
  if (!at_home && mmap(base, bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, memory->store.file,
                       static_cast<off_t>(memory->store.offset)) == MAP_FAILED) {
    return kOutOfMemory;
  }
  ++memory->mappings;
  state_->mappings[base] = {bytes, handle, at_home, 0};
  return kOk;
}

int VirtualMemory::unmap(char* base, size_t bytes) {
  const std::lock_guard lock(state_->mutex);
  char* at = base;
  while (at < base + bytes) {  // only whole mappings
    const auto found = state_->mappings.find(at);
    if (found == state_->mappings.end()) return kInvalidValue;
    at += found->second.bytes;
  }
  if (at != base + bytes) return kInvalidValue;
  for (at = base; at < base + bytes;) {
    const auto found = state_->mappings.find(at);
    const Mapping mapping = found->second;
    // What the heap has there, out of reach.
    mmap(at, mapping.bytes, PROT_NONE, MAP_SHARED | MAP_FIXED, world().heap.fd(), static_cast<off_t>(heap_offset(at)));
    state_->mappings.erase(found);
    --state_->memory(mapping.handle)->mappings;
    state_->forget_unused(mapping.handle);
    at += mapping.bytes;
  }
  return kOk;
}

int VirtualMemory::set_access(char* base, size_t bytes, bool readable, bool writable) {
  const std::lock_guard lock(state_->mutex);
  char* at = base;
  while (at < base + bytes) {
    const auto found = state_->mappings.find(at);
    if (found == state_->mappings.end()) return kInvalidValue;
    at += found->second.bytes;
  }
  if (at != base + bytes) return kInvalidValue;
  const unsigned rights = writable ? 3 : readable ? 1 : 0;
  mprotect(base, bytes, writable ? PROT_READ | PROT_WRITE : readable ? PROT_READ : PROT_NONE);
  for (at = base; at < base + bytes; at += state_->mappings[at].bytes) state_->mappings[at].rights = rights;
  return kOk;
}

int VirtualMemory::access(const char* base, unsigned* rights) const {
  const std::lock_guard lock(state_->mutex);
  const auto* found = state_->mapping_at(base);
  if (found == nullptr) return kInvalidValue;
  *rights = found->second.rights;
  return kOk;
}

int VirtualMemory::retain(const char* address, MemoryHandle* handle) {
  const std::lock_guard lock(state_->mutex);
  const auto* found = state_->mapping_at(address);
  if (found == nullptr) return kInvalidValue;
  *handle = found->second.handle;
  ++state_->memory(*handle)->references;
  return kOk;
}

// --- Between processes ---

int VirtualMemory::export_to(MemoryHandle handle, int* fd) {
  const std::lock_guard lock(state_->mutex);
  Memory* memory = state_->memory(handle);
  if (memory == nullptr) return kInvalidValue;
  if (!memory->exportable) return kNotPermitted;
  if (memory->store.foreign) return kInvalidHandle;
  if (!memory->store.placed()) {
    if (const int error = state_->give_store(*memory)) return error;
  }
  memory->exported = true;
  Export out{kExportMagic, getpid(), memory->store.file, memory->store.offset, memory->bytes, memory->owner};
  const int file = memfd_create("anygin-exported-memory", MFD_CLOEXEC);
  if (file < 0 || pwrite(file, &out, sizeof out, 0) != static_cast<ssize_t>(sizeof out)) {
    if (file >= 0) close(file);
    return kOutOfMemory;
  }
  *fd = file;
  return kOk;
}

int VirtualMemory::import_from(int fd, MemoryHandle* handle) {
  Export in{};
  if (pread(fd, &in, sizeof in, 0) != static_cast<ssize_t>(sizeof in) || in.magic != kExportMagic)
    return kInvalidHandle;
  const int file = open(fmt::format("/proc/{}/fd/{}", in.process, in.file).c_str(), O_RDWR | O_CLOEXEC);
  struct stat there {};
  if (file < 0 || fstat(file, &there) != 0 || !whole(in.bytes) ||
      static_cast<uint64_t>(there.st_size) < in.offset + in.bytes) {
    if (file >= 0) close(file);
    return kInvalidHandle;
  }
  const std::lock_guard lock(state_->mutex);
  Memory memory;
  memory.bytes = in.bytes;
  memory.owner = in.owner;
  memory.references = 1;
  memory.store = {file, in.offset, nullptr, true};
  *handle = ++state_->last_handle;
  state_->memories[*handle] = memory;
  return kOk;
}

// --- Questions ---

std::optional<MemorySegment> VirtualMemory::find(const void* address) const {
  const std::lock_guard lock(state_->mutex);
  const auto* found = state_->mapping_at(address);
  if (found == nullptr) return std::nullopt;
  const Mapping& mapping = found->second;
  return MemorySegment{found->first, mapping.bytes, state_->memory(mapping.handle)->owner, mapping.at_home};
}

std::vector<MemorySegment> VirtualMemory::segments(const void* base, size_t bytes) const {
  std::vector<MemorySegment> all;
  const char* at = static_cast<const char*>(base);
  const char* const end = at + bytes;
  while (at < end) {
    const auto one = find(at);
    if (!one) return {};
    all.push_back(*one);
    at = one->base + one->bytes;
  }
  return all;
}

bool VirtualMemory::reserved(const void* address) const {
  const std::lock_guard lock(state_->mutex);
  return state_->inside_reservation(static_cast<char*>(const_cast<void*>(address)), 1);
}

}  // namespace anygin::simt
