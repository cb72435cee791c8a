// SPDX-License-Identifier: Apache-2.0
// What the measurements share: time inside a kernel, batch by batch.
#pragma once

#include "../../examples/common.h"
#include "perf_report.h"
#include "perf_wish.h"

namespace perf {

constexpr int kBatches =
    20;  // of a kernel that measures itself; figures are the median, the least and the most of them
constexpr int kHostBatches = 5;  // where the host measures

// Nanoseconds, in a kernel of either target.
__device__ inline uint64_t device_ns() {
  uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
  return ns;
}

// Where a kernel leaves how long each batch took, in nanoseconds; batch 0 warms up.
class BatchClock {
 public:
  explicit BatchClock(const RankEnv& env) : batch_ns_(env, kBatches + 1) {}

  uint64_t* data() const { return batch_ns_.data(); }
  // Waits for the kernel that was launched before.
  Spread us_a_turn(uint64_t turns) const {
    CHECK_CUDA(cudaGetLastError());
    const std::vector<uint64_t> ns = batch_ns_.on_host();
    std::vector<double> us;
    for (int batch = 1; batch <= kBatches; ++batch) {
      us.push_back(static_cast<double>(ns[static_cast<size_t>(batch)]) / 1e3 / static_cast<double>(turns));
    }
    return spread_of(us);
  }

 private:
  const DeviceArray<uint64_t> batch_ns_;
};

// How long each of the host's batches took.
class HostClock {
 public:
  explicit HostClock(const RankEnv& env) : watch_(env.stream) {}

  void begin() { watch_.start(); }
  void end() { us_.push_back(1e3 * static_cast<double>(watch_.stop_ms())); }
  // The first batch warmed up.
  Spread us_a_turn(uint64_t turns) const {
    std::vector<double> us;
    for (size_t i = 1; i < us_.size(); ++i) us.push_back(us_[i] / static_cast<double>(turns));
    return spread_of(us);
  }

 private:
  Stopwatch watch_;
  std::vector<double> us_;
};

// False: host sends are not there; says why.
inline bool has_host_sends(const RankEnv& env) {
  ncclGroupStart();
  ncclResult_t tried = ncclSend(nullptr, 0, ncclInt8, env.rank, env.comm, env.stream);
  if (tried == ncclSuccess) tried = ncclRecv(nullptr, 0, ncclInt8, env.rank, env.comm, env.stream);
  const std::string why = tried == ncclSuccess ? "" : ncclGetLastError(nullptr);
  ncclGroupEnd();
  if (tried == ncclSuccess) return true;
  if (env.rank == 0) std::printf("# no sends by the host here: %s\n", why.c_str());
  return false;
}

// Wrong values mean that a figure is worth nothing.
inline void demand_right(const RankEnv& env, const std::string& what, int wrong) {
  if (wrong == 0) return;
  std::fprintf(stderr, "anygin perf: rank %d: %s: %d values are wrong\n", env.rank, what.c_str(), wrong);
  std::exit(1);
}

}  // namespace perf
