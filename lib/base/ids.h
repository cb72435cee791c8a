// SPDX-License-Identifier: Apache-2.0
// Numbers that must not be mixed up have types of their own. All are plain values: any thread, host and device.
#pragma once

#include "anygin/base/platform.h"

namespace anygin {

template <typename Tag, typename Rep>
struct Id {
  Rep value{};

  constexpr Id() = default;
  ANYGIN_HOST_DEVICE constexpr explicit Id(Rep v) : value(v) {}
  friend ANYGIN_HOST_DEVICE constexpr bool operator==(Id a, Id b) { return a.value == b.value; }
  friend ANYGIN_HOST_DEVICE constexpr bool operator!=(Id a, Id b) { return a.value != b.value; }
  friend ANYGIN_HOST_DEVICE constexpr bool operator<(Id a, Id b) { return a.value < b.value; }
};

using Rank = int;                                 // a communicator (world) rank, as NCCL counts them
using EngineId = Id<struct EngineTag, uint32_t>;  // unique in a World
using HeapId = Id<struct HeapTag, uint32_t>;      // a heap this process knows, its own or a mapped one
using WindowId = Id<struct WindowTag, uint16_t>;  // symmetric: the same window has the same id on all ranks

inline constexpr WindowId kNoWindow{0};

// Memory has one name, wherever and however often it is mapped (docs/decisions/0004).
struct MemName {
  HeapId heap;
  uint64_t offset = 0;  // bytes from the heap's start

  friend ANYGIN_HOST_DEVICE constexpr bool operator==(MemName a, MemName b) {
    return a.heap == b.heap && a.offset == b.offset;
  }
};

constexpr MemName operator+(MemName name, uint64_t bytes) {
  return {name.heap, name.offset + bytes};
}

}  // namespace anygin
