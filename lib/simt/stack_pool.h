// SPDX-License-Identifier: Apache-2.0
// Stacks for lanes: one sparse mapping, last one given back is taken first. One owner thread.
#pragma once

#include <cstddef>
#include <cstdint>

#include "anygin/simt/fiber.h"

namespace anygin::simt {

class StackPool {
 public:
  // Virtual size is free, touched pages are what costs. The odd multiple of 64 keeps the tops of many stacks out of one
  // cache set. No guard pages: two mappings a guard meet vm.max_map_count at 32,000 stacks; a canary stands at the low
  // end instead.
  static constexpr size_t kStride = 64 * 1024 + 576;

  explicit StackPool(size_t stacks);
  ~StackPool();
  StackPool(const StackPool&) = delete;
  StackPool& operator=(const StackPool&) = delete;

  // The low end of a stack; there is one: whoever admits lanes counts them against size().
  char* take();
  void give_back(char* low);
  size_t size() const { return stacks_; }

  // The low end of the stack that `sp` points into.
  char* low_of(const char* sp) const { return base_ + static_cast<size_t>(sp - base_) / kStride * kStride; }
  static char* top_of(char* low) { return low + kUsable; }
  static StackBounds bounds_of(char* low) { return {low, kUsable}; }
  // False once something ran over the low end. `mend` makes it whole again, after the report.
  static bool intact(const char* low);
  static void mend(char* low);

 private:
  static constexpr size_t kUsable = kStride - 64;  // a multiple of 16, as the call into the entry wants

  size_t stacks_;
  size_t mapped_bytes_ = 0;
  char* mapping_ = nullptr;
  char* base_ = nullptr;
  uint32_t* free_ = nullptr;  // indices given back; lives at the end of the mapping
  size_t free_count_ = 0;
  size_t fresh_ = 0;  // stacks from here on were never taken
};

}  // namespace anygin::simt
