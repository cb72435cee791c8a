// SPDX-License-Identifier: Apache-2.0
#include "anygin/verbs/verbs_transport.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "anygin/base/world.h"

namespace anygin::verbs {

Result<std::unique_ptr<Transport>> VerbsTransport::open(std::shared_ptr<Nic> nic, Bootstrap& bootstrap, Hints hints) {
  Result<std::unique_ptr<VerbsDevice>> device = VerbsDevice::open(nic->table(), nic->device());
  std::unique_ptr<VerbsTransport> transport;
  Status opened = device.ok() ? Status() : device.status();
  if (device.ok() && hints == Hints::kNever) (*device)->use_no_hints();
  if (device.ok()) {
    transport.reset(new VerbsTransport(std::move(nic), std::move(*device), bootstrap));
    opened = transport->make_sink();
  }
  ANYGIN_TRY(agree(bootstrap, "opening the NIC", opened));
  return std::unique_ptr<Transport>(std::move(transport));
}

VerbsTransport::VerbsTransport(std::shared_ptr<Nic> nic, std::unique_ptr<VerbsDevice> device, Bootstrap& bootstrap)
    : nic_(std::move(nic)),
      device_(std::move(device)),
      bootstrap_(bootstrap),
      regions_(*device_, bootstrap),
      reserved_(kContextsMax, false) {}

VerbsTransport::~VerbsTransport() {
  owned_.clear();
  sink_memory_.reset();
  if (sink_ != nullptr) {
    const Status freed = world().heap.free(sink_);
    ANYGIN_ASSERT(freed.ok());
  }
}

Status VerbsTransport::make_sink() {
  Result<char*> memory = world().heap.allocate(sizeof(uint64_t), -1);
  if (!memory.ok()) return memory.status();
  sink_ = *memory;
  sink_memory_ = device_->register_memory(sink_, sizeof(uint64_t), IBV_ACCESS_LOCAL_WRITE);
  if (sink_memory_) return Status();
  return Status(Cause::kNicRefused, "memory registration",
                fmt::format("8 bytes for the old values of signals: {}", std::strerror(errno)));
}

TransportCapabilities VerbsTransport::capabilities() const {
  TransportCapabilities capabilities;
  capabilities.accepts_hints = device_->accepts_hints();
  capabilities.eager = true;
  const int requests = device_->attributes().max_qp_wr;
  capabilities.depth = std::bit_floor(static_cast<uint32_t>(std::max(0, requests)) / QueueSet::kRequestsPerOp);
  return capabilities;
}

Result<uint32_t> VerbsTransport::open_contexts(uint32_t count, uint32_t depth, int traffic_class) {
  ANYGIN_ASSERT(count > 0 && std::has_single_bit(depth) && depth <= capabilities().depth);
  const Result<uint32_t> first = reserve(count);
  ANYGIN_TRY(agree(bootstrap_, "contexts", first.status()));
  Result<std::unique_ptr<QueueSet>> set = QueueSet::open(*device_, bootstrap_, {*first, count, depth, traffic_class});
  if (!set.ok()) {
    release(*first, count);
    return set.status();
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  for (uint32_t context = *first; context < *first + count; ++context) {
    sets_[context].store(set->get(), std::memory_order_release);
  }
  contexts_end_.store(std::max(contexts_end_.load(), *first + count), std::memory_order_release);
  owned_.push_back(std::move(*set));
  return *first;
}

void VerbsTransport::close_contexts(uint32_t first, uint32_t count) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (uint32_t context = first; context < first + count; ++context) sets_[context].store(nullptr);
    const auto found = std::find_if(owned_.begin(), owned_.end(), [&](const auto& set) {
      return set->shape().first == first && set->shape().contexts == count;
    });
    ANYGIN_ASSERT(found != owned_.end());
    in_flight_.fetch_sub((*found)->in_flight());
    owned_.erase(found);
  }
  release(first, count);
}

Result<uint32_t> VerbsTransport::reserve(uint32_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = std::search_n(reserved_.begin(), reserved_.end(), count, false);
  if (found == reserved_.end()) {
    return Status(Cause::kBackendLimit, "contexts",
                  fmt::format("{} more in a row asked for, there are {} in all", count, kContextsMax));
  }
  std::fill_n(found, count, true);
  return static_cast<uint32_t>(found - reserved_.begin());
}

void VerbsTransport::release(uint32_t first, uint32_t count) {
  const std::lock_guard<std::mutex> lock(mutex_);
  std::fill_n(reserved_.begin() + first, count, false);
}

QueueSet& VerbsTransport::set_of(uint32_t context) const {
  QueueSet* set = context < kContextsMax ? sets_[context].load(std::memory_order_acquire) : nullptr;
  ANYGIN_ASSERT(set != nullptr);
  return *set;
}

template <typename Visit>
void VerbsTransport::for_each_set(const Visit& visit) const {
  const uint32_t end = contexts_end_.load(std::memory_order_acquire);
  for (uint32_t context = 0; context < end;) {
    QueueSet* set = sets_[context].load(std::memory_order_acquire);
    if (set == nullptr) {
      ++context;
    } else {
      visit(*set);
      context += set->shape().contexts;
    }
  }
}

void VerbsTransport::post(const Op& op) {
  WorkPlaces places;
  if (op.bytes > 0) {
    if (op.kind != OpKind::kPutInline) places.local = regions_.local(op.local, op.bytes);
    places.remote = regions_.remote(op.remote, op.bytes, op.peer);
  }
  if (op.signal.present) {
    places.cell = regions_.remote(op.signal.cell, sizeof(uint64_t), op.peer);
    places.sink = {reinterpret_cast<uint64_t>(sink_), sink_memory_->lkey};
  }
  in_flight_.fetch_add(1);
  set_of(op.context).post(op, places);
}

size_t VerbsTransport::poll(std::span<OpCompletion> out) {
  size_t found = 0;
  for_each_set([&](QueueSet& set) {
    if (found < out.size() && set.in_flight() > 0) found += set.poll(out.data() + found, out.size() - found);
  });
  in_flight_.fetch_sub(static_cast<uint32_t>(found));
  return found;
}

bool VerbsTransport::has_completions() const {
  if (in_flight_.load() == 0) return false;
  bool found = false;
  for_each_set([&](QueueSet& set) { found = found || set.has_completions(); });
  return found;
}

bool VerbsTransport::busy() const {
  return in_flight_.load() > 0 || nic_->busy();
}

void VerbsTransport::fail_peer(Rank peer) {
  nic_->fail_peer(peer);
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& set : owned_) set->fail_peer(peer);
}

void VerbsTransport::describe_pending(std::vector<std::string>& out) const {
  for_each_set([&](QueueSet& set) { set.describe_pending(out); });
}

}  // namespace anygin::verbs
