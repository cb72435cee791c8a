// SPDX-License-Identifier: Apache-2.0
// Stacks for lanes, of one size: one sparse mapping, last one given back is taken first. One owner thread.
//
// Virtual size is free, touched pages and system calls are what costs. The first stacks, which are used most, have a
// guard below them, whose touch is a fault, made when the stack is taken for the first time. The others stand close
// together, each with a canary at its low end that has to stay zero; it shares a page with the stack below it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "anygin/simt/fiber.h"

namespace anygin::simt {

class StackPool {
 public:
  // Sizes are powers of two.
  static constexpr size_t kBytesLeast = 64 * 1024;
  static constexpr size_t kBytesMost = 4 * 1024 * 1024;
  // The size that holds `bytes`, which are at most kBytesMost.
  static size_t size_for(size_t bytes);

  // Stacks that may have guards: a whole block of the largest size.
  static constexpr size_t kGuardedMost = 1024;
  static constexpr size_t kGuardBytes = 12 * 1024;
  // By page tables; by protection, which takes two mappings a guard: few have one then, for vm.max_map_count's sake.
  enum class Guards : uint8_t { kInstalled, kProtected, kNone };

  // `guards`: kInstalled falls back to kProtected where the kernel cannot.
  StackPool(size_t stacks, size_t bytes, Guards guards = Guards::kInstalled);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  // False if there was no address space for it: then nothing else may be asked of it.
  bool mapped() const { return mapping_ != nullptr; }
  // The low end of a stack; there is one: whoever admits lanes counts them against size().
  char* take();
  void give_back(char* low);
  size_t size() const { return stacks_; }
  size_t bytes() const { return bytes_; }

  // The low end of the stack that `sp` points into.
  char* low_of(const char* sp) const;
  // At least bytes() above the canary. The tops of many stacks lie in different cache sets.
  char* top_of(char* low) const {
    if (low >= close_) [[likely]]
      return low + bytes_ + kColourStep - kLine;
    return low + bytes_ + kSpread - reinterpret_cast<uintptr_t>(low) / kPage * kColourStep % kSpread;
  }
  StackBounds bounds_of(char* low) const { return {low, static_cast<size_t>(top_of(low) - low)}; }
  // For reports; any address, any thread.
  bool contains(const void* address) const;
  bool in_guard(const void* address) const;

  // False once something ran over the low end; true where a guard is in the way. `mend` makes it whole again, after
  // the report.
  bool intact(const char* low) const { return low < guarded_end_ || canary_intact(low); }
  static void mend(char* low);

 private:
  static constexpr size_t kPage = 4096;
  static constexpr size_t kLine = 64;
  // Tops are spread over as many bytes, an odd number of lines apart: over all sets of a cache.
  static constexpr size_t kSpread = 64 * 1024;
  static constexpr size_t kColourStep = 9 * kLine;

  static bool canary_intact(const char* low);
  void guard(char* low, size_t index);

  const size_t stacks_;
  const size_t bytes_;
  const size_t wide_;  // from stack to stack where there are guards: an odd number of pages
  const size_t near_;  // and behind them
  Guards guards_;
  size_t mapped_bytes_ = 0;
  char* mapping_ = nullptr;
  char* close_ = nullptr;        // the first stack that stands close to others; those before are wide apart
  char* guarded_end_ = nullptr;  // all stacks before have guards
  char** free_ = nullptr;        // given back; lives at the end of the mapping
  size_t free_count_ = 0;
  size_t fresh_ = 0;  // stacks from here on were never taken
};

// A worker's stacks, by size. One owner thread.
class LaneStacks {
 public:
  explicit LaneStacks(size_t stacks, StackPool::Guards guards = StackPool::Guards::kInstalled);
  // Of each size.
  size_t count() const { return stacks_; }
  // Makes stacks of size_for(bytes) available. False if there is no address space for them.
  bool prepare(size_t bytes);
  // Prepared.
  StackPool& of(size_t bytes) { return *pools_[index_of(bytes)]; }

 private:
  static constexpr size_t kSizes = 7;  // kBytesLeast ... kBytesMost
  static size_t index_of(size_t bytes);

  const size_t stacks_;
  const StackPool::Guards guards_;
  std::unique_ptr<StackPool> pools_[kSizes];
};

// What helps when stacks of `bytes` were not enough. Allocates nothing: also for signal handlers.
struct StackRemedy {
  explicit StackRemedy(size_t bytes);
  char text[128];
};

}  // namespace anygin::simt
