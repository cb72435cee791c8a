// SPDX-License-Identifier: Apache-2.0
// Communicators come and go on the same devices; after each round, what the process holds is printed.
//   rounds ROUNDS
#include <malloc.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "../../../examples/common.h"

namespace {

constexpr int kRanks = 3;
constexpr size_t kHalf = 4096;

__global__ void exchange(ncclDevComm comm, ncclWindow_t window) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  for (int peer = threadIdx.x; peer < world.nRanks; peer += blockDim.x) {
    gin.put(world, peer, window, 64 * world.rank, window, kHalf, 64, ncclGin_SignalInc{0});
  }
  gin.waitSignal(block, 0, static_cast<uint64_t>(world.nRanks));
  gin.flush(block);
}

void use(ncclComm_t comm, int rank, cudaStream_t stream) {
  void* buffer = nullptr;
  CHECK_NCCL(ncclMemAlloc(&buffer, 2 * kHalf));
  ncclWindow_t window;
  CHECK_NCCL(ncclCommWindowRegister(comm, buffer, 2 * kHalf, &window, NCCL_WIN_COLL_SYMMETRIC));
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  requirements.ginSignalCount = 1;
  ncclDevComm dev_comm;
  CHECK_NCCL(ncclDevCommCreate(comm, &requirements, &dev_comm));
  exchange<<<1, 32, 0, stream>>>(dev_comm, window);
  CHECK_NCCL(ncclPutSignal(buffer, 64, ncclInt8, (rank + 1) % kRanks, window, 0, 0, 0, 0, comm, stream));
  ncclWaitSignalDesc_t from{1, (rank + kRanks - 1) % kRanks, 0, 0};
  CHECK_NCCL(ncclWaitSignal(1, &from, comm, stream));
  CHECK_NCCL(ncclAllReduce(buffer, static_cast<char*>(buffer) + kHalf, 16, ncclInt32, ncclSum, comm, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK_NCCL(ncclDevCommDestroy(comm, &dev_comm));
  CHECK_NCCL(ncclCommWindowDeregister(comm, window));
  CHECK_NCCL(ncclMemFree(buffer));
}

void rank_of_a_round(int rank, const ncclUniqueId& id) {
  CHECK_CUDA(cudaSetDevice(rank));
  ncclComm_t comm;
  CHECK_NCCL(ncclCommInitRank(&comm, kRanks, id, rank));
  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreate(&stream));
  use(comm, rank, stream);
  ncclComm_t child;
  CHECK_NCCL(ncclCommSplit(comm, 0, -rank, &child, nullptr));
  use(child, kRanks - 1 - rank, stream);
  CHECK_NCCL(ncclCommDestroy(child));
  CHECK_CUDA(cudaStreamDestroy(stream));
  CHECK_NCCL(ncclCommDestroy(comm));
}

void run_round() {
  ncclUniqueId id;
  CHECK_NCCL(ncclGetUniqueId(&id));
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < kRanks; ++rank) ranks.emplace_back(rank_of_a_round, rank, id);
  for (std::thread& rank : ranks) rank.join();
}

long lines_in(const char* file) {
  std::ifstream in(file);
  long lines = 0;
  for (std::string line; std::getline(in, line);) ++lines;
  return lines;
}

long entries_in(const char* folder) {
  const std::filesystem::directory_iterator all(folder);
  return std::distance(begin(all), end(all));
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
  for (int round = 0; round < rounds; ++round) {
    run_round();
    malloc_trim(0);
    std::printf("%ld %ld %ld %zu\n", entries_in("/proc/self/fd"), entries_in("/proc/self/task"),
                lines_in("/proc/self/maps"), mallinfo2().uordblks);
  }
  return 0;
}
