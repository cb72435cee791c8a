// SPDX-License-Identifier: Apache-2.0
// Which region of the transport a window is. Host threads register and deregister while the engine looks up.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>

#include "anygin/base/ids.h"

namespace anygin::proxy {

struct WindowEntry {
  uint32_t region = 0;
  bool strict_ordering = false;  // signals may live here
};

// Lookups take no lock. Entries are added and cleared by host threads.
class WindowTable {
 public:
  void set(WindowId id, const WindowEntry& entry);
  void clear(WindowId id);
  std::optional<WindowEntry> find(WindowId id) const;

 private:
  static constexpr uint32_t kPage = 256;
  // 0: none; else region * 4 + strict * 2 + 1.
  using Page = std::array<std::atomic<uint64_t>, kPage>;

  std::mutex mutex_;
  std::array<std::unique_ptr<Page>, kPage> owned_;
  std::array<std::atomic<Page*>, kPage> pages_{};
};

}  // namespace anygin::proxy
