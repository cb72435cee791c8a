// SPDX-License-Identifier: Apache-2.0
// Regions: registering, local checks, and what a remote key reaches.
#include "anygin/base/assert.h"
#include "anygin/emulated/hca.h"

namespace anygin::emulated {
namespace {

constexpr uint32_t kWord = sizeof(uint64_t);

}  // namespace

MemoryRegion* Hca::register_memory(char* address, uint64_t bytes, uint32_t access) {
  std::lock_guard lock(mutex_);
  const std::optional<MemName> name = world_.memory.name_of(address);
  const bool in_known_heap = name && bytes <= world_.memory.bytes(name->heap) - name->offset;
  RegionRecord record;
  record.access = access & (kAccessRemoteWrite | kAccessRemoteRead | kAccessRemoteAtomic);
  record.address = reinterpret_cast<uintptr_t>(address);
  record.bytes = bytes;
  record.in_heap = in_known_heap && name->heap == world_.heap.id();
  record.heap_offset = record.in_heap ? name->offset : 0;
  const std::optional<uint32_t> key = published_.publish(record);
  if (!key) return nullptr;
  auto region = std::make_unique<MemoryRegion>();
  region->key = *key;
  region->address = address;
  region->bytes = bytes;
  region->access = access;
  region->place = in_known_heap ? Place{&world_.memory.agent(name->heap), *name}
                                : Place{&host_memory_agent(), MemName{kHostHeap, record.address}};
  regions_[key_slot(*key)] = std::move(region);
  return regions_[key_slot(*key)].get();
}

void Hca::deregister_memory(MemoryRegion* region) {
  std::lock_guard lock(mutex_);
  const std::vector<uint32_t> waiting(active_.begin(), active_.end());
  for (const uint32_t number : waiting) {
    land(*pairs_.at(number));
    settle(*pairs_.at(number));
  }
  published_.withdraw(region->key);
  regions_[key_slot(region->key)].reset();
}

// What has come and waits for its turn becomes visible now: some of it was reported as accepted, and has to land
// before its memory or its queue pair is gone.
void Hca::land(QueuePair& pair) {
  while (pair.incoming_->runnable(kNever)) {
    pair.incoming_->run_one(world_.choices, kNever);
    changed();
  }
}

const MemoryRegion* Hca::find_local(uint32_t key) const {
  const size_t slot = key_slot(key);
  const MemoryRegion* region = slot < kMrSlots ? regions_[slot].get() : nullptr;
  return region && region->key == key ? region : nullptr;
}

bool Hca::local_allows(const MemoryRegion* region, const PostRequest& request) const {
  if (!region) return false;
  if (request.kind != WorkKind::kWrite && (region->access & kAccessLocalWrite) == 0) return false;
  const auto from = reinterpret_cast<uintptr_t>(request.local);
  const auto base = reinterpret_cast<uintptr_t>(region->address);
  return from >= base && from - base <= region->bytes && request.bytes <= region->bytes - (from - base);
}

// May the initiator do this by itself?
FlowReach::Answer QueuePair::reach(const Work& work, Place* remote, WorkStatus* why) {
  if (hca_.dead_[static_cast<size_t>(peer_)]) {
    *why = WorkStatus::kPeerGone;
    return Answer::kRefused;
  }
  const MappedPeer* mapped = hca_.options_.shortcut ? hca_.port_->mapped(peer_) : nullptr;
  if (!mapped) return Answer::kByMessage;
  if (work.bytes == 0) return Answer::kMapped;
  const std::optional<RegionRecord> record = find_region(*mapped->regions, work.rkey);
  if (!record || !region_allows(*record, work.remote_address, work.bytes, access_needed(work.kind))) {
    *why = WorkStatus::kRemoteAccess;
    return Answer::kRefused;
  }
  if (work.kind == WorkKind::kFetchAdd && work.remote_address % kWord != 0) {
    *why = WorkStatus::kRemoteInvalid;
    return Answer::kRefused;
  }
  if (!record->in_heap) return Answer::kByMessage;
  const uint64_t offset = record->heap_offset + (work.remote_address - record->address);
  if (offset > mapped->heap_bytes || work.bytes > mapped->heap_bytes - offset) {  // the peer published nonsense
    *why = WorkStatus::kRemoteAccess;
    return Answer::kRefused;
  }
  *remote = Place{&hca_.world_.memory.agent(mapped->heap), MemName{mapped->heap, offset}};
  return Answer::kMapped;
}

WireStatus QueuePair::resolve(uint32_t rkey, uint64_t address, uint64_t bytes, uint32_t access, Place* place) {
  const std::optional<RegionRecord> record = find_region(hca_.port_->regions(), rkey);
  if (!record || !region_allows(*record, address, bytes, access)) return WireStatus::kRemoteAccess;
  const MemoryRegion* region = hca_.find_local(record->key);
  ANYGIN_ASSERT(region != nullptr);
  *place = region->place + (address - record->address);
  return WireStatus::kOk;
}

void QueuePair::on_source_read(FlowSeq operation, Place source, uint64_t bytes) {
  hca_.world_.charge(Step::kSourceRead, bytes);
  hca_.trace(TraceKind::kSourceRead, *this, operation, source, bytes, 0);
}

void QueuePair::on_visible(FlowSeq operation, Place destination, uint64_t bytes) {
  hca_.stored_ = true;
  hca_.world_.charge(Step::kDeliver, bytes);
  hca_.trace(TraceKind::kVisible, *this, operation, destination, bytes, 0);
}

void QueuePair::on_signal(FlowSeq operation, Place cell, uint64_t value) {
  hca_.stored_ = true;
  hca_.world_.charge(Step::kDeliver, kWord);
  hca_.trace(TraceKind::kSignal, *this, operation, cell, kWord, value);
}

}  // namespace anygin::emulated
