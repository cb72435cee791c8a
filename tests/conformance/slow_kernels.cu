// SPDX-License-Identifier: Apache-2.0
// Rank 1's kernel keeps rank 0's waiting: it computes, reads volatile memory, watches the clock, polls, with pauses or
// spinning, for a word that nobody sets, or enters a barrier alone.
//   slow_kernels -r 2 compute|read|clock|poll|spin|barrier      exit code 4: the communicator was ended as hung
#include "../../examples/common.h"

namespace {

constexpr uint64_t kLongNs = 1'000'000'000;
enum class Way { kCompute, kRead, kClock, kPoll, kSpin, kBarrier };
Way way = Way::kCompute;

__device__ void take_time(const ncclGin& gin, unsigned* word) {
  if (way == Way::kCompute) {
    unsigned value = 1;
    for (long i = 0; i < 400'000'000L; ++i) value = (value * 1664525 + 1013904223) ^ (value >> 7);
    word[1] = value;
  } else if (way == Way::kRead) {
    unsigned sum = 0;
    for (int i = 0; i < 1'000'000; ++i) sum += static_cast<volatile unsigned*>(word)[i % 500];
    word[1] = sum;
  } else if (way == Way::kClock) {
    uint64_t begin, now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    while (now - begin < kLongNs);
  } else if (way == Way::kPoll) {
    while (atomicAdd(word, 0) == 0) __nanosleep(1000);
  } else if (way == Way::kBarrier) {
    ncclGinBarrierSession<ncclCoopThread> barrier(ncclCoopThread{}, gin, ncclTeamTagWorld{}, 1);
    barrier.sync(ncclCoopThread{}, cuda::memory_order_relaxed, ncclGinFenceLevel::None);
  } else {
    while (*static_cast<volatile unsigned*>(word) == 0) continue;
  }
}

__global__ void signal_late(ncclDevComm comm, ncclWindow_t window) {
  const ncclGin gin(comm, 0);
  if (comm.rank == 1) {
    take_time(gin, static_cast<unsigned*>(ncclGetLocalPointer(window, 0)));
    gin.signal(ncclTeamWorld(comm), 0, ncclGin_SignalInc{0});
  } else {
    gin.waitSignal(ncclCoopThread{}, 0, 1);
  }
}

int take_turns(RankEnv& env) {
  void* memory = nullptr;
  CHECK_NCCL(ncclMemAlloc(&memory, 4096));
  ncclWindow_t window;
  CHECK_NCCL(ncclCommWindowRegister(env.comm, memory, 4096, &window, NCCL_WIN_COLL_SYMMETRIC));
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  requirements.ginSignalCount = 1;
  requirements.worldGinBarrierCount = 2;
  ncclDevComm device_comm;
  CHECK_NCCL(ncclDevCommCreate(env.comm, &requirements, &device_comm));
  signal_late<<<1, 1, 0, env.stream>>>(device_comm, window);
  const cudaError_t error = cudaStreamSynchronize(env.stream);
  ncclResult_t async_error = ncclSuccess;
  CHECK_NCCL(ncclCommGetAsyncError(env.comm, &async_error));
  if (error != cudaSuccess || async_error != ncclSuccess) std::_Exit(4);
  CHECK_NCCL(ncclDevCommDestroy(env.comm, &device_comm));
  CHECK_NCCL(ncclCommWindowDeregister(env.comm, window));
  CHECK_NCCL(ncclMemFree(memory));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  const std::string name = argv[argc - 1];
  way = name == "clock"     ? Way::kClock
        : name == "poll"    ? Way::kPoll
        : name == "read"    ? Way::kRead
        : name == "spin"    ? Way::kSpin
        : name == "barrier" ? Way::kBarrier
                            : Way::kCompute;
  return run_example(argc - 1, argv, take_turns);
}
