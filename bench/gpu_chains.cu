// SPDX-License-Identifier: Apache-2.0
// Does the GPU start a stream's kernel while another stream has one queued behind one that waits? Threads with a stream
// each launch chains of kernels; those of one place in the chain meet in host memory. Built without the face of the
// CUDA runtime (-cudart static): this is what the hardware and its driver do. Exit code 1 if chains with host functions
// between the kernels do not end, as docs/decisions/0025 needs them to.
#include <cuda_runtime.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#define CHECK(call)                                                                    \
  do {                                                                                 \
    const cudaError_t error_ = (call);                                                 \
    if (error_ != cudaSuccess) {                                                       \
      std::fprintf(stderr, "gpu_chains: %s: %s\n", #call, cudaGetErrorString(error_)); \
      std::exit(2);                                                                    \
    }                                                                                  \
  } while (0)

namespace {

constexpr int kPlaces = 16;  // kernels in a chain
constexpr int kMostStreams = 16;
constexpr int kRuns = 5;
constexpr long long kPatienceCycles = 1000000000;

struct Meeting {
  struct alignas(64) Word {
    unsigned place;
  };
  Word arrived[kMostStreams];
  Word gave_up;
};

__global__ void meet(volatile Meeting* meeting, int streams, int stream, unsigned place) {
  meeting->arrived[stream].place = place;
  const long long begin = clock64();
  for (int other = 0; other < streams; ++other) {
    while (meeting->arrived[other].place < place && meeting->gave_up.place == 0) {
      if (clock64() - begin > kPatienceCycles) meeting->gave_up.place = place;
    }
  }
}

enum class Between { kNothing, kHostFunction, kEvent, kFill, kCopy };
constexpr const char* kNames[] = {"nothing", "a host function", "an event", "a fill", "a copy"};

void put_between(Between what, cudaStream_t stream, cudaEvent_t event, char* device, char* host) {
  if (what == Between::kHostFunction)
    CHECK(cudaLaunchHostFunc(
        stream, [](void*) {}, nullptr));
  if (what == Between::kEvent) CHECK(cudaEventRecord(event, stream));
  if (what == Between::kFill) CHECK(cudaMemsetAsync(device, 0, 4096, stream));
  if (what == Between::kCopy) CHECK(cudaMemcpyAsync(host, device, 4096, cudaMemcpyDeviceToHost, stream));
}

// Do all chains of `places` kernels end, by themselves?
bool chains_end(Meeting* meeting, int streams, int places, Between what) {
  std::memset(meeting, 0, sizeof *meeting);
  std::atomic<int> ready{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < streams; ++i) {
    threads.emplace_back([&, i] {
      cudaStream_t stream;
      cudaEvent_t event;
      char *device, *host;
      CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
      CHECK(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
      CHECK(cudaMalloc(&device, 4096));
      CHECK(cudaHostAlloc(&host, 4096, 0));
      ++ready;
      while (ready < streams) std::this_thread::yield();
      for (int place = 1; place <= places; ++place) {
        meet<<<1, 1, 0, stream>>>(meeting, streams, i, static_cast<unsigned>(place));
        CHECK(cudaGetLastError());
        put_between(what, stream, event, device, host);
      }
      CHECK(cudaStreamSynchronize(stream));
      CHECK(cudaStreamDestroy(stream));
    });
  }
  for (std::thread& thread : threads) thread.join();
  return meeting->gave_up.place == 0;
}

bool try_chains(Meeting* meeting, int streams, int places, Between what) {
  int ended = 0;
  for (int run = 0; run < kRuns; ++run) ended += chains_end(meeting, streams, places, what) ? 1 : 0;
  std::printf("%2d streams, %2d kernels on each, %s behind each: %d of %d runs ended\n", streams, places,
              kNames[static_cast<int>(what)], ended, kRuns);
  std::fflush(stdout);
  return ended == kRuns;
}

}  // namespace

int main() {
  setenv("CUDA_MODULE_LOADING", "EAGER", 0);
  setenv("CUDA_DEVICE_MAX_CONNECTIONS", "32", 0);
  Meeting* meeting;
  CHECK(cudaHostAlloc(&meeting, sizeof *meeting, cudaHostAllocMapped | cudaHostAllocPortable));
  for (const Between what : {Between::kNothing, Between::kEvent, Between::kFill, Between::kCopy})
    (void)try_chains(meeting, 4, 1, what);
  for (const int streams : {2, 3, 4}) (void)try_chains(meeting, streams, kPlaces, Between::kNothing);
  (void)try_chains(meeting, 4, kPlaces, Between::kEvent);
  bool as_needed = true;
  for (const int streams : {2, 3, 4, 8, 16}) as_needed &= try_chains(meeting, streams, kPlaces, Between::kHostFunction);
  return as_needed ? 0 : 1;
}
