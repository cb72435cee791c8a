// SPDX-License-Identifier: Apache-2.0
// Device memory of the cpu target: one shared heap a process, so that peers can map it and memory has one name.
// Red zones around every allocation are poisoned under ASan and carry a canary that free() checks elsewhere.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>

#include "anygin/base/ids.h"
#include "anygin/base/memory_map.h"
#include "anygin/base/status.h"

namespace anygin {

struct Allocation {
  char* base = nullptr;
  size_t bytes = 0;  // as asked for
  int device = -1;   // the device it was allocated on
};

// Thread-safe.
class DeviceHeap {
 public:
  static constexpr size_t kAlignment = 4096;  // NCCL_WIN_REQUIRED_ALIGNMENT: any allocation can be a window

  // A heap that can grow to `capacity` bytes; nothing is touched until allocated.
  DeviceHeap(MemoryMap& map, size_t capacity);
  ~DeviceHeap();

  // Zero bytes give a unique pointer. Fails with kCudaError when full.
  Result<char*> allocate(size_t bytes, int device);
  // Fails if `pointer` is not the start of a live allocation, or a canary was overwritten (it says which side).
  Status free(void* pointer);
  // The live allocation that contains `pointer`.
  std::optional<Allocation> find(const void* pointer) const;
  size_t allocated() const;
  size_t capacity() const;

  HeapId id() const;
  // What a peer needs to map this heap: the file and its size.
  int fd() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace anygin
