// SPDX-License-Identifier: Apache-2.0
// Correct: signals whose cells begin at zero again, because the program resets them in its window, and because a device
// communicator got the memory of one that is gone. The checks of `anygin check` have taken both for broken promises.
#include "../../../examples/common.h"

namespace {

constexpr uint64_t kRounds = 3;
constexpr size_t kCell = 64;

__global__ void exchange(ncclDevComm comm, ncclWindow_t window, unsigned* wrong) {
  const ncclCoopThread thread;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const int right = (world.rank + 1) % world.nRanks;
  for (uint64_t round = 0; round < kRounds; ++round) {
    gin.signal(world, right, ncclGin_StrongVASignalInc{window, kCell});
    gin.signal(world, right, ncclGin_StrongSignalInc{0});
    gin.waitSignal(thread, window, kCell, 1);
    gin.waitSignal(thread, 0, round + 1);
    *wrong += gin.readSignal(window, kCell) != 1;
    *wrong += gin.readSignal(0) != round + 1;
    gin.resetSignal(window, kCell);
    ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 0);
  }
  gin.flush(thread);
}

int use_again(RankEnv& env) {
  void* memory;
  ncclWindow_t window;
  CHECK_NCCL(ncclMemAlloc(&memory, 4096));
  CHECK_CUDA(cudaMemsetAsync(memory, 0, 4096, env.stream));
  CHECK_CUDA(cudaStreamSynchronize(env.stream));
  CHECK_NCCL(
      ncclCommWindowRegister(env.comm, memory, 4096, &window, NCCL_WIN_COLL_SYMMETRIC | NCCL_WIN_STRICT_ORDERING));
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  requirements.ginSignalCount = 1;
  requirements.worldGinBarrierCount = 1;
  const DeviceArray<unsigned> wrong(env, 1);
  for (int turn = 0; turn < 3; ++turn) {
    const DeviceComm comm(env.comm, requirements);
    exchange<<<1, 1, 0, env.stream>>>(comm.view(), window, wrong.data());
    CHECK_CUDA(cudaStreamSynchronize(env.stream));
  }
  CHECK_NCCL(ncclCommWindowDeregister(env.comm, window));
  CHECK_NCCL(ncclMemFree(memory));
  return verdict(env, "cells that are used again", static_cast<int>(wrong.on_host()[0]));
}

}  // namespace

int main(int argc, char** argv) {
  return run_example(argc, argv, use_again);
}
