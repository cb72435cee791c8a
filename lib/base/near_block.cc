// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/near_block.h"

#include <utility>

#include "anygin/base/kernel_side.h"
#include "anygin/base/world.h"

namespace anygin {

Result<NearBlock> NearBlock::create(size_t bytes, int device) {
  NearBlock block;
  Result<char*> host = world().heap.allocate(bytes, device);
  if (!host.ok()) return host.status();
  block.host_ = block.kernel_ = *host;
  block.bytes_ = bytes;
  if (kernel_side().calls_us()) return block;
  block.kernel_ = nullptr;
  Result<char*> kernel = kernel_side().allocate_near(bytes);
  if (!kernel.ok()) return kernel.status();
  block.kernel_ = *kernel;
  return block;
}

NearBlock::NearBlock(NearBlock&& other) noexcept
    : host_(std::exchange(other.host_, nullptr)),
      kernel_(std::exchange(other.kernel_, nullptr)),
      bytes_(std::exchange(other.bytes_, 0)) {}

NearBlock& NearBlock::operator=(NearBlock&& other) noexcept {
  std::swap(host_, other.host_);
  std::swap(kernel_, other.kernel_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

NearBlock::~NearBlock() {
  if (kernel_ != nullptr && kernel_ != host_) kernel_side().free_near(kernel_);
  if (host_ == nullptr) return;
  const Status freed = world().heap.free(host_);
  ANYGIN_ASSERT(freed.ok());
}

Status NearBlock::publish() {
  return kernel_ == host_ ? Status() : kernel_side().write_near(kernel_, host_, bytes_);
}

}  // namespace anygin
