// SPDX-License-Identifier: Apache-2.0
// Memory that kernels and NICs share: one shared heap a process, so that peers can map it and memory has one name. On
// the cpu target that is all device memory; on the cuda target what ncclMemAlloc gives, and the library's own.
// Red zones around every allocation are poisoned under ASan and carry a canary that free() checks elsewhere.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <utility>

#include "anygin/base/ids.h"
#include "anygin/base/kernel_side.h"
#include "anygin/base/memory_map.h"
#include "anygin/base/status.h"

namespace anygin {

struct Allocation {
  char* base = nullptr;
  size_t bytes = 0;     // as asked for
  int device = -1;      // the device it was allocated on
  uint64_t serial = 0;  // the how manieth of its heap, from 1: tells it from those that had its place before
};

// Thread-safe.
class DeviceHeap {
 public:
  static constexpr size_t kAlignment = 4096;  // NCCL_WIN_REQUIRED_ALIGNMENT: any allocation can be a window
  // Where kernels must be made to reach memory, this much is opened at a time, or what one allocation needs.
  static constexpr size_t kPinnedBytes = size_t{256} << 20;

  // A heap that can grow to `capacity` bytes; nothing is touched until allocated. `side` outlives the heap.
  DeviceHeap(MemoryMap& map, size_t capacity, KernelSide& side = kernel_side());
  ~DeviceHeap();

  // Zero bytes give a unique pointer. Fails with kCudaError when full.
  Result<char*> allocate(size_t bytes, int device);
  // Fails if `pointer` is not the start of a live allocation, or a canary was overwritten (it says which side). What is
  // held is no allocation any more, but stays where it is, bytes and all, until its last hold is gone.
  Status free(void* pointer);
  // Keeps the memory of the live allocation that contains `pointer` from others, as registered memory must be; empty if
  // there is none. The heap outlives its holds.
  class Hold;
  Hold hold(const void* pointer);
  // The part of the heap, opened at once, that holds a live allocation: a peer makes its kernels reach all of it.
  struct Extent {
    uint64_t offset = 0, bytes = 0;
  };
  Extent extent_of(const void* pointer) const;
  // The live allocation that contains `pointer`.
  std::optional<Allocation> find(const void* pointer) const;
  // Bytes in use, those that only a hold keeps among them.
  size_t allocated() const;
  size_t capacity() const;

  HeapId id() const;
  // What a peer needs to map this heap: the file and its size.
  int fd() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Movable; an empty one holds nothing. Thread-safe towards the heap.
class DeviceHeap::Hold {
 public:
  Hold() = default;
  ~Hold();
  Hold(Hold&& other) noexcept : state_(std::exchange(other.state_, nullptr)), offset_(other.offset_) {}
  Hold& operator=(Hold&& other) noexcept {
    std::swap(state_, other.state_);
    std::swap(offset_, other.offset_);
    return *this;
  }

 private:
  friend class DeviceHeap;
  Hold(State* state, uint64_t offset) : state_(state), offset_(offset) {}

  State* state_ = nullptr;
  uint64_t offset_ = 0;  // where its allocation starts
};

}  // namespace anygin
