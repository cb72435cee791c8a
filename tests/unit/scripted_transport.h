// SPDX-License-Identifier: Apache-2.0
// A Transport that does what the test says: operations pile up until the test completes or fails them.
#pragma once

#include <deque>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "anygin/backends/transport.h"

namespace anygin::testing {

// Thread-safe, as far as a Transport is.
class ScriptedTransport final : public Transport {
 public:
  explicit ScriptedTransport(int ranks) : ranks_(ranks) {}

  // --- The script
  // ------------------------------------------------------------------------------------------------------
  bool auto_complete = false;  // what is posted is complete
  bool hints = true;
  uint32_t room = 1u << 20;  // operations in flight per (context, peer)
  uint32_t depth_limit = 1u << 16;
  std::vector<Op> posted;  // all ever
  std::set<Rank> failed_peers;
  std::set<uint32_t> open;                            // contexts
  std::map<uint32_t, std::vector<uint64_t>> regions;  // bytes by rank

  void add_region(uint32_t id, uint64_t bytes) { regions[id].assign(static_cast<size_t>(ranks_), bytes); }
  // The oldest operation in flight, of all or of one queue, is locally complete, or failed with `what`.
  void complete(size_t count = 1) {
    for (size_t i = 0; i < count; ++i) finish(flying_.begin(), Cause::kNone, "");
  }
  void complete_queue(uint32_t context, Rank peer) { finish(oldest_of(context, peer), Cause::kNone, ""); }
  void fail_queue(uint32_t context, Rank peer, const char* what) {
    finish(oldest_of(context, peer), Cause::kNicOperation, what);
  }
  size_t flying() const { return flying_.size(); }

  // --- Transport
  // -------------------------------------------------------------------------------------------------------
  TransportCapabilities capabilities() const override { return {hints, true, depth_limit}; }
  Result<uint32_t> register_region(const RegionRequest& request) override {
    const uint32_t id = next_region_++;
    add_region(id, request.bytes);
    return id;
  }
  void deregister_region(uint32_t region) override { regions.erase(region); }
  uint64_t region_bytes(uint32_t region, Rank peer) const override {
    const auto found = regions.find(region);
    return found == regions.end() ? 0 : found->second[static_cast<size_t>(peer)];
  }
  Result<uint32_t> open_contexts(uint32_t count, uint32_t, int) override {
    const uint32_t first = next_context_;
    for (uint32_t i = 0; i < count; ++i) open.insert(next_context_++);
    return first;
  }
  void close_contexts(uint32_t first, uint32_t count) override {
    for (uint32_t i = 0; i < count; ++i) open.erase(first + i);
  }
  bool has_room(uint32_t context, Rank peer) const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    const auto found = in_flight_.find({context, peer});
    return found == in_flight_.end() || found->second < room;
  }
  void post(const Op& op) override {
    ANYGIN_ASSERT(has_room(op.context, op.peer));
    const std::lock_guard<std::mutex> lock(mutex_);
    posted.push_back(op);
    ++in_flight_[{op.context, op.peer}];
    flying_.push_back(op);
    if (auto_complete) finish(flying_.begin(), Cause::kNone, "");
  }
  size_t poll(std::span<OpCompletion> out) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    size_t count = 0;
    for (; count < out.size() && !completions_.empty(); ++count) {
      out[count] = completions_.front();
      completions_.pop_front();
    }
    return count;
  }
  bool has_completions() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return !completions_.empty();
  }
  bool busy() const override {
    const std::lock_guard<std::mutex> lock(mutex_);
    return !completions_.empty() || !flying_.empty();
  }
  void fail_peer(Rank peer) override { failed_peers.insert(peer); }
  void describe_pending(std::vector<std::string>& out) const override {
    for (const Op& op : flying_) out.push_back("scripted: " + std::to_string(op.bytes) + " bytes");
  }

 private:
  using Flying = std::deque<Op>;

  Flying::iterator oldest_of(uint32_t context, Rank peer) {
    auto found = flying_.begin();
    while (found != flying_.end() && (found->context != context || found->peer != peer)) ++found;
    return found;
  }
  void finish(Flying::iterator op, Cause error, const char* what) {
    ANYGIN_ASSERT(op != flying_.end());
    completions_.push_back({op->cookie, op->context, op->peer, error, what});
    --in_flight_[{op->context, op->peer}];
    flying_.erase(op);
  }

  const int ranks_;
  uint32_t next_region_ = 100;
  uint32_t next_context_ = 0;
  mutable std::mutex mutex_;
  std::map<std::pair<uint32_t, Rank>, uint32_t> in_flight_;
  Flying flying_;
  std::deque<OpCompletion> completions_;
};

}  // namespace anygin::testing
