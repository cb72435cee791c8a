// SPDX-License-Identifier: Apache-2.0
// Flow and engines touch payload and cells only through an agent, chosen by the heap of the name (docs/decisions/0003).
// The first agent works at once in mapped memory; others (GPU movers, phantom payload) may complete later.
#pragma once

#include <cstdint>
#include <memory>

#include "anygin/base/ids.h"

namespace anygin {

// A transfer under way. Zero: already complete.
using Ticket = uint64_t;
inline constexpr Ticket kDone = 0;

class MemoryAgent {
 public:
  virtual ~MemoryAgent() = default;

  // Names and lengths were checked by the caller; ranges lie inside their heaps.
  virtual Ticket read(void* to, MemName from, uint64_t bytes) = 0;  // heap -> staging
  virtual Ticket write(MemName to, const void* from,
                       uint64_t bytes) = 0;  // staging -> heap; aligned 8-byte words are not torn
  virtual Ticket copy(MemName to, MemName from, uint64_t bytes) = 0;  // heap -> heap
  // Adds `value` to the aligned 64-bit cell, with release; `*old` (may be null) gets the previous value.
  virtual Ticket fetch_add(MemName cell, uint64_t value, uint64_t* old) = 0;
  // True once the transfer is complete.
  virtual bool poll(Ticket ticket) = 0;
};

// The agent for memory mapped into this process: works at once, poll() is always true.
MemoryAgent& mapped_memory_agent();

}  // namespace anygin
