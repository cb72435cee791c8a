// SPDX-License-Identifier: Apache-2.0
// Shared memory of a block: the dynamic part first, then the static declarations in the order they are met. The area
// belongs to the pooled block and is used again as it is: nothing is cleared, as on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace anygin::simt {

class SharedMemory {
 public:
  static constexpr size_t kStaticMax = 48 * 1024;
  static constexpr size_t kDynamicMax = 227 * 1024;

  SharedMemory() = default;
  ~SharedMemory();
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  void begin(size_t dynamic_bytes);
  void* dynamic();
  size_t dynamic_bytes() const { return dynamic_bytes_; }
  // The object declared by `key`, the same for every lane of the block. Null if it does not fit any more.
  void* static_object(const void* key, size_t bytes, size_t alignment);

 private:
  struct Declared {
    const void* key;
    void* object;
  };

  char* area();

  char* area_ = nullptr;  // reserved on first use; pages cost when touched
  size_t dynamic_bytes_ = 0;
  size_t used_ = 0;
  size_t static_used_ = 0;
  std::vector<Declared> declared_;
};

}  // namespace anygin::simt
