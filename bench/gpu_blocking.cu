// SPDX-License-Identifier: Apache-2.0
// Which calls into CUDA wait for a kernel that runs, and which keep other threads from launching meanwhile: what ranks
// as threads of one GPU must not do while kernels wait for each other. Two lines a call:
//   "returns": the call comes back while a kernel waits for a word that the host sets afterwards
//   "launches": while the call is under way, another thread's kernel sets that word
#include <functional>

#include "bench_common.h"

namespace {

constexpr auto kPatience = std::chrono::milliseconds(700);

__global__ void spin(const volatile uint32_t* word) {
  while (*word == 0) {
  }
}
__global__ void set(volatile uint32_t* word) { *word = 1; }

struct Stage {
  uint32_t* word = nullptr;  // host memory that kernels reach
  cudaStream_t spinning = nullptr, other = nullptr;
  char *device = nullptr, *pinned = nullptr;
  std::vector<char> pageable = std::vector<char>(size_t{1} << 20);
};

using Call = std::function<void(Stage&)>;

// Does `call` end within the patience? It gets all the time it needs after `release`.
bool ends_in_time(Stage& stage, const Call& call, const std::function<void()>& meanwhile, const std::function<void()>& release) {
  std::atomic<bool> ended{false};
  std::thread caller([&] {
    call(stage);
    ended = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  std::thread helper(meanwhile);
  const auto until = std::chrono::steady_clock::now() + kPatience;
  while (!ended && std::chrono::steady_clock::now() < until) std::this_thread::yield();
  const bool in_time = ended;
  release();
  caller.join();
  helper.join();
  return in_time;
}

void try_call(Stage& stage, const char* name, const Call& call) {
  const auto release = [&] { __atomic_store_n(stage.word, 1u, __ATOMIC_SEQ_CST); };
  const auto begin = [&] {
    __atomic_store_n(stage.word, 0u, __ATOMIC_SEQ_CST);
    spin<<<1, 1, 0, stage.spinning>>>(stage.word);
    CHECK_CUDA(cudaGetLastError());
  };
  begin();
  const bool returns = ends_in_time(stage, call, [] {}, release);
  CHECK_CUDA(cudaDeviceSynchronize());
  begin();
  const bool launches = ends_in_time(stage, call, [&] { set<<<1, 1, 0, stage.other>>>(stage.word); }, release);
  CHECK_CUDA(cudaDeviceSynchronize());
  std::printf("%-44s returns %-3s  launches %s\n", name, returns ? "yes" : "no", launches ? "yes" : "no");
  std::fflush(stdout);
}

}  // namespace

int main() {
  Stage stage;
  CHECK_CUDA(cudaSetDevice(0));
  CHECK_CUDA(cudaHostAlloc(reinterpret_cast<void**>(&stage.word), 4096, cudaHostAllocMapped | cudaHostAllocPortable));
  CHECK_CUDA(cudaHostAlloc(reinterpret_cast<void**>(&stage.pinned), size_t{1} << 20, cudaHostAllocMapped));
  CHECK_CUDA(cudaMalloc(reinterpret_cast<void**>(&stage.device), size_t{1} << 20));
  CHECK_CUDA(cudaStreamCreateWithFlags(&stage.spinning, cudaStreamNonBlocking));
  CHECK_CUDA(cudaStreamCreateWithFlags(&stage.other, cudaStreamNonBlocking));
  constexpr size_t kBytes = 4096;
  const auto copy = [](char* to, const char* from, cudaStream_t Stage::*stream) {
    return [=](Stage& s) { CHECK_CUDA(cudaMemcpyAsync(to, from, kBytes, cudaMemcpyDefault, s.*stream)); };
  };
  char* const pageable = stage.pageable.data();
  cudaStream_t Stage::*const spinning = &Stage::spinning;
  cudaStream_t Stage::*const other = &Stage::other;
  try_call(stage, "cudaMalloc, 1 KiB", [](Stage&) { void* p; CHECK_CUDA(cudaMalloc(&p, 1024)); });
  try_call(stage, "cudaMalloc, 64 MiB", [](Stage&) { void* p; CHECK_CUDA(cudaMalloc(&p, size_t{64} << 20)); });
  try_call(stage, "cudaMallocAsync on another stream", [](Stage& s) { void* p; CHECK_CUDA(cudaMallocAsync(&p, 1024, s.other)); });
  std::vector<void*> to_free(2);
  for (void*& p : to_free) CHECK_CUDA(cudaMalloc(&p, 1024));
  try_call(stage, "cudaFree", [&](Stage&) {
    void* const p = to_free.back();
    to_free.pop_back();
    CHECK_CUDA(cudaFree(p));
  });
  try_call(stage, "cudaHostAlloc", [](Stage&) { void* p; CHECK_CUDA(cudaHostAlloc(&p, 4096, 0)); });
  try_call(stage, "cudaHostRegister", [](Stage&) { void* p = std::aligned_alloc(4096, 65536); CHECK_CUDA(cudaHostRegister(p, 65536, 0)); });
  try_call(stage, "cudaStreamCreate", [](Stage&) { cudaStream_t s; CHECK_CUDA(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking)); });
  try_call(stage, "cudaEventCreate", [](Stage&) { cudaEvent_t e; CHECK_CUDA(cudaEventCreate(&e)); });
  try_call(stage, "cudaMemcpyAsync host to host, its stream", copy(pageable, stage.pinned, spinning));
  try_call(stage, "cudaMemcpyAsync device to pageable, its stream", copy(pageable, stage.device, spinning));
  try_call(stage, "cudaMemcpyAsync pageable to device, its stream", copy(stage.device, pageable, spinning));
  try_call(stage, "cudaMemcpyAsync pageable to device, other", copy(stage.device, pageable, other));
  try_call(stage, "cudaMemcpyAsync host to host, other", copy(pageable, stage.pinned, other));
  try_call(stage, "cudaMemsetAsync, other", [](Stage& s) { CHECK_CUDA(cudaMemsetAsync(s.device, 0, 64, s.other)); });
  try_call(stage, "cudaStreamSynchronize, its stream", [](Stage& s) { CHECK_CUDA(cudaStreamSynchronize(s.spinning)); });
  try_call(stage, "cudaStreamSynchronize, other", [](Stage& s) { CHECK_CUDA(cudaStreamSynchronize(s.other)); });
  try_call(stage, "cudaDeviceSynchronize", [](Stage&) { CHECK_CUDA(cudaDeviceSynchronize()); });
  try_call(stage, "a launch, other", [](Stage& s) { set<<<1, 1, 0, s.other>>>(s.word + 1); });
  return 0;
}
