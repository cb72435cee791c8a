// SPDX-License-Identifier: Apache-2.0
// A proxy engine over a scripted transport, with contexts as a kernel of rank 0 sees them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "anygin/base/world.h"
#include "anygin/proxy/proxy_context_set.h"
#include "anygin/proxy/proxy_device.h"
#include "anygin/proxy/proxy_engine.h"
#include "unit/scripted_transport.h"

namespace anygin::testing {

struct RecordedError {
  AbortCause cause;
  Rank peer;
  std::string message;
};

class RecordingListener final : public BackendListener {
 public:
  void on_error(AbortCause cause, Rank peer, const Status& status) override {
    errors.push_back({cause, peer, status.message()});
  }
  std::vector<RecordedError> errors;
};

struct RigShape {
  int ranks = 2;
  uint32_t contexts = 1;
  uint32_t depth_log2 = 4;
  uint32_t signals = 8;
  uint32_t counters = 8;
  bool kernels_ring = true;  // if not, what they raise is not what the engine looks at
};

// The world must be in place. Windows 1 (ordinary) and 2 (strict ordering) of kWindowBytes exist; transport contexts
// start at 40.
class ProxyRig {
 public:
  static constexpr uint64_t kWindowBytes = uint64_t{1} << 44;
  static constexpr uint32_t kSignalRegion = 9;
  static constexpr uint32_t kFirstContext = 40;

  explicit ProxyRig(const RigShape& shape) : shape_(shape), transport(shape.ranks) {
    transport.add_region(1, kWindowBytes);
    transport.add_region(2, kWindowBytes);
    transport.add_region(kSignalRegion, uint64_t{shape.contexts} * shape.signals * 8);
    engine = std::make_unique<proxy::ProxyEngine>(
        proxy::ProxyEngine::Parts{transport, listener, &abort_word, 0, shape.kernels_ring});
    engine->windows().set(WindowId(1), {1, false});
    engine->windows().set(WindowId(2), {2, true});
    auto created = proxy::ContextMemory::create(
        {shape.contexts, static_cast<uint32_t>(shape.ranks), shape.signals, shape.counters, shape.depth_log2});
    ANYGIN_ASSERT(created.ok());
    memory = std::move(*created);
    signals.resize(size_t{shape.contexts} * shape.signals);
    slots = *engine->reserve_slots(shape.contexts);
    for (uint32_t i = 0; i < shape.contexts; ++i) add(i);
    world().executor.add(*engine);
  }
  ~ProxyRig() {
    world().executor.remove(*engine);
    for (const uint32_t slot : slots) engine->remove_context(slot);
  }
  ProxyRig(const ProxyRig&) = delete;
  ProxyRig& operator=(const ProxyRig&) = delete;

  DeviceContext context(uint32_t index = 0) {
    DeviceContext device;
    device.rank = 0;
    device.rank_count = shape_.ranks;
    device.handle = memory->kernel_views();
    device.context = index;
    device.abort_word = &abort_word;
    return device;
  }
  uint64_t counter(uint32_t id, uint32_t context_index = 0) {
    const CellRef cell = proxy_counter_cell(context(context_index), id);
    return *cell.cell - *cell.base;
  }
  uint32_t produced(int peer) { return proxy::claims_of(memory->view(0))[peer].produced - proxy::kFirstIndex; }
  uint32_t consumed(int peer) {
    return static_cast<uint32_t>(memory->view(0).peers[peer].consumed) - proxy::kFirstIndex;
  }
  bool flushed(int peer) {
    FlushRequest request;
    proxy_flush_async(context(), peer, &request);
    return proxy_wait(context(), request, world().clock.now()) == WaitOutcome::kSatisfied;
  }

 private:
  void add(uint32_t index) {
    proxy::ContextView& view = memory->view(index);
    view.engine = static_cast<Engine*>(engine.get());
    view.doorbell = shape_.kernels_ring ? engine->doorbell(slots[index]) : &unheard;
    view.doorbell_bit = proxy::ProxyEngine::doorbell_bit(slots[index]);
    view.signals = signals.data() + size_t{index} * shape_.signals;
    proxy::EngineContext shared;
    shared.view = view;
    shared.claims = proxy::claims_of(view);
    shared.index = index;
    shared.counters = memory->counters(index);
    shared.ops = {
        kFirstContext + index, 0, shape_.signals, shape_.counters, kSignalRegion, uint64_t{index} * shape_.signals * 8};
    engine->add_context(slots[index], shared);
  }

  const RigShape shape_;

 public:
  ScriptedTransport transport;
  RecordingListener listener;
  uint32_t abort_word = 0;
  uint64_t unheard = 0;
  std::unique_ptr<proxy::ProxyEngine> engine;
  std::unique_ptr<proxy::ContextMemory> memory;
  std::vector<uint64_t> signals;
  std::vector<uint32_t> slots;
};

// A put from window 1 to window 1.
inline PutRequest put_request(int peer, uint64_t source, uint64_t destination, uint64_t bytes) {
  PutRequest request;
  request.peer = peer;
  request.source_window = request.destination_window = WindowId(1);
  request.source_offset = source;
  request.destination_offset = destination;
  request.bytes = bytes;
  return request;
}
inline PutRequest with_signal(PutRequest request, uint32_t id, uint64_t add, bool strong) {
  request.signal.target = SignalTarget::kIndexed;
  request.signal.id = id;
  request.signal.add = add;
  request.signal.strong = strong;
  return request;
}
inline PutRequest with_counter(PutRequest request, uint32_t id) {
  request.has_counter = true;
  request.counter = id;
  return request;
}
inline GetRequest get_request(int peer, uint64_t remote, uint64_t local, uint64_t bytes) {
  GetRequest request;
  request.peer = peer;
  request.remote_window = request.local_window = WindowId(1);
  request.remote_offset = remote;
  request.local_offset = local;
  request.bytes = bytes;
  return request;
}

}  // namespace anygin::testing
