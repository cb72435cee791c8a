// SPDX-License-Identifier: Apache-2.0
// The memory of one device communicator's contexts: views, rings, words, counters, bases. The owner; kernels have
// ContextViews of it. On the heap that kernels reach; where that is sparse, a ring costs nothing until it is used.
#pragma once

#include <cstdint>
#include <vector>

#include "anygin/base/near_block.h"
#include "anygin/base/status.h"
#include "anygin/proxy/proxy_engine.h"

namespace anygin::proxy {

struct ContextShape {
  uint32_t contexts = 0;
  uint32_t peers = 0;  // ranks of the communicator, oneself included
  uint32_t signals = 0;
  uint32_t counters = 0;
  uint32_t depth_log2 = 0;
};

class ContextMemory {
 public:
  // Fails with kCudaError when the heap is full. Indices start at kFirstIndex, all else is zero. What is written to
  // a view afterwards reaches kernels with publish(), before they run.
  static Result<std::unique_ptr<ContextMemory>> create(const ContextShape& shape);
  ~ContextMemory();
  ContextMemory(const ContextMemory&) = delete;
  ContextMemory& operator=(const ContextMemory&) = delete;

  ContextView& view(uint32_t context) const {
    return *reinterpret_cast<ContextView*>(views_.host() + context * context_bytes(shape_.peers));
  }
  Status publish() { return views_.publish(); }
  // The views, each with its claims behind it, as kernels get them.
  void* kernel_views() const { return views_.kernel(); }
  const ContextShape& shape() const { return shape_; }
  uint64_t* counters(uint32_t context) const;
  size_t bytes() const { return layout_.bytes; }

 private:
  // Offsets of the arrays within the mapping.
  struct Layout {
    explicit Layout(const ContextShape& shape);
    uint64_t peers = 0, dirty = 0, counters = 0, rings = 0, bytes = 0;  // shared with the engine
    uint64_t counter_bases = 0, signal_bases = 0, kernel_bytes = 0;     // the kernels' own
  };

  ContextMemory(const ContextShape& shape, const Layout& layout, char* base, NearBlock views, NearBlock own);
  template <typename T>
  static T* array_at(char* base, uint64_t offset, uint64_t context, uint64_t each) {
    return reinterpret_cast<T*>(base + offset) + context * each;
  }
  template <typename T>
  T* array_of(uint64_t offset, uint64_t context, uint64_t each) const {
    return array_at<T>(base_, offset, context, each);
  }

  const ContextShape shape_;
  const Layout layout_;
  char* const base_;
  NearBlock views_;
  NearBlock own_;  // the kernels' bases
};

}  // namespace anygin::proxy
