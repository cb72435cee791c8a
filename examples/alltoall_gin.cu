// SPDX-License-Identifier: Apache-2.0
// Pure GIN all-to-all: every block exchanges its share of each rank's chunk over the network. A world barrier and a signal
// index a block; the block that receives is the block that waits; weak signals suffice, as each covers its own put.
#include "common.h"

namespace {

constexpr int kBlocks = 16;
constexpr int kThreads = 512;
constexpr size_t kFloatsPerPair = 1024;
constexpr size_t kFloatsPerBlock = kFloatsPerPair / kBlocks;

float value_of(int source, int destination, size_t index) {
  return 1000.0f * static_cast<float>(source) + 100.0f * static_cast<float>(destination) + static_cast<float>(index);
}

__global__ void __launch_bounds__(kThreads) alltoall(ncclDevComm comm, ncclWindow_t send, ncclWindow_t receive) {
  const ncclCoopCta block;
  const ncclGin gin(comm, static_cast<int>(blockIdx.x % comm.ginContextCount));
  const ncclTeam world = ncclTeamWorld(comm);
  const ncclGinSignal_t arrived = blockIdx.x;
  const uint64_t before = gin.readSignal(arrived);
  ncclGinBarrierSession<ncclCoopCta> barrier(block, gin, ncclTeamTagWorld{}, blockIdx.x);
  barrier.sync(block, cuda::memory_order_relaxed, ncclGinFenceLevel::None);

  constexpr size_t bytes = kFloatsPerBlock * sizeof(float);
  const size_t share = blockIdx.x * bytes;
  const size_t chunk = kFloatsPerPair * sizeof(float);
  for (int peer = static_cast<int>(threadIdx.x); peer < world.nRanks; peer += static_cast<int>(blockDim.x)) {
    gin.put(world, peer, receive, static_cast<size_t>(world.rank) * chunk + share, send, static_cast<size_t>(peer) * chunk + share,
            bytes, ncclGin_WeakSignalInc{arrived});
  }
  gin.waitSignal(block, arrived, before + static_cast<uint64_t>(world.nRanks));
  gin.flush(block);
  barrier.sync(block, cuda::memory_order_release, ncclGinFenceLevel::None);
}

int exchange(RankEnv& env) {
  const size_t floats = kFloatsPerPair * static_cast<size_t>(env.ranks);
  const size_t bytes = floats * sizeof(float);
  void *send_buffer, *receive_buffer;
  ncclWindow_t send, receive;
  CHECK_NCCL(ncclMemAlloc(&send_buffer, bytes));
  CHECK_NCCL(ncclMemAlloc(&receive_buffer, bytes));
  CHECK_NCCL(ncclCommWindowRegister(env.comm, send_buffer, bytes, &send, NCCL_WIN_COLL_SYMMETRIC));
  CHECK_NCCL(ncclCommWindowRegister(env.comm, receive_buffer, bytes, &receive, NCCL_WIN_COLL_SYMMETRIC));

  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  requirements.ginContextCount = kBlocks;
  requirements.ginSignalCount = kBlocks;
  requirements.worldGinBarrierCount = kBlocks;
  ncclDevComm device_comm;
  CHECK_NCCL(ncclDevCommCreate(env.comm, &requirements, &device_comm));

  std::vector<float> host(floats);
  for (int peer = 0; peer < env.ranks; ++peer) {
    for (size_t i = 0; i < kFloatsPerPair; ++i) host[static_cast<size_t>(peer) * kFloatsPerPair + i] = value_of(env.rank, peer, i);
  }
  CHECK_CUDA(cudaMemcpyAsync(send_buffer, host.data(), bytes, cudaMemcpyHostToDevice, env.stream));

  cudaEvent_t start, stop;
  CHECK_CUDA(cudaEventCreate(&start));
  CHECK_CUDA(cudaEventCreate(&stop));
  CHECK_CUDA(cudaEventRecord(start, env.stream));
  alltoall<<<kBlocks, kThreads, 0, env.stream>>>(device_comm, send, receive);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaEventRecord(stop, env.stream));
  std::vector<float> received(floats);
  CHECK_CUDA(cudaMemcpyAsync(received.data(), receive_buffer, bytes, cudaMemcpyDeviceToHost, env.stream));
  CHECK_CUDA(cudaStreamSynchronize(env.stream));
  float elapsed_ms = 0;
  CHECK_CUDA(cudaEventElapsedTime(&elapsed_ms, start, stop));

  int wrong = 0;
  for (int source = 0; source < env.ranks; ++source) {
    for (size_t i = 0; i < kFloatsPerPair; ++i) {
      const float got = received[static_cast<size_t>(source) * kFloatsPerPair + i];
      const float want = value_of(source, env.rank, i);
      if (got != want && wrong++ == 0) {
        std::printf("rank %d: from %d, element %zu: %.1f, should be %.1f\n", env.rank, source, i, got, want);
      }
    }
  }
  std::printf("rank %d of %d, LSA %d of %d: %zu bytes from each rank in %.2f ms: %s\n", env.rank, env.ranks, device_comm.lsaRank,
              device_comm.lsaSize, kFloatsPerPair * sizeof(float), elapsed_ms, wrong == 0 ? "PASSED" : "FAILED");
  print_digest(env, received.data(), bytes);

  CHECK_CUDA(cudaEventDestroy(start));
  CHECK_CUDA(cudaEventDestroy(stop));
  CHECK_NCCL(ncclDevCommDestroy(env.comm, &device_comm));
  CHECK_NCCL(ncclCommWindowDeregister(env.comm, send));
  CHECK_NCCL(ncclCommWindowDeregister(env.comm, receive));
  CHECK_NCCL(ncclMemFree(send_buffer));
  CHECK_NCCL(ncclMemFree(receive_buffer));
  return wrong;
}

}  // namespace

int main(int argc, char** argv) { return run_example(argc, argv, exchange); }
