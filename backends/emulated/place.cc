// SPDX-License-Identifier: Apache-2.0
// Host memory as a heap whose offsets are addresses, and copies across heaps.
#include "anygin/emulated/place.h"

#include <cstring>

#include "anygin/base/assert.h"
#include "anygin/base/order.h"

namespace anygin::emulated {
namespace {

char* address_of(MemName name) {
  ANYGIN_ASSERT(name.heap == kHostHeap);
  return reinterpret_cast<char*>(static_cast<uintptr_t>(name.offset));
}

class HostMemoryAgent final : public MemoryAgent {
 public:
  Ticket read(void* to, MemName from, uint64_t bytes) override {
    std::memcpy(to, address_of(from), bytes);
    return kDone;
  }
  Ticket write(MemName to, const void* from, uint64_t bytes) override {
    char* destination = address_of(to);
    const bool one_word = bytes == sizeof(uint64_t) && to.offset % sizeof(uint64_t) == 0;
    if (one_word) {
      uint64_t word;
      std::memcpy(&word, from, sizeof(word));
      store_relaxed(reinterpret_cast<uint64_t*>(destination), word);
    } else {
      std::memcpy(destination, from, bytes);
    }
    return kDone;
  }
  Ticket copy(MemName to, MemName from, uint64_t bytes) override { return write(to, address_of(from), bytes); }
  Ticket fetch_add(MemName cell, uint64_t value, uint64_t* old) override {
    const uint64_t before = __atomic_fetch_add(reinterpret_cast<uint64_t*>(address_of(cell)), value, __ATOMIC_ACQ_REL);
    if (old) *old = before;
    return kDone;
  }
  bool poll(Ticket) override { return true; }
};

}  // namespace

MemoryAgent& host_memory_agent() {
  static HostMemoryAgent& agent = *new HostMemoryAgent;
  return agent;
}

Ticket copy_between(Place to, Place from, uint64_t bytes, MemoryAgent** poll_at) {
  if (from.name.heap == kHostHeap) {
    *poll_at = to.agent;
    return to.agent->write(to.name, address_of(from.name), bytes);
  }
  *poll_at = from.agent;
  if (to.name.heap == kHostHeap) return from.agent->read(address_of(to.name), from.name, bytes);
  *poll_at = to.agent;
  return to.agent->copy(to.name, from.name, bytes);
}

}  // namespace anygin::emulated
