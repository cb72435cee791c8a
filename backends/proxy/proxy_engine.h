// SPDX-License-Identifier: Apache-2.0
// The proxy: reads descriptors from the rings that kernels fill, posts them through a Transport, and turns completions
// into counters and consumer indices. One per communicator; a state machine, stepped by whoever holds its owner token.
#pragma once

#include <array>
#include <atomic>
#include <mutex>
#include <vector>

#include "anygin/backends/backend.h"
#include "anygin/backends/transport.h"
#include "anygin/base/engine.h"
#include "anygin/base/trace.h"
#include "anygin/proxy/gfd_to_op.h"
#include "anygin/proxy/proxy_device.h"
#include "anygin/proxy/proxy_ring.h"

namespace anygin::proxy {

// The engine's side of a context; the memory is the ContextSet's and outlives it.
struct EngineContext {
  ContextView view;                    // as the kernel has it
  const PeerClaims* claims = nullptr;  // the kernel's, by peer; not read where kernels do not ring
  uint32_t index = 0;                  // the kernel's number of this context, for trace and reports
  uint64_t* counters = nullptr;        // view.counters, writable
  OpContext ops;
};

class ProxyEngine final : public Engine {
 public:
  static constexpr uint32_t kContextsMax = 1024;

  // Action kinds. kDecode's name is slot << 32 | peer: one descriptor. kPoll: up to kPollBatch completions.
  enum ActionKind : uint16_t { kDecode = 1, kPoll = 2 };
  static constexpr size_t kPollBatch = 16;

  struct Parts {
    Transport& transport;
    BackendListener& listener;
    const uint32_t* abort_word = nullptr;  // may be null
    Rank rank = 0;
    bool kernels_ring = true;
  };
  explicit ProxyEngine(const Parts& parts);

  // --- Set-up. Host threads; nobody steps the engine meanwhile (Executor::remove) but for `windows` and slots.
  // --------
  WindowTable& windows() { return windows_; }
  // Reserves `count` slots; fails with kInvalidUsage when more than kContextsMax would be in use. Any time.
  Result<std::vector<uint32_t>> reserve_slots(uint32_t count);
  void release_slots(const std::vector<uint32_t>& slots);
  // Where a context in `slot` rings. Fixed for the engine's life.
  uint64_t* doorbell(uint32_t slot) { return &doorbells_[slot / 64]; }
  static uint64_t doorbell_bit(uint32_t slot) { return uint64_t{1} << (slot % 64); }
  void add_context(uint32_t slot, const EngineContext& context);
  void remove_context(uint32_t slot);

  // --- Any thread
  // ------------------------------------------------------------------------------------------------------ Stops
  // decoding for good; remembers the first reason.
  void poison(AbortCause cause, Rank peer, const Status& status);
  // The first error, kOk if none. `peer` may be null.
  Status last_error(Rank* peer) const;
  // Is anything claimed by kernels and not yet locally complete? A poisoned engine is not busy.
  bool busy() const;

  // --- Engine
  // ----------------------------------------------------------------------------------------------------------
  EngineId id() const override { return id_; }
  std::string_view name() const override { return "proxy"; }
  bool has_work() const override;
  void ready(ActionList& out) override;
  void run(const Action& action, Time now) override;
  void describe_pending(std::vector<std::string>& out) const override;

 private:
  struct Context {
    EngineContext shared;
    std::vector<RingReader> rings;  // one a peer
    std::vector<uint64_t> pending;  // a bit a peer: its ring may hold published descriptors
    std::vector<bool> failed;       // a peer whose ring met an error completion
  };

  bool stopped() const;
  void collect_dirty();
  void collect_filled();
  void offer_decodes(uint32_t slot, ActionList& out);
  void add_footprint(const Context& context, Rank peer, Action& action) const;
  void decode(uint32_t slot, Rank peer);
  void poll();
  void complete(const OpCompletion& completion);
  void fail(AbortCause cause, Rank peer, const Status& status);
  void record(TraceKind kind, const Context& context, Rank peer, const GfdFields& gfd) const;

  // Fixed after construction.
  Transport& transport_;
  BackendListener& listener_;
  const uint32_t* const abort_word_;
  const Rank rank_;
  const EngineId id_;
  const bool kernels_ring_;  // if not, every ring is looked at
  // Devices write, the engine reads and clears: a bit a context.
  alignas(kCacheLine) std::array<uint64_t, kContextsMax / 64> doorbells_{};
  // Engine only.
  alignas(kCacheLine) std::array<uint64_t, kContextsMax / 64> pending_contexts_{};
  bool skip_poll_ = false;  // the last poll found nothing: end the step instead of polling again
  // Engine writes, any thread reads.
  std::atomic<bool> more_{false};  // run() may have made something ready
  std::atomic<bool> poisoned_{false};
  // Host threads write, the engine reads while nobody writes.
  std::array<std::unique_ptr<Context>, kContextsMax> contexts_;
  std::atomic<uint32_t> doorbell_words_{0};  // words in use
  std::atomic<uint32_t> contexts_open_{0};
  WindowTable windows_;

  mutable std::mutex mutex_;  // guards what follows, and changes of contexts_
  std::vector<bool> reserved_;
  Status first_error_;
  Rank first_error_peer_ = -1;
};

}  // namespace anygin::proxy
