// SPDX-License-Identifier: Apache-2.0
#include "anygin/proxy/proxy_backend.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "anygin/base/kernel_side.h"
#include "anygin/base/mutant.h"
#include "anygin/base/world.h"
#include "anygin/verbs/verbs_transport.h"

namespace anygin::proxy {
namespace {

constexpr uint32_t kDepthMax = 1u << 15;

// While one lives, nobody steps the engine: its contexts may change.
class Quiet {
 public:
  Quiet(Engine& engine, std::mutex& mutex) : lock_(mutex), engine_(engine) { world().executor.remove(engine_); }
  ~Quiet() {
    world().executor.add(engine_);
    world().executor.kick(engine_);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  std::lock_guard<std::mutex> lock_;
  Engine& engine_;
};

// Signal cells of a context set: memory that the peers' NICs add to, zero at first.
class SignalCells {
 public:
  explicit SignalCells(Transport& transport) : transport_(transport) {}
  ~SignalCells() {
    if (region_) transport_.deregister_region(*region_);
    if (base_ != nullptr) {
      const Status freed = world().heap.free(base_);
      ANYGIN_ASSERT(freed.ok());
    }
  }
  SignalCells(const SignalCells&) = delete;
  SignalCells& operator=(const SignalCells&) = delete;

  Status allocate(uint64_t cells) {
    bytes_ = cells * sizeof(uint64_t);
    if (cells == 0) return Status();
    Result<char*> memory = world().heap.allocate(bytes_, -1);
    if (!memory.ok()) return memory.status();
    base_ = *memory;
    return Status();
  }
  // Collective.
  Status share() {
    Result<uint32_t> region = transport_.register_region({base_, bytes_, true});
    if (!region.ok()) return region.status();
    region_ = *region;
    return Status();
  }

  uint64_t* cells() const { return reinterpret_cast<uint64_t*>(base_); }
  uint32_t region() const { return *region_; }

 private:
  Transport& transport_;
  char* base_ = nullptr;
  uint64_t bytes_ = 0;
  std::optional<uint32_t> region_;
};

// Of what failed elsewhere: the reason is known there.
Cause cause_of(AbortCause cause) {
  switch (cause) {
    case AbortCause::kPeerDied:
      return Cause::kPeerDied;
    case AbortCause::kNicError:
      return Cause::kNicOperation;
    case AbortCause::kHang:
      return Cause::kHang;
    default:
      return Cause::kAborted;
  }
}

const char* text_of(AbortCause cause) {
  switch (cause) {
    case AbortCause::kPeerDied:
      return "the rank died";
    case AbortCause::kNicError:
      return "its NIC reported an error";
    case AbortCause::kMisuse:
      return "a kernel misused the device API";
    case AbortCause::kHang:
      return "no rank could make progress";
    case AbortCause::kRevoked:
      return "the communicator was revoked";
    default:
      return "the communicator was aborted";
  }
}

}  // namespace

class ProxyBackend::Contexts final : public ContextSet {
 public:
  explicit Contexts(ProxyBackend& backend) : backend_(backend), signals_(*backend.transport_) {}

  ~Contexts() override {
    if (first_) {
      const Quiet quiet(backend_.engine_, backend_.quiet_mutex_);
      for (const uint32_t slot : slots_) backend_.engine_.remove_context(slot);
      backend_.transport_->close_contexts(*first_, memory_->shape().contexts);
    }
    backend_.engine_.release_slots(slots_);
  }

  void* handle() const override { return memory_->kernel_views(); }

  // Local: everything that can fail here alone.
  Status prepare(const ContextShape& shape) {
    Result<std::unique_ptr<ContextMemory>> memory = ContextMemory::create(shape);
    if (!memory.ok()) return memory.status();
    memory_ = std::move(*memory);
    ANYGIN_TRY(signals_.allocate(uint64_t{shape.contexts} * shape.signals));
    Result<std::vector<uint32_t>> slots = backend_.engine_.reserve_slots(shape.contexts);
    if (!slots.ok()) return slots.status();
    slots_ = std::move(*slots);
    return Status();
  }

  // Collective, after all ranks prepared.
  Status open(int traffic_class) {
    const ContextShape& shape = memory_->shape();
    ANYGIN_TRY(signals_.share());
    Result<uint32_t> first = backend_.transport_->open_contexts(shape.contexts, 1u << shape.depth_log2, traffic_class);
    if (!first.ok()) return first.status();
    first_ = *first;
    const Quiet quiet(backend_.engine_, backend_.quiet_mutex_);
    for (uint32_t i = 0; i < shape.contexts; ++i) add(i);
    return memory_->publish();
  }

 private:
  void add(uint32_t index) {
    const ContextShape& shape = memory_->shape();
    ContextView& view = memory_->view(index);
    const uint32_t slot = slots_[index];
    view.engine = static_cast<Engine*>(&backend_.engine_);
    view.doorbell = backend_.engine_.doorbell(slot);
    view.doorbell_bit = ProxyEngine::doorbell_bit(slot);
    const uint64_t first_cell = MUTANT(proxy_signals_shared) ? 0 : uint64_t{index} * shape.signals;
    view.signals = signals_.cells() == nullptr ? nullptr : signals_.cells() + first_cell;
    EngineContext context;
    context.view = view;
    context.claims = claims_of(view);
    context.index = index;
    context.counters = memory_->counters(index);
    context.ops = {*first_ + index, backend_.rank_,    shape.signals,
                   shape.counters,  signals_.region(), first_cell * sizeof(uint64_t)};
    backend_.engine_.add_context(slot, context);
  }

  ProxyBackend& backend_;
  std::unique_ptr<ContextMemory> memory_;
  SignalCells signals_;
  std::vector<uint32_t> slots_;
  std::optional<uint32_t> first_;  // of the transport's contexts
};

ProxyBackend::ProxyBackend(std::unique_ptr<Transport> transport, const BackendOpening& opening)
    : transport_(std::move(transport)),
      bootstrap_(opening.bootstrap),
      rank_(opening.bootstrap.rank()),
      size_(opening.bootstrap.size()),
      depth_default_(opening.options.nccl_gin_proxy_queue_size > 0
                         ? std::min(kDepthDefault, static_cast<uint32_t>(opening.options.nccl_gin_proxy_queue_size))
                         : kDepthDefault),
      engine_({*transport_, opening.listener, opening.abort_word, rank_, kernel_side().calls_us()}) {
  world().executor.add(engine_);
}

ProxyBackend::~ProxyBackend() {
  world().executor.remove(engine_);
}

BackendCapabilities ProxyBackend::capabilities() const {
  BackendCapabilities capabilities;
  capabilities.strong_signals = true;
  capabilities.va_signals = true;
  capabilities.get = true;
  capabilities.hints = transport_->capabilities().accepts_hints;
  capabilities.signals_max = kSignalsMax;
  capabilities.counters_max = kCountersMax;
  capabilities.contexts_max = ProxyEngine::kContextsMax;
  capabilities.depth_default = 1u << depth_log2(0);
  return capabilities;
}

Status ProxyBackend::register_window(WindowId id, char* base, uint64_t bytes, bool strict_ordering) {
  ANYGIN_ASSERT(id != kNoWindow);
  Result<uint32_t> region = transport_->register_region({base, bytes, strict_ordering});
  if (!region.ok()) return region.status();
  engine_.windows().set(id, {*region, strict_ordering});
  return Status();
}

void ProxyBackend::deregister_window(WindowId id) {
  const auto window = engine_.windows().find(id);
  ANYGIN_ASSERT(window.has_value());
  engine_.windows().clear(id);
  transport_->deregister_region(window->region);
}

Status ProxyBackend::check(const ContextRequest& request) const {
  const struct {
    const char* what;
    uint32_t asked, most;
  } limits[] = {{"GIN contexts", request.contexts, ProxyEngine::kContextsMax},
                {"signals per GIN context", request.signals, kSignalsMax},
                {"counters per GIN context", request.counters, kCountersMax}};
  for (const auto& limit : limits) {
    if (limit.asked > limit.most) {
      return Status(Cause::kBackendLimit, limit.what,
                    fmt::format("{} asked for, the proxy backend has at most {}", limit.asked, limit.most));
    }
  }
  if (request.contexts > 0) return Status();
  return Status(Cause::kNumberOutOfRange, "GIN contexts", "0 asked for, at least 1 is needed");
}

uint32_t ProxyBackend::depth_log2(uint32_t requested) const {
  const uint32_t wanted = std::min(requested == 0 ? depth_default_ : requested, kDepthMax);
  const uint32_t most = std::bit_floor(std::max(1u, transport_->capabilities().depth));
  return static_cast<uint32_t>(std::countr_zero(std::min(std::bit_ceil(wanted), most)));
}

Result<std::unique_ptr<ContextSet>> ProxyBackend::create_contexts(const ContextRequest& request) {
  const ContextShape shape{request.contexts, static_cast<uint32_t>(size_), request.signals, request.counters,
                           depth_log2(request.depth)};
  auto contexts = std::make_unique<Contexts>(*this);
  Status prepared = check(request);
  if (prepared.ok()) prepared = contexts->prepare(shape);
  ANYGIN_TRY(agree(bootstrap_, "GIN contexts", prepared));
  ANYGIN_TRY(contexts->open(request.traffic_class));
  return std::unique_ptr<ContextSet>(std::move(contexts));
}

Status ProxyBackend::last_error(Rank* peer) const {
  return engine_.last_error(peer);
}

void ProxyBackend::abort(AbortCause cause, Rank peer) {
  engine_.poison(
      cause, peer,
      Status(cause_of(cause), "GIN", peer < 0 ? text_of(cause) : fmt::format("rank {}: {}", peer, text_of(cause))));
  for (Rank rank = 0; rank < size_; ++rank) transport_->fail_peer(rank);
  ring_everybody(world().executor);
}

bool ProxyBackend::busy() const {
  return engine_.busy() || transport_->busy();
}

}  // namespace anygin::proxy

namespace anygin {

Result<std::unique_ptr<Backend>> open_proxy_backend(const BackendOpening& opening) {
  Result<std::unique_ptr<Transport>> transport = opening.nic
                                                     ? verbs::VerbsTransport::open(opening.nic, opening.bootstrap)
                                                     : verbs::open_transport(opening.bootstrap, opening.options);
  if (!transport.ok()) return transport.status();
  return std::unique_ptr<Backend>(std::make_unique<proxy::ProxyBackend>(std::move(*transport), opening));
}

}  // namespace anygin
