// SPDX-License-Identifier: Apache-2.0
// What the cuda target is built from, measured bare on this machine: latencies of loads, fences and atomic operations
// on device memory and on registered host memory, a word that GPU and CPU pass to and fro, and the time to register
// memory.
#include <sys/mman.h>

#include <cuda/atomic>

#include "bench_common.h"

namespace {

constexpr int kTurns = 2000;

enum class Probe : int { kLoad, kFenceClean, kFenceDirty, kStoreRelease, kAtomicAdd, kProbes };
constexpr const char* kNames[] = {"relaxed load", "acquire-release fence, nothing outstanding",
                                  "store, acquire-release fence", "release store", "fetch_add"};

using SystemWord = cuda::atomic_ref<uint64_t, cuda::thread_scope_system>;

__device__ uint64_t act(Probe probe, uint64_t* word, uint64_t i) {
  switch (probe) {
    case Probe::kLoad:
      return SystemWord(*word).load(cuda::memory_order_relaxed);
    case Probe::kFenceDirty:
      SystemWord(*word).store(i, cuda::memory_order_relaxed);
      cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_system);
      return 0;
    case Probe::kFenceClean:
      cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_system);
      return 0;
    case Probe::kStoreRelease:
      SystemWord(*word).store(i, cuda::memory_order_release);
      return 0;
    default:
      return SystemWord(*word).fetch_add(1, cuda::memory_order_relaxed);
  }
}

// Each turn depends on the one before.
__global__ void measure(Probe probe, uint64_t* word, double* turn_ns) {
  uint64_t sum = 0;
  const uint64_t begin = device_ns();
  for (uint64_t i = 0; i < kTurns; ++i) sum += act(probe, word + (sum == ~uint64_t{0} ? 1 : 0), i);
  *turn_ns = static_cast<double>(device_ns() - begin) / kTurns + (sum == 12345 ? 1 : 0);
}

struct Ball {
  alignas(64) uint64_t to_host;
  alignas(64) uint64_t to_device;
};

// `looks` loads are under way at once, a part of a load's time apart.
template <int looks>
__global__ void serve(Ball* ball, double* turn_ns) {
  constexpr long long kLoadCycles = 2600;
  const uint64_t begin = device_ns();
  for (uint64_t i = 1; i <= kTurns; ++i) {
    SystemWord(ball->to_host).store(i, cuda::memory_order_relaxed);
    uint64_t seen[looks];
    for (int look = 0; look < looks; ++look) {
      const long long since = clock64();
      seen[look] = SystemWord(ball->to_device).load(cuda::memory_order_relaxed);
      while (look + 1 < looks && clock64() - since < kLoadCycles / looks) {
      }
    }
    bool there = false;
    while (!there) {
#pragma unroll
      for (int look = 0; look < looks; ++look) {
        there = seen[look] == i;
        if (there) break;
        seen[look] = SystemWord(ball->to_device).load(cuda::memory_order_relaxed);
      }
    }
  }
  *turn_ns = static_cast<double>(device_ns() - begin) / kTurns;
}

// A descriptor as the proxy's device half posts it: stores of 56 bytes, and of the word that makes them official.
__global__ void post(uint64_t* slots, double* turn_ns) {
  const uint64_t begin = device_ns();
  for (uint64_t i = 0; i < kTurns; ++i) {
    uint64_t* slot = slots + i % 16 * 8;
    slot[1] = i;
    for (int word = 2; word < 8; word += 2) *reinterpret_cast<ulonglong2*>(&slot[word]) = make_ulonglong2(i, i);
    SystemWord(slot[0]).store(i, cuda::memory_order_release);
  }
  *turn_ns = static_cast<double>(device_ns() - begin) / kTurns;
}

double round_trip_ns(void (*kernel)(Ball*, double*), Ball* ball, double* turn_ns) {
  ball->to_host = ball->to_device = 0;
  kernel<<<1, 1>>>(ball, turn_ns);
  for (uint64_t i = 1; i <= kTurns; ++i) {
    while (__atomic_load_n(&ball->to_host, __ATOMIC_ACQUIRE) != i) {
    }
    __atomic_store_n(&ball->to_device, i, __ATOMIC_RELEASE);
  }
  CHECK_CUDA(cudaDeviceSynchronize());
  return *turn_ns;
}

double host_register_ms(char* base, size_t bytes) {
  const auto begin = std::chrono::steady_clock::now();
  CHECK_CUDA(cudaHostRegister(base, bytes, cudaHostRegisterMapped | cudaHostRegisterPortable));
  return seconds_since(begin) * 1e3;
}

void print_attribute(const char* name, cudaDeviceAttr attribute) {
  int value = -1;
  CHECK_CUDA(cudaDeviceGetAttribute(&value, attribute, 0));
  std::printf("attribute %s %d\n", name, value);
}

}  // namespace

int main() {
  CHECK_CUDA(cudaSetDevice(0));
  print_attribute("host native atomics", cudaDevAttrHostNativeAtomicSupported);
  print_attribute("host pointers for registered memory", cudaDevAttrCanUseHostPointerForRegisteredMem);
  print_attribute("multiprocessors", cudaDevAttrMultiProcessorCount);
  constexpr size_t kBytes = size_t{256} << 20;
  void* mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return 3;
  std::printf("register 256 MiB, untouched: %.1f ms\n", host_register_ms(static_cast<char*>(mapped), kBytes));
  CHECK_CUDA(cudaHostUnregister(mapped));
  std::printf("register 256 MiB again: %.1f ms\n", host_register_ms(static_cast<char*>(mapped), kBytes));

  double* turn_ns = static_cast<double*>(mapped);
  auto* host_word = reinterpret_cast<uint64_t*>(static_cast<char*>(mapped) + 4096);
  uint64_t* device_word;
  CHECK_CUDA(cudaMalloc(&device_word, 4096));
  for (int probe = 0; probe < static_cast<int>(Probe::kProbes); ++probe) {
    for (uint64_t* word : {device_word, host_word}) {
      for (int round = 0; round < 2; ++round) {  // the first warms up
        measure<<<1, 1>>>(static_cast<Probe>(probe), word, turn_ns);
        CHECK_CUDA(cudaDeviceSynchronize());
      }
      std::printf("%s, %s memory: %.0f ns\n", kNames[probe], word == device_word ? "device" : "host", *turn_ns);
    }
  }
  post<<<1, 1>>>(host_word, turn_ns);
  CHECK_CUDA(cudaDeviceSynchronize());
  std::printf("64 bytes and release, host memory: %.0f ns\n", *turn_ns);
  auto* ball = reinterpret_cast<Ball*>(static_cast<char*>(mapped) + 8192);
  std::printf("GPU to CPU to GPU: %.0f ns\n", round_trip_ns(serve<1>, ball, turn_ns));
  std::printf("GPU to CPU to GPU, 2 looks at once: %.0f ns\n", round_trip_ns(serve<2>, ball, turn_ns));
  std::printf("GPU to CPU to GPU, 4 looks at once: %.0f ns\n", round_trip_ns(serve<4>, ball, turn_ns));
  return 0;
}
