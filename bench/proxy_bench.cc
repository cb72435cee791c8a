// SPDX-License-Identifier: Apache-2.0
// The proxy over the software HCA in one thread: what a put costs from the descriptor to the peer's memory, scheduling
// apart. One rank that puts to itself; the profile is in-order.
#include <benchmark/benchmark.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <utility>
#include <vector>

#include "anygin/base/world.h"
#include "anygin/proxy/proxy_backend.h"
#include "anygin/proxy/proxy_device.h"

namespace anygin {
namespace {

// A communicator of one rank.
class LoneBootstrap final : public Bootstrap {
 public:
  Rank rank() const override { return 0; }
  int size() const override { return 1; }
  Result<std::vector<Gift>> all_gather(const char*, const Gift& mine) override {
    return std::vector<Gift>{Gift{mine.bytes, mine.fd < 0 ? -1 : dup(mine.fd)}};
  }
};

class FatalListener final : public BackendListener {
 public:
  void on_error(AbortCause, Rank, const Status& status) override {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    std::exit(1);
  }
};

template <typename T>
T take(Result<T> result) {
  if (result.ok()) return std::move(*result);
  std::fprintf(stderr, "%s\n", result.status().message().c_str());
  std::exit(1);
}

struct Rig {
  static constexpr uint64_t kBytes = uint64_t{4} << 20;

  Rig() {
    backend = take(open_proxy_backend({bootstrap, listener, &abort_word, options}));
    memory = take(world().heap.allocate(kBytes, 0));
    const Status registered = backend->register_window(WindowId(1), memory, kBytes, false);
    if (!registered.ok()) std::exit(1);
    contexts = take(backend->create_contexts({1, 1, 1, 0, 0}));
  }
  ~Rig() {
    contexts.reset();
    backend->deregister_window(WindowId(1));
  }

  DeviceContext context() { return {0, 1, contexts->handle(), 0, &abort_word}; }
  static PutRequest put(uint64_t bytes) {
    PutRequest request;
    request.source_window = request.destination_window = WindowId(1);
    request.destination_offset = kBytes / 2;
    request.bytes = bytes;
    return request;
  }

  LoneBootstrap bootstrap;
  FatalListener listener;
  Options options;
  uint32_t abort_word = 0;
  std::unique_ptr<Backend> backend;
  std::unique_ptr<ContextSet> contexts;
  char* memory = nullptr;
};

// One put with its signal, until the signal is seen.
void put_and_signal(benchmark::State& state) {
  Rig rig;
  PutRequest request = Rig::put(static_cast<uint64_t>(state.range(0)));
  request.signal = {SignalTarget::kIndexed, true, 0, {}, 0, 1};
  const CellRef cell = proxy_signal_cell(rig.context(), 0);
  uint64_t seen = 0;
  for (auto _ : state) {
    ++seen;
    proxy_put(rig.context(), request);
    while (load_relaxed(cell.cell) != seen) world().executor.poll();
  }
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations()) * state.range(0));
}
BENCHMARK(put_and_signal)->Arg(8)->Arg(4096)->Arg(1 << 20);

// Puts as fast as the ring takes them.
void put_rate(benchmark::State& state) {
  Rig rig;
  const PutRequest request = Rig::put(8);
  for (auto _ : state) proxy_put(rig.context(), request);
  FlushRequest all;
  proxy_flush_async(rig.context(), 0, &all);
  if (proxy_wait(rig.context(), all, kNever) != WaitOutcome::kSatisfied) std::exit(1);
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations()));
}
BENCHMARK(put_rate);

}  // namespace
}  // namespace anygin

BENCHMARK_MAIN();
