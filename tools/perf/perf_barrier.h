// SPDX-License-Identifier: Apache-2.0
// How long a barrier of all ranks takes: over the network, over loads and stores with rails between nodes, and of a
// node.
#pragma once

#include "perf_common.h"

namespace perf {

enum class BarrierKind : int { kNetwork, kHybrid, kNode };

inline const char* name_of(BarrierKind kind) {
  constexpr const char* kNames[] = {"network", "hybrid", "node"};
  return kNames[static_cast<int>(kind)];
}

__global__ void meet(ncclDevComm comm, BarrierKind kind, uint64_t turns, uint64_t* batch_ns) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  ncclGinBarrierSession<ncclCoopCta> network(block, gin, ncclTeamTagWorld{}, 0);
  ncclBarrierSession<ncclCoopCta> hybrid(block, ncclTeamTagWorld{}, gin, 0);
  ncclLsaBarrierSession<ncclCoopCta> node(block, comm, ncclTeamTagLsa{}, 0);
  for (int batch = 0; batch <= kBatches; ++batch) {
    const uint64_t begin = device_ns();
    for (uint64_t turn = 0; turn < turns; ++turn) {
      if (kind == BarrierKind::kNetwork) network.sync(block, cuda::memory_order_acq_rel, ncclGinFenceLevel::None);
      if (kind == BarrierKind::kHybrid) hybrid.sync(block, cuda::memory_order_acq_rel, ncclGinFenceLevel::None);
      if (kind == BarrierKind::kNode) node.sync(block, cuda::memory_order_acq_rel);
    }
    if (threadIdx.x == 0) batch_ns[batch] = device_ns() - begin;
  }
}

inline void measure_barrier(RankEnv& env, const Wish& wish, Report& report) {
  constexpr int kThreads = 32;
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  requirements.worldGinBarrierCount = 1;
  requirements.lsaBarrierCount = 1;
  requirements.barrierCount = 1;
  const DeviceComm comm(env.comm, requirements);
  const BatchClock clock(env);
  const uint64_t turns = std::max<uint64_t>(1, wish.turns / 10);
  for (const BarrierKind kind : {BarrierKind::kNetwork, BarrierKind::kHybrid, BarrierKind::kNode}) {
    meet<<<1, kThreads, 0, env.stream>>>(comm.view(), kind, turns, clock.data());
    const Spread us = clock.us_a_turn(turns);
    if (env.rank == 0) report.add({name_of(kind), kThreads, 1, 0, turns, {{"us", us}}});
  }
}

}  // namespace perf
