// SPDX-License-Identifier: Apache-2.0
// What a case has in its hands: its rank of a communicator, windows, device communicators, and what kernels leave.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <string>
#include <vector>

#include "conformance_names.h"

namespace conformance {

constexpr size_t kBufferBytes = 8 * 1024;               // d and e, as the semantics' notation says
constexpr size_t kWords = kBufferBytes / sizeof(uint64_t);

// How often a case repeats what it does. -DANYGIN_CONFORMANCE_SHORT is for tools that make kernels slow: each line of a
// case runs, freedoms are not waited for.
#if defined(ANYGIN_CONFORMANCE_SHORT)
constexpr int shortened(int whole) { return std::max(whole / 20, 3); }
#else
constexpr int shortened(int whole) { return whole; }
#endif

struct Window {
  ncclWindow_t handle = nullptr;
  char* buffer = nullptr;
  size_t bytes = 0;
  uint64_t* words() const { return reinterpret_cast<uint64_t*>(buffer); }
};

// What one rank has in its hands. Everything it opened is closed when the body returns.
class Rank {
 public:
  Rank(int rank_, int ranks_, int device, const ncclUniqueId& id) : rank(rank_), ranks(ranks_) {
    must(cudaSetDevice(device), "cudaSetDevice");
    must(ncclCommInitRank(&comm, ranks, id, rank), "ncclCommInitRank");
    must(cudaStreamCreate(&stream), "cudaStreamCreate");
  }
  ~Rank() {
    if (comm == nullptr) return;  // the case ended it itself
    for (ncclDevComm& dev_comm : dev_comms_) must(ncclDevCommDestroy(comm, &dev_comm), "ncclDevCommDestroy");
    for (const Window& window : windows_) {
      must(ncclCommWindowDeregister(comm, window.handle), "ncclCommWindowDeregister");
      must(ncclMemFree(window.buffer), "ncclMemFree");
    }
    must(cudaStreamDestroy(stream), "cudaStreamDestroy");
    must(ncclCommDestroy(comm), "ncclCommDestroy");
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;

  const int rank, ranks;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;

  // Collective.
  Window window(size_t bytes, int flags = NCCL_WIN_COLL_SYMMETRIC) {
    Window w;
    void* buffer = nullptr;
    must(ncclMemAlloc(&buffer, bytes), "ncclMemAlloc");
    std::memset(buffer, 0, bytes);
    must(ncclCommWindowRegister(comm, buffer, bytes, &w.handle, flags), "ncclCommWindowRegister");
    w.buffer = static_cast<char*>(buffer);
    w.bytes = bytes;
    windows_.push_back(w);
    return w;
  }
  static ncclDevCommRequirements_t requirements() {
    ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
#if CONFORMANCE_SINCE_2_30
    reqs.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
    reqs.worldGinBarrierCount = 2;
#else
    reqs.ginForceEnable = true;
#endif
    reqs.ginContextCount = 4;
    reqs.ginSignalCount = 8;
    reqs.ginCounterCount = 8;
    reqs.lsaBarrierCount = 2;
    return reqs;
  }
  ncclDevComm dev_comm(const ncclDevCommRequirements_t& reqs = requirements()) {
    ncclDevComm made;
    must(ncclDevCommCreate(comm, &reqs, &made), "ncclDevCommCreate");
    dev_comms_.push_back(made);
    return made;
  }

  // Waits for the rank's kernels; they must have succeeded.
  void finish() {
    must(cudaGetLastError(), "kernel launch");
    must(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
  }

  void fail(const std::string& what) {
    if (failures_++ < 5) std::fprintf(stderr, "conformance: rank %d: %s\n", rank, what.c_str());
  }
  template <typename T, typename U>
  void expect_eq(const T& got, const U& want, const std::string& what) {
    if (!(got == static_cast<T>(want))) fail(what + ": is " + std::to_string(got) + ", should be " + std::to_string(want));
  }
  void must(cudaError_t error, const char* what) {
    if (error != cudaSuccess) give_up(std::string(what) + ": " + cudaGetErrorString(error));
  }
  void must(ncclResult_t result, const char* what) {
    if (result != ncclSuccess) give_up(std::string(what) + ": " + ncclGetErrorString(result) + " (" + ncclGetLastError(comm) + ")");
  }
  // A kernel of this rank was left by a lane that had no hope. The cpu target says so through the stream, a GPU cannot:
  // the asynchronous error says it on both.
  void expect_lost(cudaError_t error, const std::string& what) {
#if defined(ANYGIN_TARGET_CPU)
    expect_eq(static_cast<int>(error), static_cast<int>(cudaErrorLaunchFailure), what);
#else
    expect_eq(static_cast<int>(error), static_cast<int>(cudaSuccess), what);
#endif
  }
  // The communicator's asynchronous error; waits for one for a second, which is how long it may take (P32). From then on
  // ncclGetLastError tells of it.
  ncclResult_t async_error() {
    const auto since = std::chrono::steady_clock::now();
    ncclResult_t is = ncclSuccess;
    do {
      must(ncclCommGetAsyncError(comm, &is), "ncclCommGetAsyncError");
    } while (is == ncclSuccess && std::chrono::steady_clock::now() - since < std::chrono::seconds(1));
    return is;
  }
  // It is `want`, and ncclGetLastError says each of `parts`.
  void expect_async_error(ncclResult_t want, std::initializer_list<std::string> parts = {}) {
    expect_eq(static_cast<int>(async_error()), static_cast<int>(want), "the communicator's asynchronous error");
    expect_last_error(parts);
  }
  void expect_last_error(std::initializer_list<std::string> parts) {
    const std::string said = ncclGetLastError(comm);
    for (const std::string& part : parts) {
      if (said.find(part) == std::string::npos) fail("the last error does not say '" + part + "': " + said);
    }
  }
  // The communicator met an error the case wanted: it cannot be closed in peace.
  void abandon() {
    must(ncclCommAbort(comm), "ncclCommAbort");
    comm = nullptr;
  }
  int failures() const { return failures_; }

 private:
  [[noreturn]] void give_up(const std::string& what) {
    std::fprintf(stderr, "conformance: rank %d: %s\n", rank, what.c_str());
    std::_Exit(1);
  }

  std::vector<Window> windows_;
  std::vector<ncclDevComm> dev_comms_;
  int failures_ = 0;
};

// kKeep: the case loses the device, and what is on it cannot be freed.
enum class WhenDone { kFree, kKeep };

// Results that a kernel leaves for its host: one per rank, in device memory; with kKeep in memory that the host may read
// in place.
template <typename T>
class Outcome {
 public:
  explicit Outcome(Rank& rank, WhenDone when_done = WhenDone::kFree) : rank_(rank), when_done_(when_done) {
    if (when_done == WhenDone::kKeep) {
      rank.must(ncclMemAlloc(reinterpret_cast<void**>(&device_), sizeof(T)), "ncclMemAlloc");
      std::memset(static_cast<void*>(device_), 0, sizeof(T));
      return;
    }
    rank.must(cudaMalloc(reinterpret_cast<void**>(&device_), sizeof(T)), "cudaMalloc");
    rank.must(cudaMemset(device_, 0, sizeof(T)), "cudaMemset");
  }
  ~Outcome() {
    if (when_done_ == WhenDone::kFree) rank_.must(cudaFree(device_), "cudaFree");
  }
  Outcome(const Outcome&) = delete;
  Outcome& operator=(const Outcome&) = delete;
  T* device() const { return device_; }
  T get() {
    T value;
    rank_.must(cudaMemcpy(&value, device_, sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
    return value;
  }

 private:
  Rank& rank_;
  const WhenDone when_done_;
  T* device_ = nullptr;
};

// The end of a case whose kernel, on the rank's stream, sets *passed at its end. `good`: it did; else the kernel was left,
// and the communicator's error tells each of `parts`. Either way the communicator ends here.
inline void expect_end(Rank& rank, const Outcome<unsigned>& passed, bool good, std::initializer_list<std::string> parts = {}) {
  const cudaError_t error = cudaStreamSynchronize(rank.stream);
  good ? rank.must(error, "cudaStreamSynchronize") : rank.expect_lost(error, "the stream's error");
  rank.expect_eq(*passed.device(), good ? 1u : 0u, "kernels that went on");
  if (!good) rank.expect_async_error(ncclInvalidUsage, parts);
  rank.abandon();
}

}  // namespace conformance
