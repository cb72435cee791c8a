// SPDX-License-Identifier: Apache-2.0
// The memory regions that a NIC's peers may reach, in memory that the peers map read-only in spirit: the owner
// publishes, initiators on this host look up and copy by themselves (the shortcut of docs/decisions/0003).
//
// A key is slot number (24 bits) and variant (8 bits), as on hardware; a slot's variant changes with each use, so that
// a stale key is found. Each entry has a version that is odd while the owner changes it: a reader that saw the same
// even version before and after saw a consistent entry.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "anygin/base/platform.h"

namespace anygin::emulated {

enum AccessBits : uint32_t { kAccessRemoteWrite = 1, kAccessRemoteRead = 2, kAccessRemoteAtomic = 4 };

constexpr uint32_t key_slot(uint32_t key) {
  return key >> 8;
}

// A region as its owner describes it.
struct RegionRecord {
  uint32_t key = 0;      // lkey and rkey are the same
  uint32_t access = 0;   // AccessBits
  uint64_t address = 0;  // first remote address: what requests name
  uint64_t bytes = 0;
  uint64_t heap_offset = 0;  // where it lies in the owner's shared heap
  bool in_heap = false;      // false: no peer can map it, all goes by messages
};

struct alignas(kCacheLine) MrEntry {
  std::atomic<uint32_t> version{0};
  std::atomic<uint32_t> key{0};  // 0: free
  std::atomic<uint32_t> access{0};
  std::atomic<uint32_t> in_heap{0};
  std::atomic<uint64_t> address{0};
  std::atomic<uint64_t> bytes{0};
  std::atomic<uint64_t> heap_offset{0};
};
static_assert(sizeof(MrEntry) == kCacheLine);

inline constexpr uint32_t kMrSlots = 1024;

struct MrTableMemory {
  MrEntry entries[kMrSlots];
};

// Owner's side. The owner's NIC serializes the calls.
class MrTableWriter {
 public:
  // `memory` is zero-filled and outlives this.
  explicit MrTableWriter(MrTableMemory& memory) : memory_(&memory) {}

  // Publishes a region; fills in its key. nullopt when all slots are taken.
  std::optional<uint32_t> publish(RegionRecord record);
  void withdraw(uint32_t key);

 private:
  MrTableMemory* memory_;
  uint32_t next_ = 1;                // slot 0 stays free: key 0 is nobody's
  uint8_t variants_[kMrSlots] = {};  // of the last use
};

// Looks up a key in a table that its owner may be changing. nullopt: no such region now. Any thread, any process;
// trusts nothing but that the memory is mapped.
std::optional<RegionRecord> find_region(const MrTableMemory& memory, uint32_t key);

// Does the record allow `access` to [address, address + bytes)?
bool region_allows(const RegionRecord& record, uint64_t address, uint64_t bytes, uint32_t access);

}  // namespace anygin::emulated
