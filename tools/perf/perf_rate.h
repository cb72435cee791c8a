// SPDX-License-Identifier: Apache-2.0
// How many small puts a second the threads of one block post, by contexts: thread t posts on context t modulo those.
#pragma once

#include "perf_common.h"

namespace perf {

__global__ void post_many(ncclDevComm comm, ncclWindow_t window, int contexts, uint64_t posts, uint64_t* batch_ns) {
  const ncclGin gin(comm, static_cast<int>(threadIdx.x) % contexts);
  const ncclTeam world = ncclTeamWorld(comm);
  const int peer = 1 - world.rank;
  if (world.rank != 0) {
    if (threadIdx.x == 0) gin.waitSignal(ncclCoopThread{}, 0, 1);
    return;
  }
  const size_t mine = threadIdx.x * sizeof(uint64_t), theirs = (blockDim.x + threadIdx.x) * sizeof(uint64_t);
  for (int batch = 0; batch <= kBatches; ++batch) {
    __syncthreads();
    const uint64_t begin = device_ns();
    for (uint64_t post = 0; post < posts; ++post) gin.put(world, peer, window, theirs, window, mine, sizeof(uint64_t));
    gin.flush(ncclCoopThread{});
    __syncthreads();
    if (threadIdx.x == 0) batch_ns[batch] = device_ns() - begin;
  }
  if (threadIdx.x == 0) gin.signal(world, peer, ncclGin_StrongSignalInc{0});
  gin.flush(ncclCoopThread{});
}

inline void measure_rate(RankEnv& env, const Wish& wish, Report& report) {
  const BatchClock clock(env);
  for (const uint64_t contexts : wish.contexts) {
    for (const uint64_t threads : wish.threads) {
      const SharedMemory memory(env.comm, 2 * threads * sizeof(uint64_t));
      ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
      requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
      requirements.ginContextCount = static_cast<int>(contexts);
      requirements.ginSignalCount = 1;
      const DeviceComm comm(env.comm, requirements);
      const uint64_t posts = std::max<uint64_t>(1, wish.turns / threads);
      post_many<<<1, static_cast<unsigned>(threads), 0, env.stream>>>(comm.view(), memory.window(),
                                                                      static_cast<int>(contexts), posts, clock.data());
      const Spread us = clock.us_a_turn(posts * threads);
      if (env.rank != 0) continue;
      report.add({"put",
                  static_cast<int>(threads),
                  static_cast<int>(contexts),
                  sizeof(uint64_t),
                  posts * threads,
                  {{"Mop/s", rate_of(1, us)}}});
    }
  }
}

}  // namespace perf
