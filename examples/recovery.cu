// SPDX-License-Identifier: Apache-2.0
// A rank is lost in the middle of the work; the others notice, agree, and finish without it (docs/recovery.md).
// Ranks as processes: rank 1 ends without a word. Ranks as threads: it gives its communicator up.
#include <unistd.h>

#include <memory>

#include "common.h"

namespace {

constexpr int kLost = 1;
constexpr int kSteps = 4;
constexpr int kLostIn = 2;  // the step that the lost rank does not come to

// Each rank sends a word to every one and adds up what it gets.
__global__ void exchange(ncclDevComm comm, ncclWindow_t window, uint64_t word, uint64_t round, uint64_t* sum) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  for (int peer = static_cast<int>(threadIdx.x); peer < comm.nRanks; peer += static_cast<int>(blockDim.x)) {
    gin.putValue(world, peer, window, static_cast<size_t>(comm.rank) * sizeof(word), word, ncclGin_StrongSignalInc{0});
  }
  gin.waitSignal(ncclCoopCta{}, 0, round * static_cast<uint64_t>(comm.nRanks));
  if (threadIdx.x == 0) {
    const auto* const words = static_cast<const uint64_t*>(ncclGetLocalPointer(window, 0));
    *sum = 0;
    for (int from = 0; from < comm.nRanks; ++from) *sum += words[from];
  }
  // Nobody's next word may come before everybody has read this one.
  ncclGinBarrierSession<ncclCoopCta> barrier(ncclCoopCta{}, gin, ncclTeamTagWorld{}, 0);
  barrier.sync(ncclCoopCta{}, cuda::memory_order_relaxed, ncclGinFenceLevel::Put);
}

ncclDevCommRequirements_t requirements() {
  ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  reqs.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  reqs.ginSignalCount = 1;
  reqs.worldGinBarrierCount = 1;
  return reqs;
}

// What belongs to one communicator, and has to be made anew for the next one.
struct Stage {
  Stage(ncclComm_t comm, int ranks)
      : memory(comm, static_cast<size_t>(ranks) * sizeof(uint64_t)), device(comm, requirements()) {}

  // False if the kernel did not come to its end.
  bool exchange_word(const RankEnv& env, uint64_t word, uint64_t* sum) {
    exchange<<<1, 32, 0, env.stream>>>(device.view(), memory.window(), word, ++round, sum);
    if (cudaStreamSynchronize(env.stream) == cudaSuccess) return true;
    (void)cudaGetLastError();
    return false;
  }

  const SharedMemory memory;
  const DeviceComm device;
  uint64_t round = 0;
};

// A smaller communicator takes the place of the one that has failed.
void recover(RankEnv& env, std::unique_ptr<Stage>& stage) {
  ncclResult_t why = ncclSuccess;
  CHECK_NCCL(ncclCommGetAsyncError(env.comm, &why));
  std::printf("rank %d: %s: %s\n", env.rank, ncclGetErrorString(why), ncclGetLastError(env.comm));
  CHECK_NCCL(ncclCommRevoke(env.comm, NCCL_REVOKE_DEFAULT));  // nobody waits in it any more
  int lost[] = {kLost};
  ncclComm_t smaller = nullptr;
  CHECK_NCCL(ncclCommShrink(env.comm, lost, 1, &smaller, nullptr, NCCL_SHRINK_ABORT));
  stage.reset();
  CHECK_NCCL(ncclCommAbort(env.comm));
  env.comm = smaller;
  stage = std::make_unique<Stage>(smaller, env.ranks - 1);
}

// A loss may find the ranks a step apart: all go back to the first one that some rank has not done.
int agree_on_step(const RankEnv& env, int step) {
  const DeviceArray<int> steps(env, std::vector<int>{step});
  CHECK_NCCL(ncclAllReduce(steps.data(), steps.data(), 1, ncclInt32, ncclMin, env.comm, env.stream));
  return steps.on_host()[0];
}

int check(const RankEnv& env, bool all, int step, uint64_t sum) {
  uint64_t wanted = 0;
  for (int rank = 0; rank < env.ranks; ++rank)
    wanted += all || rank != kLost ? static_cast<uint64_t>(1000 * step + rank) : 0;
  if (sum == wanted) return 0;
  std::printf("rank %d: step %d: the sum is %llu, should be %llu: FAILED\n", env.rank, step,
              static_cast<unsigned long long>(sum), static_cast<unsigned long long>(wanted));
  return 1;
}

int run(RankEnv& env) {
  auto stage = std::make_unique<Stage>(env.comm, env.ranks);
  const DeviceArray<uint64_t> sum(env, 1);
  bool all = true;
  int wrong = 0;
  for (int step = 0; step < kSteps; ++step) {
    if (env.rank == kLost && step == kLostIn) {
      if (std::getenv("RANK") != nullptr) _exit(0);
      CHECK_NCCL(ncclCommAbort(env.comm));
      env.comm = nullptr;
      static std::atomic<Stage*> left_behind;  // its communicator is gone: nothing of it can be closed any more
      left_behind = stage.release();
      return 0;
    }
    while (!stage->exchange_word(env, static_cast<uint64_t>(1000 * step + env.rank), sum.data())) {
      recover(env, stage);
      all = false;
      step = agree_on_step(env, step);
    }
    wrong += check(env, all, step, sum.on_host()[0]);
  }
  wrong += all ? 1 : 0;
  std::printf("rank %d: %d steps, the last %s rank %d: %s\n", env.rank, kSteps, all ? "with" : "without", kLost,
              wrong == 0 ? "PASSED" : "FAILED");
  return wrong;
}

}  // namespace

int main(int argc, char** argv) {
  return run_example(argc, argv, run);
}
