// SPDX-License-Identifier: Apache-2.0
#include "anygin/base/memory_map.h"

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "anygin/base/assert.h"

namespace anygin {
namespace {

struct Entry {
  char* base;
  uint64_t bytes;
  MemoryAgent* agent;
};

constexpr size_t kHeapsMax = 4096;  // at a time; id 0 names no heap

}  // namespace

// Readers load one pointer. Entries never change; removed ones are kept until the map dies, because a reader may be
// looking at them.
struct MemoryMap::Table {
  std::array<std::atomic<const Entry*>, kHeapsMax> entries{};
  std::atomic<size_t> used{1};  // ids at or above were never given out

  std::mutex mutex;
  size_t last_given = 0;
  std::vector<std::unique_ptr<const Entry>> all;

  const Entry& entry(HeapId heap) const {
    ANYGIN_ASSERT(heap.value > 0 && heap.value < kHeapsMax);
    const Entry* found = entries[heap.value].load(std::memory_order_acquire);
    ANYGIN_ASSERT(found != nullptr);
    return *found;
  }

  // Ids come back into use as late as possible, so that a stale name is found out.
  size_t free_id() const {
    for (size_t i = 0; i < kHeapsMax - 1; ++i) {
      const size_t id = 1 + (last_given + i) % (kHeapsMax - 1);
      if (!entries[id].load(std::memory_order_relaxed)) return id;
    }
    return 0;
  }
};

MemoryMap::MemoryMap() : table_(std::make_unique<Table>()) {}
MemoryMap::~MemoryMap() = default;

HeapId MemoryMap::add(char* base, uint64_t bytes, MemoryAgent& agent) {
  ANYGIN_ASSERT(base != nullptr && bytes > 0);
  std::lock_guard lock(table_->mutex);
  for (size_t id = 1; id < table_->used.load(); ++id) {
    const Entry* other = table_->entries[id].load();
    ANYGIN_ASSERT(!other || base + bytes <= other->base || other->base + other->bytes <= base);
  }
  const size_t id = table_->free_id();
  ANYGIN_ASSERT(id != 0);
  table_->all.push_back(std::make_unique<const Entry>(Entry{base, bytes, &agent}));
  table_->last_given = id;
  table_->entries[id].store(table_->all.back().get(), std::memory_order_release);
  if (id >= table_->used.load()) table_->used.store(id + 1, std::memory_order_release);
  return HeapId(static_cast<uint32_t>(id));
}

void MemoryMap::remove(HeapId heap) {
  std::lock_guard lock(table_->mutex);
  table_->entry(heap);
  table_->entries[heap.value].store(nullptr, std::memory_order_release);
}

char* MemoryMap::address(MemName name) const {
  const Entry& entry = table_->entry(name.heap);
  ANYGIN_ASSERT(name.offset <= entry.bytes);
  return entry.base + name.offset;
}

MemoryAgent& MemoryMap::agent(HeapId heap) const {
  return *table_->entry(heap).agent;
}

uint64_t MemoryMap::bytes(HeapId heap) const {
  return table_->entry(heap).bytes;
}

std::optional<MemName> MemoryMap::name_of(const void* address) const {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const size_t used = table_->used.load(std::memory_order_acquire);
  for (size_t id = 1; id < used; ++id) {
    const Entry* entry = table_->entries[id].load(std::memory_order_acquire);
    if (!entry) continue;
    const uintptr_t base = reinterpret_cast<uintptr_t>(entry->base);
    if (at >= base && at - base < entry->bytes) return MemName{HeapId(static_cast<uint32_t>(id)), at - base};
  }
  return std::nullopt;
}

}  // namespace anygin
