// SPDX-License-Identifier: Apache-2.0
// Publishing and reading region records under a version (a sequence lock with one writer).
#include "anygin/emulated/fabric/mr_table.h"

#include "anygin/base/assert.h"
#include "anygin/base/mutant.h"

namespace anygin::emulated {
namespace {

constexpr int kVariantBits = 8;

static_assert(key_slot(1u << kVariantBits) == 1);

constexpr uint32_t key_of(uint32_t slot, uint8_t variant) {
  return slot << kVariantBits | variant;
}

bool same_slot_will_do(uint32_t wanted, uint32_t found) {
  return MUTANT(stale_mr_version) && key_slot(wanted) == key_slot(found);
}

// Stores `record` so that no reader takes half of it for whole.
void store_record(MrEntry& entry, const RegionRecord& record) {
  const uint32_t version = entry.version.load(std::memory_order_relaxed);
  entry.version.store(version + 1, std::memory_order_relaxed);
  // Each store is a release: none becomes visible before the odd version.
  entry.key.store(record.key, std::memory_order_release);
  entry.access.store(record.access, std::memory_order_release);
  entry.in_heap.store(record.in_heap ? 1 : 0, std::memory_order_release);
  entry.address.store(record.address, std::memory_order_release);
  entry.bytes.store(record.bytes, std::memory_order_release);
  entry.heap_offset.store(record.heap_offset, std::memory_order_release);
  entry.version.store(version + 2, std::memory_order_release);
}

}  // namespace

std::optional<uint32_t> MrTableWriter::publish(RegionRecord record) {
  for (uint32_t tried = 1; tried < kMrSlots; ++tried) {
    const uint32_t slot = next_;
    next_ = next_ + 1 == kMrSlots ? 1 : next_ + 1;
    MrEntry& entry = memory_->entries[slot];
    if (entry.key.load(std::memory_order_relaxed) != 0) continue;
    record.key = key_of(slot, ++variants_[slot]);
    store_record(entry, record);
    return record.key;
  }
  return std::nullopt;
}

void MrTableWriter::withdraw(uint32_t key) {
  ANYGIN_ASSERT(key_slot(key) < kMrSlots);
  MrEntry& entry = memory_->entries[key_slot(key)];
  ANYGIN_ASSERT(entry.key.load(std::memory_order_relaxed) == key);
  store_record(entry, RegionRecord{});
}

std::optional<RegionRecord> find_region(const MrTableMemory& memory, uint32_t key) {
  if (key_slot(key) == 0 || key_slot(key) >= kMrSlots) return std::nullopt;
  const MrEntry& entry = memory.entries[key_slot(key)];
  constexpr int kTries = 64;  // the owner writes six words; a peer that died while writing leaves it odd for ever
  for (int i = 0; i < kTries; ++i) {
    const uint32_t before = entry.version.load(std::memory_order_acquire);
    RegionRecord record;
    record.key = entry.key.load(std::memory_order_acquire);
    record.access = entry.access.load(std::memory_order_acquire);
    record.in_heap = entry.in_heap.load(std::memory_order_acquire) != 0;
    record.address = entry.address.load(std::memory_order_acquire);
    record.bytes = entry.bytes.load(std::memory_order_acquire);
    record.heap_offset = entry.heap_offset.load(std::memory_order_acquire);
    if (before % 2 != 0 || entry.version.load(std::memory_order_relaxed) != before) continue;
    if (record.key == 0) return std::nullopt;
    if (record.key != key && !same_slot_will_do(key, record.key)) return std::nullopt;
    return record;
  }
  return std::nullopt;
}

bool region_allows(const RegionRecord& record, uint64_t address, uint64_t bytes, uint32_t access) {
  if ((record.access & access) != access) return false;
  if (MUTANT(bounds_check_off)) return true;
  if (address < record.address) return false;
  const uint64_t offset = address - record.address;
  return offset <= record.bytes && bytes <= record.bytes - offset;
}

}  // namespace anygin::emulated
