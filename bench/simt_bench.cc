// SPDX-License-Identifier: Apache-2.0
// The SIMT engine: launches, barriers, warp operations, waits across devices, a million lanes. Run on a quiet machine,
// one worker a core; the peak memory stands in the last case's counters.
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <cstdlib>
#include <vector>

#include "anygin/base/order.h"
#include "anygin/simt/device.h"
#include "anygin/simt/device_runtime.h"

namespace anygin::simt {
namespace {

constexpr int kDevices = 8;

LaunchShape blocks_of(unsigned blocks, unsigned threads) {
  return {{blocks, 1, 1}, {threads, 1, 1}};
}

void check(int error) {
  if (error != 0) std::abort();
}

template <typename F>
void launch_and_wait(const LaunchShape& shape, F body) {
  check(launch_callable(shape, body));
  check(synchronize_stream(resolve_stream(nullptr)));
}

template <typename F>
void launch_on_all_devices(const LaunchShape& shape, F body) {
  for (int device = 0; device < kDevices; ++device) {
    check(set_current_device(device));
    check(launch_callable(shape, body));
  }
  for (int device = 0; device < kDevices; ++device) check(synchronize_device(device));
  check(set_current_device(0));
}

void set_ns_per_thread(benchmark::State& state, double thread_steps) {
  state.counters["ns/thread"] = benchmark::Counter(thread_steps * 1e-9 * static_cast<double>(state.iterations()),
                                                   benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

void empty_kernel(benchmark::State& state) {
  const auto blocks = static_cast<unsigned>(state.range(0)), threads = static_cast<unsigned>(state.range(1));
  for (auto _ : state) launch_and_wait(blocks_of(blocks, threads), [] {});
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(empty_kernel)->Args({16, 512})->Args({1, 32})->UseRealTime()->MeasureProcessCPUTime();

void queued_empty_kernels(benchmark::State& state) {
  constexpr int kQueued = 100;
  for (auto _ : state) {
    for (int i = 0; i < kQueued; ++i) check(launch_callable(blocks_of(16, 512), [] {}));
    check(synchronize_stream(resolve_stream(nullptr)));
  }
  state.SetItemsProcessed(state.iterations() * kQueued);
}
BENCHMARK(queued_empty_kernels)->UseRealTime()->MeasureProcessCPUTime();

// Time of one barrier and thread, in one block and in 16.
void syncthreads(benchmark::State& state) {
  constexpr int kBarriers = 1000;
  const auto blocks = static_cast<unsigned>(state.range(0)), threads = static_cast<unsigned>(state.range(1));
  for (auto _ : state) {
    launch_and_wait(blocks_of(blocks, threads), [] {
      for (int i = 0; i < kBarriers; ++i) anygin_syncthreads();
    });
  }
  set_ns_per_thread(state, double{kBarriers} * blocks * threads);
}
BENCHMARK(syncthreads)
    ->Args({1, 32})
    ->Args({1, 512})
    ->Args({1, 1024})
    ->Args({16, 512})
    ->UseRealTime()
    ->MeasureProcessCPUTime();

void shuffle_xor(benchmark::State& state) {
  constexpr int kShuffles = 1000;
  for (auto _ : state) {
    launch_and_wait(blocks_of(1, 512), [] {
      unsigned value = anygin_thread_idx.x;
      for (int i = 0; i < kShuffles; ++i) {
        WarpOp op;
        op.kind = WarpOpKind::kShuffle;
        op.source_lane = static_cast<int>(anygin_thread_idx.x % 32 ^ 1);
        op.bytes = sizeof value;
        op.value = op.result = &value;
        anygin_warp_op(&op);
      }
    });
  }
  set_ns_per_thread(state, 512.0 * kShuffles);
}
BENCHMARK(shuffle_xor)->UseRealTime()->MeasureProcessCPUTime();

// Block b of every device meets block b of all others; one lane waits, the block meets before and after.
void meet(uint32_t* word, uint32_t least) {
  anygin_syncthreads();
  if (anygin_thread_idx.x == 0) {
    __atomic_fetch_add(word, 1, __ATOMIC_ACQ_REL);
    wait_until([=] { return load_relaxed(word) >= least; }, nullptr, WaitReason{});
  }
  anygin_syncthreads();
}

void barrier_of_eight_devices(benchmark::State& state) {
  constexpr unsigned kBlocks = 16, kThreads = 512, kRounds = 50;
  std::vector<uint32_t> arrived(size_t{kBlocks} * 64);
  for (auto _ : state) {
    std::fill(arrived.begin(), arrived.end(), 0);
    uint32_t* words = arrived.data();
    launch_on_all_devices(blocks_of(kBlocks, kThreads), [words] {
      for (uint32_t round = 1; round <= kRounds; ++round) meet(&words[anygin_block_idx.x * 64], round * kDevices);
    });
  }
  state.counters["us/round"] = benchmark::Counter(kRounds * 1e-6 * static_cast<double>(state.iterations()),
                                                  benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}
BENCHMARK(barrier_of_eight_devices)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

void million_threads_25_barriers(benchmark::State& state) {
  constexpr unsigned kBlocks = 512, kThreads = 256, kRounds = 8;
  std::vector<uint32_t> arrived(size_t{kBlocks} * 16);
  for (auto _ : state) {
    std::fill(arrived.begin(), arrived.end(), 0);
    uint32_t* words = arrived.data();
    // 8 meetings with 3 block barriers each, and one more.
    launch_on_all_devices(blocks_of(kBlocks, kThreads), [words] {
      for (uint32_t round = 1; round <= kRounds; ++round) {
        meet(&words[anygin_block_idx.x * 16], round * kDevices);
        anygin_syncthreads();
      }
      anygin_syncthreads();
    });
  }
  for (unsigned block = 0; block < kBlocks; ++block) {
    if (arrived[size_t{block} * 16] != kRounds * kDevices) state.SkipWithError("not every block met all others");
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  state.counters["peak_MB"] = static_cast<double>(usage.ru_maxrss) / 1024;
}
BENCHMARK(million_threads_25_barriers)->Unit(benchmark::kMillisecond)->UseRealTime()->MeasureProcessCPUTime();

}  // namespace
}  // namespace anygin::simt

BENCHMARK_MAIN();
