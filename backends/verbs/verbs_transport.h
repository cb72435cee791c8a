// SPDX-License-Identifier: Apache-2.0
// The Transport over a table of verbs functions: a real NIC through rdma-core, or the software HCA in this process.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "anygin/backends/transport.h"
#include "anygin/base/options.h"
#include "anygin/verbs/verbs_device.h"
#include "anygin/verbs/verbs_queues.h"
#include "anygin/verbs/verbs_regions.h"

namespace anygin::verbs {

// Where the table comes from, and what verbs has no function for.
class Nic {
 public:
  virtual ~Nic() = default;
  virtual const VerbsTable& table() const = 0;
  // The device to open; null: the first usable one. Lives as long as this.
  virtual ibv_device* device() { return nullptr; }
  // The peer is dead: nothing to it succeeds any more. Any thread, idempotent.
  virtual void fail_peer(Rank peer) { (void)peer; }
  // Accepted from peers and not yet visible? Any thread, cheap.
  virtual bool busy() const { return false; }
};

// The NIC that ANYGIN_NIC names. Collective. Several transports may go through one. `bootstrap` outlives all of them.
Result<std::shared_ptr<Nic>> open_nic(Bootstrap& bootstrap, const Options& options);
// A transport over a NIC of its own. Collective.
Result<std::unique_ptr<Transport>> open_transport(Bootstrap& bootstrap, const Options& options);

// kNever: operations of a (context, peer) become visible in post order whatever the NIC could do.
enum class Hints : uint8_t { kWhereAccepted, kNever };

class VerbsTransport final : public Transport {
 public:
  // Collective.
  static Result<std::unique_ptr<Transport>> open(std::shared_ptr<Nic> nic, Bootstrap& bootstrap,
                                                 Hints hints = Hints::kWhereAccepted);
  ~VerbsTransport() override;

  TransportCapabilities capabilities() const override;
  Result<uint32_t> register_region(const RegionRequest& request) override { return regions_.add(request); }
  void deregister_region(uint32_t region) override { regions_.remove(region); }
  uint64_t region_bytes(uint32_t region, Rank peer) const override { return regions_.bytes(region, peer); }
  // `depth` is a power of two, at most capabilities().depth.
  Result<uint32_t> open_contexts(uint32_t count, uint32_t depth, int traffic_class) override;
  void close_contexts(uint32_t first, uint32_t count) override;

  bool has_room(uint32_t context, Rank peer) const override { return set_of(context).has_room(context, peer); }
  void post(const Op& op) override;
  size_t poll(std::span<OpCompletion> out) override;
  bool has_completions() const override;
  bool busy() const override;
  void fail_peer(Rank peer) override;
  void describe_pending(std::vector<std::string>& out) const override;

 private:
  static constexpr uint32_t kContextsMax = 4096;

  VerbsTransport(std::shared_ptr<Nic> nic, std::unique_ptr<VerbsDevice> device, Bootstrap& bootstrap);
  Status make_sink();
  QueueSet& set_of(uint32_t context) const;
  Result<uint32_t> reserve(uint32_t count);
  void release(uint32_t first, uint32_t count);
  // Calls `visit(set)` for each open set, in the order of their first contexts.
  template <typename Visit>
  void for_each_set(const Visit& visit) const;

  // Destroyed last to first: everything registered goes before the device, the device before the NIC.
  std::shared_ptr<Nic> nic_;
  std::unique_ptr<VerbsDevice> device_;
  Bootstrap& bootstrap_;
  RegionTable regions_;
  char* sink_ = nullptr;  // 8 bytes that nobody reads: old values of signal cells
  Handle<ibv_mr> sink_memory_;
  std::atomic<uint32_t> in_flight_{0};

  // Host threads write while nobody polls the contexts concerned; all read. Index: context.
  std::array<std::atomic<QueueSet*>, kContextsMax> sets_{};
  std::atomic<uint32_t> contexts_end_{0};  // contexts at and beyond it are not open
  std::mutex mutex_;                       // guards what follows, and the life of sets against fail_peer()
  std::vector<std::unique_ptr<QueueSet>> owned_;
  std::vector<bool> reserved_;
};

}  // namespace anygin::verbs
