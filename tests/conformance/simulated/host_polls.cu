// SPDX-License-Identifier: Apache-2.0
// The host asks over and over instead of waiting: a stream, an event, the communicator.
#include "../conformance.h"

namespace {

__global__ void set(unsigned* word, bool never) {
  while (never && atomicAdd(word, 0) == 0) continue;
  *word = 1;
}

void ask(conformance::Rank& rank, bool never, useconds_t pause_us = 0) {
  unsigned* word = nullptr;
  rank.must(cudaMalloc(reinterpret_cast<void**>(&word), sizeof(*word)), "cudaMalloc");
  rank.must(cudaMemset(word, 0, sizeof(*word)), "cudaMemset");
  cudaEvent_t done;
  rank.must(cudaEventCreate(&done), "cudaEventCreate");
  set<<<1, 1, 0, rank.stream>>>(word, never);
  rank.must(cudaEventRecord(done, rank.stream), "cudaEventRecord");
  while (cudaStreamQuery(rank.stream) == cudaErrorNotReady) {
    ncclResult_t state = ncclSuccess;
    rank.must(ncclCommGetAsyncError(rank.comm, &state), "ncclCommGetAsyncError");
    if (state != ncclSuccess) return;
    if (pause_us != 0) usleep(pause_us);
  }
  set<<<1, 1, 0, rank.stream>>>(word, false);
  rank.must(cudaEventRecord(done, rank.stream), "cudaEventRecord");
  while (cudaEventQuery(done) == cudaErrorNotReady) continue;
  rank.expect_eq(*word, 1u, "what the kernel left");
}

CONFORMANCE_CASE(the_host_polls, 2) {
  ask(rank, false);
}
// The host's own watchdog lets the kernel go after ten seconds.
CONFORMANCE_CASE(the_host_gives_up, 2) {
  unsigned* word = nullptr;
  rank.must(cudaMallocHost(reinterpret_cast<void**>(&word), sizeof(*word)), "cudaMallocHost");
  for (const useconds_t pause_us : {0, 500}) {
    *word = 0;
    set<<<1, 1, 0, rank.stream>>>(word, true);
    const auto begin = std::chrono::steady_clock::now();
    while (cudaStreamQuery(rank.stream) == cudaErrorNotReady) {
      if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(10)) *static_cast<volatile unsigned*>(word) = 1;
      if (pause_us != 0) usleep(pause_us);
    }
  }
  rank.must(cudaFreeHost(word), "cudaFreeHost");
}
CONFORMANCE_CASE(the_host_polls_for_ever, 2) {
  ask(rank, true);
}
CONFORMANCE_CASE(the_host_polls_with_pauses_for_ever, 2) {
  ask(rank, true, 50);
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
