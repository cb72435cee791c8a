// SPDX-License-Identifier: Apache-2.0
#include "anygin/verbs/verbs_regions.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>

namespace anygin::verbs {
namespace {

constexpr const char* kWhere = "memory registration";

// Windows whose puts nobody orders may be written in any order; where signals live the bus keeps the order.
int access_of(const RegionRequest& request) {
  const int access =
      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  return request.strict_ordering ? access : access | IBV_ACCESS_RELAXED_ORDERING;
}

}  // namespace

RegionTable::~RegionTable() {
  for (uint32_t region = 0; region < next_; ++region) {
    if (find(region) != nullptr) remove(region);
  }
}

Result<uint32_t> RegionTable::add(const RegionRequest& request) {
  auto region = std::make_unique<Region>();
  Status registered;
  Card mine;
  if (request.base != nullptr && request.bytes > 0) {
    region->memory = device_.register_memory(request.base, request.bytes, access_of(request));
    if (region->memory) {
      mine = {reinterpret_cast<uint64_t>(request.base), request.bytes, region->memory->rkey};
    } else {
      registered = Status(Cause::kNicRefused, kWhere,
                          fmt::format("{} bytes at {}: {}", request.bytes, static_cast<const void*>(request.base),
                                      std::strerror(errno)));
    }
  }
  ANYGIN_TRY(agree(bootstrap_, kWhere, registered));
  Result<std::vector<Card>> cards = all_gather_value(bootstrap_, "memory keys", mine);
  if (!cards.ok()) return cards.status();
  region->cards = std::move(*cards);
  return insert(std::move(region));
}

Result<uint32_t> RegionTable::insert(std::unique_ptr<Region> region) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (next_ == kChunk * kChunk) {
    return Status(Cause::kBackendLimit, kWhere, fmt::format("{} regions were registered, no more names", next_));
  }
  if (next_ % kChunk == 0) {
    owned_.push_back(std::make_unique<Chunk>());
    chunks_[next_ / kChunk].store(owned_.back().get(), std::memory_order_release);
  }
  (*owned_.back())[next_ % kChunk].store(region.release(), std::memory_order_release);
  return next_++;
}

void RegionTable::remove(uint32_t region) {
  const std::lock_guard<std::mutex> lock(mutex_);
  ANYGIN_ASSERT(region < next_);
  const std::unique_ptr<Region> removed((*owned_[region / kChunk])[region % kChunk].exchange(nullptr));
  ANYGIN_ASSERT(removed != nullptr);
}

const RegionTable::Region* RegionTable::find(uint32_t region) const {
  if (region >= kChunk * kChunk) return nullptr;
  const Chunk* chunk = chunks_[region / kChunk].load(std::memory_order_acquire);
  return chunk == nullptr ? nullptr : (*chunk)[region % kChunk].load(std::memory_order_acquire);
}

uint64_t RegionTable::bytes(uint32_t region, Rank rank) const {
  const Region* found = find(region);
  return found == nullptr ? 0 : found->cards[static_cast<size_t>(rank)].bytes;
}

KeyedAddress RegionTable::remote(const RegionRef& at, uint64_t bytes, Rank rank) const {
  const Region* region = find(at.region);
  ANYGIN_ASSERT(region != nullptr);
  const Card& card = region->cards[static_cast<size_t>(rank)];
  ANYGIN_ASSERT(at.offset <= card.bytes && bytes <= card.bytes - at.offset);
  return {card.address + at.offset, card.key};
}

KeyedAddress RegionTable::local(const RegionRef& at, uint64_t bytes) const {
  KeyedAddress place = remote(at, bytes, bootstrap_.rank());
  place.key = find(at.region)->memory->lkey;
  return place;
}

}  // namespace anygin::verbs
