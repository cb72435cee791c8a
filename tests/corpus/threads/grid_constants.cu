// SPDX-License-Identifier: Apache-2.0
// Large parameters: __grid_constant__ structs, the device communicator by value beside them, __constant__ memory by
// symbol.
#include "corpus_threads.h"

struct Plan {
  int peers[64];
  size_t offsets[64];
  ncclWindow_t window;
};
__constant__ int factors[8];

__global__ void run_plan(const __grid_constant__ Plan plan, const __grid_constant__ ncclDevComm comm, int steps) {
  ncclCoopCta cta;
  ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  for (int step = static_cast<int>(threadIdx.x); step < steps; step += static_cast<int>(blockDim.x)) {
    gin.putValue(world, plan.peers[step], plan.window, plan.offsets[step], world.rank * factors[step % 8] + step,
                 ncclGin_StrongSignalInc{0});
  }
  cta.sync();
  gin.waitSignal(cta, 0, static_cast<uint64_t>(steps));
  gin.flush(cta);
}

int main(int argc, char** argv) {
  return run_threads(argc, argv, [](Ranks& ranks) {
    int host[8];
    for (int i = 0; i < 8; ++i) host[i] = 100 * (i + 1);
    CUDACHECK(cudaMemcpyToSymbol(factors, host, sizeof host));
    Window window(ranks, 4096);
    DeviceComm device(ranks, 1);
    Plan plan{};
    plan.window = window.handle;
    const int steps = 4 * ranks.size;
    for (int step = 0; step < steps; ++step) {
      plan.peers[step] = (ranks.rank + step) % ranks.size;
      plan.offsets[step] = static_cast<size_t>(ranks.rank * 4 + step / ranks.size) * sizeof(int);
    }
    run_plan<<<1, 32, 0, ranks.stream>>>(plan, device.comm, steps);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    int wrong = 0;
    const std::vector<int> got = window.read<int>(static_cast<size_t>(steps));
    for (int from = 0; from < ranks.size; ++from) {
      for (int part = 0; part < 4; ++part) {
        const int step = part * ranks.size + (ranks.rank + ranks.size - from) % ranks.size;
        wrong += got[static_cast<size_t>(from * 4 + part)] != from * host[step % 8] + step;
      }
    }
    return wrong;
  });
}
