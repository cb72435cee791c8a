// SPDX-License-Identifier: Apache-2.0
// All to all by puts, of so many bytes from each rank to each other one; a barrier ends a turn.
#pragma once

#include "perf_common.h"

namespace perf {

// A byte that says who sent it to whom.
__host__ __device__ inline unsigned char mark_of(int from, int to) {
  return static_cast<unsigned char>(1 + from * 16 + to);
}

__global__ void exchange_all(ncclDevComm comm, ncclWindow_t inbox, ncclWindow_t outbox, uint64_t bytes, uint64_t turns,
                             uint64_t* batch_ns) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  ncclGinBarrierSession<ncclCoopCta> barrier(block, gin, ncclTeamTagWorld{}, 0);
  const auto peers = static_cast<uint64_t>(world.nRanks - 1);
  uint64_t came = 0;
  for (int batch = 0; batch <= kBatches; ++batch) {
    const uint64_t begin = device_ns();
    for (uint64_t turn = 0; turn < turns; ++turn) {
      for (int hop = 1 + static_cast<int>(threadIdx.x); hop < world.nRanks; hop += static_cast<int>(blockDim.x)) {
        const int peer = (world.rank + hop) % world.nRanks;
        gin.put(world, peer, inbox, static_cast<uint64_t>(world.rank) * bytes, outbox,
                static_cast<uint64_t>(peer) * bytes, bytes, ncclGin_WeakSignalInc{0});
      }
      came += peers;
      gin.waitSignal(block, 0, came);
      gin.flush(block);
      barrier.sync(block, cuda::memory_order_relaxed, ncclGinFenceLevel::None);
    }
    if (threadIdx.x == 0) batch_ns[batch] = device_ns() - begin;
  }
}

inline void measure_alltoall_of(RankEnv& env, const Wish& wish, uint64_t bytes, Report& report) {
  constexpr int kThreads = 32;
  const auto ranks = static_cast<uint64_t>(env.ranks);
  const SharedMemory inbox(env.comm, ranks * bytes), outbox(env.comm, ranks * bytes);
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  requirements.ginSignalCount = 1;
  requirements.worldGinBarrierCount = 1;
  const DeviceComm comm(env.comm, requirements);
  const BatchClock clock(env);
  for (int to = 0; to < env.ranks; ++to) {
    CHECK_CUDA(cudaMemsetAsync(static_cast<char*>(outbox.data()) + static_cast<uint64_t>(to) * bytes,
                               mark_of(env.rank, to), bytes, env.stream));
  }
  CHECK_CUDA(cudaMemsetAsync(inbox.data(), 0, ranks * bytes, env.stream));
  const uint64_t turns = turns_for(wish, bytes * ranks);
  exchange_all<<<1, kThreads, 0, env.stream>>>(comm.view(), inbox.window(), outbox.window(), bytes, turns,
                                               clock.data());
  const Spread us = clock.us_a_turn(turns);
  std::vector<unsigned char> got(ranks * bytes);
  CHECK_CUDA(cudaMemcpyAsync(got.data(), inbox.data(), got.size(), cudaMemcpyDeviceToHost, env.stream));
  CHECK_CUDA(cudaStreamSynchronize(env.stream));
  int wrong = 0;
  for (int from = 0; from < env.ranks; ++from) {
    const auto* const part = got.data() + static_cast<uint64_t>(from) * bytes;
    const unsigned char want = from == env.rank ? 0 : mark_of(from, env.rank);
    wrong += static_cast<int>(bytes - static_cast<uint64_t>(std::count(part, part + bytes, want)));
  }
  demand_right(env, "all to all", wrong);
  if (env.rank != 0) return;
  const auto sent = static_cast<double>((ranks - 1) * bytes);
  report.add({"put", kThreads, 1, bytes, turns, {{"us", us}, {"GB/s a rank", rate_of(sent / 1e3, us)}}});
}

inline void measure_alltoall(RankEnv& env, const Wish& wish, Report& report) {
  for (const uint64_t bytes : sizes_of(wish)) measure_alltoall_of(env, wish, bytes, report);
}

}  // namespace perf
