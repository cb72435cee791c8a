// SPDX-License-Identifier: Apache-2.0
#include "anygin/proxy/window_table.h"

namespace anygin::proxy {

void WindowTable::set(WindowId id, const WindowEntry& entry) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint32_t page = id.value / kPage;
  if (!owned_[page]) {
    owned_[page] = std::make_unique<Page>();
    pages_[page].store(owned_[page].get(), std::memory_order_release);
  }
  const uint64_t packed = uint64_t{entry.region} * 4 + (entry.strict_ordering ? 2 : 0) + 1;
  (*owned_[page])[id.value % kPage].store(packed, std::memory_order_release);
}

void WindowTable::clear(WindowId id) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint32_t page = id.value / kPage;
  if (owned_[page]) (*owned_[page])[id.value % kPage].store(0, std::memory_order_release);
}

std::optional<WindowEntry> WindowTable::find(WindowId id) const {
  const Page* page = pages_[id.value / kPage].load(std::memory_order_acquire);
  const uint64_t packed = page ? (*page)[id.value % kPage].load(std::memory_order_acquire) : 0;
  if (packed == 0) return std::nullopt;
  return WindowEntry{static_cast<uint32_t>(packed / 4), (packed & 2) != 0};
}

}  // namespace anygin::proxy
