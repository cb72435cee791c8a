// SPDX-License-Identifier: Apache-2.0
// How an engine reaches a NIC: post and poll, addressed by (context, peer). The one production implementation is
// verbs; tests have a scripted one.
#pragma once

#include <memory>
#include <span>

#include "anygin/backends/op.h"
#include "anygin/base/bootstrap.h"
#include "anygin/base/status.h"

namespace anygin {

struct TransportCapabilities {
  bool accepts_hints = false;  // keeps strong and weak apart; otherwise every signal is strong
  bool eager = true;           // queues exist from open() on
  uint32_t depth = 0;          // operations in flight per (context, peer)
};

struct RegionRequest {
  char* base = nullptr;
  uint64_t bytes = 0;
  bool strict_ordering = false;  // NCCL_WIN_STRICT_ORDERING: signals may live here
};

class Transport {
 public:
  static constexpr uint64_t kBytesMax = uint64_t{1} << 30;

  virtual ~Transport() = default;

  virtual TransportCapabilities capabilities() const = 0;
  // Collective. Symmetric id of the region; ranks may give different memory and sizes, a rank may give none (base
  // null).
  virtual Result<uint32_t> register_region(const RegionRequest& request) = 0;
  // Local. No operation may be using the region.
  virtual void deregister_region(uint32_t region) = 0;
  // Size that `peer` registered; what offsets are checked against. 0 for an unknown region.
  virtual uint64_t region_bytes(uint32_t region, Rank peer) const = 0;
  // Collective. Contexts [first, first+count) from now on; queues of `depth` operations per peer.
  virtual Result<uint32_t> open_contexts(uint32_t count, uint32_t depth, int traffic_class) = 0;
  // Local. Drains nothing: their completions are not reported any more. Nobody polls or posts meanwhile.
  virtual void close_contexts(uint32_t first, uint32_t count) = 0;

  // Room for one more operation to (context, peer)? Engine only.
  virtual bool has_room(uint32_t context, Rank peer) const = 0;
  // Takes the operation; has_room() was true. An error the NIC finds comes as a completion. Engine only.
  virtual void post(const Op& op) = 0;
  // Fills `out` with completions, returns how many. Engine only.
  virtual size_t poll(std::span<OpCompletion> out) = 0;
  // Could poll() return something? Any thread, cheap, no false negatives.
  virtual bool has_completions() const { return busy(); }
  // Anything posted and not completed, or completed and not polled? Any thread, cheap.
  virtual bool busy() const = 0;
  // Fails what is in flight to `peer` and all that is posted later (P31, P32). Any thread.
  virtual void fail_peer(Rank peer) = 0;
  // One line an operation in flight.
  virtual void describe_pending(std::vector<std::string>& out) const = 0;
};

}  // namespace anygin
