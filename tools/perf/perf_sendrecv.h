// SPDX-License-Identifier: Apache-2.0
// A ring of ncclSend and ncclRecv: each rank sends to its right and receives from its left in one group.
#pragma once

#include "perf_common.h"

namespace perf {

__host__ __device__ inline uint64_t ring_word(int from, uint64_t i) {
  return static_cast<uint64_t>(from + 1) * 0x9e3779b97f4a7c15u + i;
}

__global__ void fill_ring(uint64_t* out, int rank, uint64_t words) {
  const uint64_t stride = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += stride) out[i] = ring_word(rank, i);
}

__global__ void check_ring(const uint64_t* in, int from, uint64_t words, unsigned* wrong) {
  const uint64_t stride = static_cast<uint64_t>(gridDim.x) * blockDim.x;
  unsigned mine = 0;
  for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < words; i += stride) mine += in[i] != ring_word(from, i);
  if (mine > 0) atomicAdd(wrong, mine);
}

inline void measure_sendrecv_of(RankEnv& env, const Wish& wish, uint64_t bytes, Report& report) {
  constexpr int kBlocks = 8, kThreads = 64;
  const uint64_t words = std::max<uint64_t>(1, bytes / sizeof(uint64_t));
  const int left = (env.rank + env.ranks - 1) % env.ranks, right = (env.rank + 1) % env.ranks;
  const DeviceArray<uint64_t> out(env, words), in(env, words);
  const DeviceArray<unsigned> wrong(env, 1);
  fill_ring<<<kBlocks, kThreads, 0, env.stream>>>(out.data(), env.rank, words);
  const uint64_t turns = std::min<uint64_t>(turns_for(wish, bytes), 200);
  HostClock clock(env);
  for (int batch = 0; batch <= kHostBatches; ++batch) {
    clock.begin();
    for (uint64_t turn = 0; turn < turns; ++turn) {
      CHECK_NCCL(ncclGroupStart());
      CHECK_NCCL(ncclSend(out.data(), words, ncclUint64, right, env.comm, env.stream));
      CHECK_NCCL(ncclRecv(in.data(), words, ncclUint64, left, env.comm, env.stream));
      CHECK_NCCL(ncclGroupEnd());
    }
    clock.end();
  }
  check_ring<<<kBlocks, kThreads, 0, env.stream>>>(in.data(), left, words, wrong.data());
  demand_right(env, "a ring of sends", static_cast<int>(wrong.on_host()[0]));
  if (env.rank != 0) return;
  const Spread us = clock.us_a_turn(turns);
  report.add({"ring",
              1,
              1,
              words * sizeof(uint64_t),
              turns,
              {{"us", us}, {"GB/s a rank", rate_of(static_cast<double>(words * sizeof(uint64_t)) / 1e3, us)}}});
}

inline void measure_sendrecv(RankEnv& env, const Wish& wish, Report& report) {
  if (!has_host_sends(env)) return;
  for (const uint64_t bytes : sizes_of(wish)) measure_sendrecv_of(env, wish, bytes, report);
}

}  // namespace perf
