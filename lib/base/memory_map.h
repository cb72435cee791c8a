// SPDX-License-Identifier: Apache-2.0
// The heaps this process knows and where they are mapped: turns a name into an address and back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "anygin/base/ids.h"
#include "anygin/base/memory_agent.h"
#include "anygin/base/status.h"

namespace anygin {

// A shared, sparse mapping backed by a memfd: pages cost nothing until touched. Owns mapping and file descriptor.
class SharedMapping {
 public:
  SharedMapping() = default;
  // A new zero-filled file of `bytes`, private to this user, mapped read-write. `name` shows in /proc/<pid>/maps.
  static Result<SharedMapping> create(const char* name, size_t bytes);
  // Maps a file received from a peer; takes ownership of `fd`. Checks that the file has at least `bytes`.
  static Result<SharedMapping> adopt(int fd, size_t bytes);
  SharedMapping(SharedMapping&& other) noexcept;
  SharedMapping& operator=(SharedMapping&& other) noexcept;
  ~SharedMapping();

  char* base() const { return base_; }
  size_t bytes() const { return bytes_; }
  int fd() const { return fd_; }

 private:
  char* base_ = nullptr;
  size_t bytes_ = 0;
  int fd_ = -1;
};

// The World owns one. Lock on change only; registered ranges do not overlap.
class MemoryMap {
 public:
  // Makes [base, base+bytes) a heap; `agent` moves its bytes (not owned). Any thread.
  HeapId add(char* base, uint64_t bytes, MemoryAgent& agent = mapped_memory_agent());
  void remove(HeapId heap);

  // Address of a name that must exist and be mapped. Any thread, no lock.
  char* address(MemName name) const;
  MemoryAgent& agent(HeapId heap) const;
  // The name of an address, if it lies in a known heap. Any thread.
  std::optional<MemName> name_of(const void* address) const;
  uint64_t bytes(HeapId heap) const;

  MemoryMap();
  ~MemoryMap();
  MemoryMap(const MemoryMap&) = delete;
  MemoryMap& operator=(const MemoryMap&) = delete;

 private:
  struct Table;
  std::unique_ptr<Table> table_;
};

}  // namespace anygin
