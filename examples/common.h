// SPDX-License-Identifier: Apache-2.0
// What every example does before its own idea: find its ranks, create communicators, check errors.
// Started by a launcher (anygin run, torchrun, srun, mpirun) the process is one rank; else all ranks run as threads.
// Ranks may share a device, so nobody uses the legacy stream: it would wait for the other rank's kernel.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>
#include <nccl_device.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "launcher.h"

#define CHECK_CUDA(call)                                                                                    \
  do {                                                                                                      \
    const cudaError_t check_error_ = (call);                                                                \
    if (check_error_ != cudaSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(check_error_)); \
      std::exit(1);                                                                                         \
    }                                                                                                       \
  } while (false)

#define CHECK_NCCL(call)                                                                                         \
  do {                                                                                                           \
    const ncclResult_t check_result_ = (call);                                                                   \
    if (check_result_ != ncclSuccess) {                                                                          \
      std::fprintf(stderr, "%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call, ncclGetErrorString(check_result_), \
                   ncclGetLastError(nullptr));                                                                   \
      std::exit(1);                                                                                              \
    }                                                                                                            \
  } while (false)

// One rank's part of the program.
struct RankEnv {
  int rank = 0;
  int ranks = 1;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
};

// Returns the number of wrong values the rank saw.
using RankMain = std::function<int(RankEnv&)>;

inline int run_rank(int rank, int ranks, int device, const ncclUniqueId& id, const RankMain& rank_main) {
  RankEnv env;
  env.rank = rank;
  env.ranks = ranks;
  CHECK_CUDA(cudaSetDevice(device));
  CHECK_NCCL(ncclCommInitRank(&env.comm, ranks, id, rank));
  CHECK_CUDA(cudaStreamCreateWithFlags(&env.stream, cudaStreamNonBlocking));
  const int wrong = rank_main(env);
  CHECK_CUDA(cudaStreamDestroy(env.stream));
  CHECK_NCCL(ncclCommDestroy(env.comm));
  return wrong;
}

// Memory that every rank has and its peers reach through a window. Made and ended by all ranks together.
class SharedMemory {
 public:
  SharedMemory(ncclComm_t comm, size_t bytes) : comm_(comm) {
    CHECK_NCCL(ncclMemAlloc(&memory_, bytes));
    CHECK_NCCL(ncclCommWindowRegister(comm, memory_, bytes, &window_, NCCL_WIN_COLL_SYMMETRIC));
  }
  ~SharedMemory() {
    CHECK_NCCL(ncclCommWindowDeregister(comm_, window_));
    CHECK_NCCL(ncclMemFree(memory_));
  }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  ncclWindow_t window() const { return window_; }
  void* data() const { return memory_; }

 private:
  const ncclComm_t comm_;
  void* memory_ = nullptr;
  ncclWindow_t window_ = nullptr;
};

// What a kernel communicates with: as many signals, counters and barriers as `requirements` say. Made by all together.
class DeviceComm {
 public:
  DeviceComm(ncclComm_t comm, const ncclDevCommRequirements_t& requirements) : comm_(comm) {
    CHECK_NCCL(ncclDevCommCreate(comm, &requirements, &view_));
  }
  ~DeviceComm() { CHECK_NCCL(ncclDevCommDestroy(comm_, &view_)); }
  DeviceComm(const DeviceComm&) = delete;
  DeviceComm& operator=(const DeviceComm&) = delete;

  const ncclDevComm& view() const { return view_; }

 private:
  const ncclComm_t comm_;
  ncclDevComm view_{};
};

// An array in device memory that only this rank uses, in the order of its stream: zero, or a copy of what the host has.
template <typename T>
class DeviceArray {
 public:
  DeviceArray(const RankEnv& env, size_t count) : stream_(env.stream), count_(count) {
    CHECK_CUDA(cudaMalloc(reinterpret_cast<void**>(&data_), bytes()));
    CHECK_CUDA(cudaMemsetAsync(data_, 0, bytes(), stream_));
  }
  DeviceArray(const RankEnv& env, const std::vector<T>& values) : DeviceArray(env, values.size()) { copy_from(values); }
  ~DeviceArray() { CHECK_CUDA(cudaFree(data_)); }
  DeviceArray(const DeviceArray&) = delete;
  DeviceArray& operator=(const DeviceArray&) = delete;

  T* data() const { return data_; }
  size_t bytes() const { return count_ * sizeof(T); }
  // As many as there are.
  void copy_from(const std::vector<T>& values) {
    CHECK_CUDA(cudaMemcpyAsync(data_, values.data(), bytes(), cudaMemcpyHostToDevice, stream_));
    CHECK_CUDA(cudaStreamSynchronize(stream_));  // `values` may go
  }
  std::vector<T> on_host() const {
    std::vector<T> values(count_);
    CHECK_CUDA(cudaMemcpyAsync(values.data(), data_, bytes(), cudaMemcpyDeviceToHost, stream_));
    CHECK_CUDA(cudaStreamSynchronize(stream_));
    return values;
  }

 private:
  const cudaStream_t stream_;
  const size_t count_;
  T* data_ = nullptr;
};

// How long the work between the two calls took on a stream.
class Stopwatch {
 public:
  explicit Stopwatch(cudaStream_t stream) : stream_(stream) {
    CHECK_CUDA(cudaEventCreate(&begin_));
    CHECK_CUDA(cudaEventCreate(&end_));
  }
  ~Stopwatch() {
    CHECK_CUDA(cudaEventDestroy(begin_));
    CHECK_CUDA(cudaEventDestroy(end_));
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

  void start() { CHECK_CUDA(cudaEventRecord(begin_, stream_)); }
  // Waits for the stream.
  float stop_ms() {
    CHECK_CUDA(cudaEventRecord(end_, stream_));
    CHECK_CUDA(cudaEventSynchronize(end_));
    float ms = 0;
    CHECK_CUDA(cudaEventElapsedTime(&ms, begin_, end_));
    return ms;
  }

 private:
  const cudaStream_t stream_;
  cudaEvent_t begin_ = nullptr, end_ = nullptr;
};

// Prints a rank's last line and returns `wrong`.
inline int verdict(const RankEnv& env, const char* what, int wrong) {
  std::printf("rank %d of %d: %s, %d wrong: %s\n", env.rank, env.ranks, what, wrong, wrong == 0 ? "PASSED" : "FAILED");
  return wrong;
}

// One line that is the same wherever the program computed the same bytes.
inline void print_digest(const RankEnv& env, const void* data, size_t bytes) {
  uint64_t digest = 14695981039346656037u;  // FNV-1a
  for (size_t i = 0; i < bytes; ++i) digest = (digest ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
  std::printf("rank %d of %d: digest %016llx\n", env.rank, env.ranks, static_cast<unsigned long long>(digest));
}

// Runs `rank_main` on every rank and returns the process's exit code. `-r N` chooses how many ranks run as threads.
inline int run_example(int argc, char** argv, const RankMain& rank_main) {
  ncclUniqueId id;
  if (const Place place = find_place(); place.ranks > 0) {
    if (!find_meeting_place()) return 2;
    CHECK_NCCL(ncclGetUniqueId(&id));  // NCCL_COMM_ID is set: every rank gets the same rendezvous
    return run_rank(place.rank, place.ranks, place.local, id, rank_main) == 0 ? 0 : 1;
  }
  int ranks = 4;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "-r") == 0) ranks = std::atoi(argv[i + 1]);
  }
  if (ranks < 1) {
    std::fprintf(stderr, "-r: how many ranks run as threads; a number from 1 on would be right\n");
    return 2;
  }
  int devices = 0;
  CHECK_CUDA(cudaGetDeviceCount(&devices));
  CHECK_NCCL(ncclGetUniqueId(&id));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] { wrong += run_rank(r, ranks, r % devices, id, rank_main); });
  }
  for (std::thread& thread : threads) thread.join();
  return wrong == 0 ? 0 : 1;
}
