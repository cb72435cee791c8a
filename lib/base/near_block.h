// SPDX-License-Identifier: Apache-2.0
// Memory that kernels read at every call and the host seldom writes, or that kernels alone use: beside the kernels. On
// the cpu target one place; on the cuda target the host's copy, and device memory.
#pragma once

#include <cstdint>

#include "anygin/base/status.h"

namespace anygin {

// Host threads only; one thread at a time.
class NearBlock {
 public:
  NearBlock() = default;
  // Zero-filled, on cache lines of its own.
  static Result<NearBlock> create(size_t bytes, int device);
  NearBlock(NearBlock&& other) noexcept;
  NearBlock& operator=(NearBlock&& other) noexcept;
  ~NearBlock();

  // The host writes here; kernels see it after publish(). Pointers into the block are to be kernel().
  char* host() const { return host_; }
  // Where kernels find it.
  char* kernel() const { return kernel_; }
  size_t bytes() const { return bytes_; }
  // Overwrites what kernels have written since.
  Status publish();

 private:
  char* host_ = nullptr;
  char* kernel_ = nullptr;
  size_t bytes_ = 0;
};

}  // namespace anygin
