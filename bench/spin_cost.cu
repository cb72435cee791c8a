// SPDX-License-Identifier: Apache-2.0
// What letting other lanes run costs and saves. `spin_cost chain`: 64 lanes, each spinning raw on a volatile word that
// the next one writes, in the worst order. `spin_cost loops`: nanoseconds a turn of loops that wait for nobody; built
// with --ticks=none, auto and all by tools/dev/bench_ticks.sh, which compares them.
#include <cstdio>
#include <cuda/atomic>
#include <string>

#include "bench_common.h"

namespace {

constexpr int kLanes = 64, kChains = 20;
constexpr int kTurns = 1 << 20, kRepeats = 9;

__global__ void chain(int* flags) {
  const int lane = static_cast<int>(threadIdx.x);
  if (lane + 1 < kLanes) {
    while (*static_cast<volatile int*>(flags + lane + 1) == 0)
      ;
  }
  *static_cast<volatile int*>(flags + lane) = lane + 1;
}

int time_chains() {
  int* flags;
  CHECK_CUDA(cudaMallocManaged(&flags, (kLanes + 1) * sizeof(int)));
  std::vector<double> milliseconds;
  for (int round = 0; round <= kChains; ++round) {
    std::fill(flags, flags + kLanes + 1, 0);
    const auto begin = std::chrono::steady_clock::now();
    chain<<<1, kLanes>>>(flags);
    CHECK_CUDA(cudaDeviceSynchronize());
    if (round > 0) milliseconds.push_back(1e3 * seconds_since(begin));  // the first one starts the workers
    for (int i = 0; i < kLanes; ++i) {
      if (flags[i] != i + 1) return 1;
    }
  }
  const double longest = *std::max_element(milliseconds.begin(), milliseconds.end());
  std::printf("chain of %d lanes: median %.3f ms, longest of %d %.3f ms\n", kLanes, median(milliseconds), kChains,
              longest);
  return 0;
}

// Written so that no turn can be left out: each needs the one before it.
__global__ void integers(uint64_t* out) {
  uint64_t value = threadIdx.x + 1;
  for (int turn = 0; turn < kTurns; ++turn) value = value * 6364136223846793005u + 1442695040888963407u;
  *out = value;
}
__global__ void floats(uint64_t* out) {
  float x = 0, y = 0;
  for (int turn = 0; turn < kTurns; ++turn) {
    const float next = x * x - y * y + 0.1f;
    y = 2 * x * y + 0.05f;
    x = next;
  }
  *out = static_cast<uint64_t>(x * 1000);
}
__global__ void atomic_loads(uint64_t* out) {
  const cuda::atomic_ref<uint64_t, cuda::thread_scope_device> word(*out);
  uint64_t sum = 0;
  for (int turn = 0; turn < kTurns; ++turn) sum += word.load(cuda::memory_order_acquire);
  *out = sum;
}
__global__ void builtin_loads(uint64_t* out) {
  uint64_t sum = 0;
  for (int turn = 0; turn < kTurns; ++turn) sum += __atomic_load_n(out, __ATOMIC_ACQUIRE);
  *out = sum;
}
__global__ void volatile_loads(uint64_t* out) {
  uint64_t sum = 0;
  for (int turn = 0; turn < kTurns; ++turn) sum += *static_cast<volatile uint64_t*>(out);
  *out = sum;
}

void time_loop(const char* name, void (*kernel)(uint64_t*), uint64_t* word, unsigned lanes = 1) {
  double best = 1e9;
  for (int i = 0; i < kRepeats; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    kernel<<<1, lanes>>>(word);
    CHECK_CUDA(cudaDeviceSynchronize());
    best = std::min(best, seconds_since(begin));
  }
  std::printf("%s %.4f\n", name, best * 1e9 / kTurns / lanes);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "chain") return time_chains();
  if (what != "loops") {
    std::fprintf(stderr, "spin_cost chain|loops\n");
    return 2;
  }
  uint64_t* word;
  CHECK_CUDA(cudaMalloc(&word, sizeof *word));
  CHECK_CUDA(cudaMemset(word, 0, sizeof *word));
  time_loop("integers", integers, word);
  time_loop("floats", floats, word);
  time_loop("cuda::atomic_ref", atomic_loads, word);
  time_loop("__atomic_load_n", builtin_loads, word);
  time_loop("volatile", volatile_loads, word);
  time_loop("64_lanes_cuda::atomic_ref", atomic_loads, word, kLanes);
  time_loop("64_lanes___atomic_load_n", builtin_loads, word, kLanes);
  time_loop("64_lanes_volatile", volatile_loads, word, kLanes);
  return 0;
}
