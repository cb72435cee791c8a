// SPDX-License-Identifier: Apache-2.0
// The canary is a line of zeros, as the kernel delivers it: looking at it maps the shared zero page and costs no
// memory.
#include "anygin/simt/stack_pool.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "anygin/base/assert.h"
#include "anygin/base/mutant.h"

namespace anygin::simt {

namespace {

constexpr size_t kCanaryWords = 8;
// Linux 6.13: guards in page tables, which are no mappings of their own. Headers of older systems do not name it.
constexpr int kMadvGuardInstall = 102;
constexpr size_t kProtectedMost = 256;

size_t round_up(size_t bytes, size_t step) {
  return (bytes + step - 1) / step * step;
}

}  // namespace

size_t StackPool::size_for(size_t bytes) {
  ANYGIN_ASSERT(bytes <= kBytesMost);
  return std::max(kBytesLeast, std::bit_ceil(bytes));
}

StackPool::StackPool(size_t stacks, size_t bytes, Guards guards)
    : stacks_(stacks),
      bytes_(bytes),
      wide_(kGuardBytes + bytes + kSpread),
      near_(bytes + kColourStep),
      guards_(guards) {
  ANYGIN_ASSERT(bytes == size_for(bytes));
  const size_t wide = std::min(stacks, kGuardedMost);
  // The first of the close ones runs over into room that nobody uses.
  const size_t stack_bytes = wide * wide_ + kGuardBytes + round_up((stacks - wide) * near_, kPage);
  mapped_bytes_ = stack_bytes + round_up(stacks * sizeof(char*), kPage);
  void* mapping =
      mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED) return;
  madvise(mapping, mapped_bytes_, MADV_NOHUGEPAGE);  // a huge page a stack would cost four times the memory
  mapping_ = static_cast<char*>(mapping);
  guarded_end_ = mapping_;
  close_ = mapping_ + wide * wide_ + kGuardBytes;
  free_ = reinterpret_cast<char**>(mapping_ + stack_bytes);
}

StackPool::~StackPool() {
  if (mapping_) munmap(mapping_, mapped_bytes_);
}

char* StackPool::take() {
  char* low;
  if (free_count_ > 0) {
    low = free_[--free_count_];
    if (free_count_ > 0) __builtin_prefetch(top_of(free_[free_count_ - 1]) - kLine, 1);
  } else {
    ANYGIN_ASSERT(fresh_ < stacks_);
    const size_t index = fresh_++;
    low = index < kGuardedMost ? mapping_ + index * wide_ + kGuardBytes : close_ + (index - kGuardedMost) * near_;
    if (index < kGuardedMost) guard(low, index);
  }
#if defined(ANYGIN_SANITIZE_ADDRESS)
  __asan_unpoison_memory_region(
      low, bounds_of(low).bytes);  // a runner that ended by switching away left its frames poisoned
#endif
  return low;
}

// A stack without one works as well: failures are nobody's error.
void StackPool::guard(char* low, size_t index) {
  if (MUTANT(simt_stack_unguarded)) return;
  char* const at = low - kGuardBytes;
  if (guards_ == Guards::kInstalled && madvise(at, kGuardBytes, kMadvGuardInstall) != 0) guards_ = Guards::kProtected;
  if (guards_ == Guards::kProtected && (index >= kProtectedMost || mprotect(at, kGuardBytes, PROT_NONE) != 0)) {
    guards_ = Guards::kNone;
  }
  if (guards_ != Guards::kNone) guarded_end_ = low + bytes_;
}

void StackPool::give_back(char* low) {
  free_[free_count_++] = low;
}

char* StackPool::low_of(const char* sp) const {
  if (sp >= close_) return close_ + static_cast<size_t>(sp - close_) / near_ * near_;
  return mapping_ + static_cast<size_t>(sp - mapping_) / wide_ * wide_ + kGuardBytes;
}

bool StackPool::contains(const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  return at >= reinterpret_cast<uintptr_t>(mapping_) && at < reinterpret_cast<uintptr_t>(free_);
}

bool StackPool::in_guard(const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address), first = reinterpret_cast<uintptr_t>(mapping_);
  return contains(address) && at < reinterpret_cast<uintptr_t>(close_) - kGuardBytes &&
         (at - first) % wide_ < kGuardBytes;
}

bool StackPool::canary_intact(const char* low) {
  const uint64_t* words = reinterpret_cast<const uint64_t*>(low);
  uint64_t seen = 0;
  for (size_t i = 0; i < kCanaryWords; ++i) seen |= words[i];
  return seen == 0;
}

void StackPool::mend(char* low) {
  std::memset(low, 0, kCanaryWords * sizeof(uint64_t));
}

LaneStacks::LaneStacks(size_t stacks, StackPool::Guards guards) : stacks_(stacks), guards_(guards) {
  const bool mapped = prepare(StackPool::kBytesLeast);
  ANYGIN_ASSERT(mapped);
}

size_t LaneStacks::index_of(size_t bytes) {
  return static_cast<size_t>(std::countr_zero(StackPool::size_for(bytes) / StackPool::kBytesLeast));
}

bool LaneStacks::prepare(size_t bytes) {
  std::unique_ptr<StackPool>& pool = pools_[index_of(bytes)];
  if (!pool) pool = std::make_unique<StackPool>(stacks_, StackPool::size_for(bytes), guards_);
  if (!pool->mapped()) pool = nullptr;
  return pool != nullptr;
}

StackRemedy::StackRemedy(size_t bytes) {
  const size_t room = sizeof text - 1;
  const auto end =
      bytes >= StackPool::kBytesMost
          ? fmt::format_to_n(text, room, "there are no larger ones: let the kernel keep less on its stack")
          : fmt::format_to_n(text, room,
                             "cudaDeviceSetLimit(cudaLimitStackSize, {}) gives threads of later launches more",
                             2 * bytes);
  *end.out = '\0';
}

}  // namespace anygin::simt
