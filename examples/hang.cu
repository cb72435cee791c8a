// SPDX-License-Identifier: Apache-2.0
// Hangs on purpose: every rank signals rank 0, except the last one. Rank 0 waits for all of them. Instead of a hang there is
// a report that says which block waits, for what, what it sees, and what is missing.
//   ANYGIN_HANG_TIMEOUT=1 anygin run -n 4 -- ./hang
#include "common.h"

namespace {

constexpr ncclGinSignal_t kReady = 0;

__global__ void gather_signals(ncclDevComm comm) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  if (world.rank != world.nRanks - 1) gin.signal(world, 0, ncclGin_StrongSignalInc{kReady});
  if (world.rank == 0) gin.waitSignal(ncclCoopThread{}, kReady, static_cast<uint64_t>(world.nRanks));
}

int forget_one(RankEnv& env) {
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  requirements.ginSignalCount = 1;
  ncclDevComm device_comm;
  CHECK_NCCL(ncclDevCommCreate(env.comm, &requirements, &device_comm));
  gather_signals<<<1, 1, 0, env.stream>>>(device_comm);
  const cudaError_t error = cudaStreamSynchronize(env.stream);
  ncclResult_t async_error = ncclSuccess;
  CHECK_NCCL(ncclCommGetAsyncError(env.comm, &async_error));
  std::printf("rank %d: stream: %s; communicator: %s\n", env.rank, cudaGetErrorString(error), ncclGetErrorString(async_error));
  std::fflush(stdout);
  if (env.rank == 0) std::_Exit(async_error == ncclSuccess ? 1 : 4);  // 4: a hang was found
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return run_example(argc, argv, forget_one); }
