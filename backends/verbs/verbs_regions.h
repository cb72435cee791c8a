// SPDX-License-Identifier: Apache-2.0
// Registered memory: what this rank registered, and the addresses and keys its peers gave.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "anygin/backends/transport.h"
#include "anygin/verbs/verbs_device.h"

namespace anygin::verbs {

// What a work request needs to name memory.
struct KeyedAddress {
  uint64_t address = 0;
  uint32_t key = 0;
};

// Regions get their ids in the order of registration, which is the same on all ranks. Lookups take no lock; host
// threads add and remove meanwhile.
class RegionTable {
 public:
  RegionTable(const VerbsDevice& device, Bootstrap& bootstrap) : device_(device), bootstrap_(bootstrap) {}
  ~RegionTable();

  // Collective.
  Result<uint32_t> add(const RegionRequest& request);
  // Local. Nobody uses the region any more.
  void remove(uint32_t region);
  // 0 for an unknown region.
  uint64_t bytes(uint32_t region, Rank rank) const;
  // The range lies within what `rank` registered.
  KeyedAddress remote(const RegionRef& at, uint64_t bytes, Rank rank) const;
  KeyedAddress local(const RegionRef& at, uint64_t bytes) const;

 private:
  struct Card {
    uint64_t address = 0;
    uint64_t bytes = 0;
    uint32_t key = 0;
  };
  struct Region {
    Handle<ibv_mr> memory;    // null if this rank registered nothing
    std::vector<Card> cards;  // a rank each
  };
  static constexpr uint32_t kChunk = 1024;
  using Chunk = std::array<std::atomic<Region*>, kChunk>;

  const Region* find(uint32_t region) const;
  Result<uint32_t> insert(std::unique_ptr<Region> region);

  const VerbsDevice& device_;
  Bootstrap& bootstrap_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<Chunk>> owned_;
  std::array<std::atomic<Chunk*>, kChunk> chunks_{};
  uint32_t next_ = 0;
};

}  // namespace anygin::verbs
