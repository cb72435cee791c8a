// SPDX-License-Identifier: Apache-2.0
// The canary is a line of zeros, as the kernel delivers it: looking at it maps the shared zero page and costs no
// memory.
#include "anygin/simt/stack_pool.h"

#include <sys/mman.h>

#include <cstring>

#include "anygin/base/assert.h"

namespace anygin::simt {

namespace {

constexpr size_t kCanaryWords = 8;
// An overrun of the first stack lands here, as that of any other lands in its neighbour.
constexpr size_t kSlopBytes = 128 * 1024;

size_t round_to_page(size_t bytes) {
  return (bytes + 4095) & ~size_t{4095};
}

}  // namespace

StackPool::StackPool(size_t stacks) : stacks_(stacks) {
  const size_t stack_bytes = round_to_page(stacks * kStride);
  mapped_bytes_ = kSlopBytes + stack_bytes + round_to_page(stacks * sizeof(uint32_t));
  void* mapping =
      mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ANYGIN_ASSERT(mapping != MAP_FAILED);
  madvise(mapping, mapped_bytes_, MADV_NOHUGEPAGE);  // a huge page a stack would cost four times the memory
  mapping_ = static_cast<char*>(mapping);
  base_ = mapping_ + kSlopBytes;
  free_ = reinterpret_cast<uint32_t*>(base_ + stack_bytes);
}

StackPool::~StackPool() {
  munmap(mapping_, mapped_bytes_);
}

char* StackPool::take() {
  size_t index;
  if (free_count_ > 0) {
    index = free_[--free_count_];
    if (free_count_ > 0) __builtin_prefetch(base_ + free_[free_count_ - 1] * kStride + kUsable - 64, 1);
  } else {
    ANYGIN_ASSERT(fresh_ < stacks_);
    index = fresh_++;
  }
  char* low = base_ + index * kStride;
#if defined(ANYGIN_SANITIZE_ADDRESS)
  __asan_unpoison_memory_region(low, kStride);  // a runner that ended by switching away left its frames poisoned
#endif
  return low;
}

void StackPool::give_back(char* low) {
  free_[free_count_++] = static_cast<uint32_t>(static_cast<size_t>(low - base_) / kStride);
}

bool StackPool::intact(const char* low) {
  const uint64_t* words = reinterpret_cast<const uint64_t*>(low);
  uint64_t seen = 0;
  for (size_t i = 0; i < kCanaryWords; ++i) seen |= words[i];
  return seen == 0;
}

void StackPool::mend(char* low) {
  std::memset(low, 0, kCanaryWords * sizeof(uint64_t));
}

}  // namespace anygin::simt
