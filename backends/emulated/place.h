// SPDX-License-Identifier: Apache-2.0
// Where bytes are, for the NIC: a name and the agent that moves them. Registered memory outside every heap (host
// buffers of other people's programs) has names too: heap kHostHeap, whose offset is the address.
#pragma once

#include "anygin/base/ids.h"
#include "anygin/base/memory_agent.h"

namespace anygin::emulated {

inline constexpr HeapId kHostHeap{0xffffffff};

struct Place {
  MemoryAgent* agent = nullptr;
  MemName name{};
};

inline Place operator+(Place place, uint64_t bytes) {
  return {place.agent, place.name + bytes};
}

// The agent of kHostHeap: works at once. Any thread.
MemoryAgent& host_memory_agent();

// Copies between any two places; 0 if done, else what to poll at `*poll_at`. Aligned 8-byte words are not torn.
Ticket copy_between(Place to, Place from, uint64_t bytes, MemoryAgent** poll_at);

}  // namespace anygin::emulated
