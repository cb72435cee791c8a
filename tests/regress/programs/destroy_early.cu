// SPDX-License-Identifier: Apache-2.0
// Communicators are destroyed right behind the launch of kernels that wait for each other: each kernel must come to its
// end, in memory that is still there.
//   destroy_early ROUNDS
#include <string>

#include "../../../examples/common.h"

namespace {

constexpr int kRanks = 2;

// Each rank waits a little longer than the other, in turn.
__global__ void meet(ncclDevComm comm, uint64_t delay_ns, unsigned* met) {
  const ncclGin gin(comm, 0);
  const long long until = clock64() + static_cast<long long>(delay_ns);
  while (clock64() < until) {
  }
  gin.signal(ncclTeamWorld(comm), 1 - comm.rank, ncclGin_StrongSignalInc{0});
  gin.waitSignal(ncclCoopThread{}, 0, 1);
  *met += 1;
}

void round(int rank, int number, const ncclUniqueId& id, unsigned* met) {
  CHECK_CUDA(cudaSetDevice(rank));
  ncclComm_t comm;
  cudaStream_t stream;
  CHECK_NCCL(ncclCommInitRank(&comm, kRanks, id, rank));
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  requirements.ginSignalCount = 1;
  ncclDevComm dev_comm;
  CHECK_NCCL(ncclDevCommCreate(comm, &requirements, &dev_comm));
  meet<<<1, 1, 0, stream>>>(dev_comm, number % kRanks == rank ? 2'000'000 : 0, met);
  CHECK_NCCL(ncclCommDestroy(comm));
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK_CUDA(cudaStreamDestroy(stream));
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc > 1 ? std::atoi(argv[1]) : 1;
  unsigned* met[kRanks];
  for (int rank = 0; rank < kRanks; ++rank) {
    CHECK_NCCL(ncclMemAlloc(reinterpret_cast<void**>(&met[rank]), sizeof(unsigned)));
    *met[rank] = 0;
  }
  for (int number = 0; number < rounds; ++number) {
    ncclUniqueId id;
    CHECK_NCCL(ncclGetUniqueId(&id));
    std::thread other([&] { round(1, number, id, met[1]); });
    round(0, number, id, met[0]);
    other.join();
  }
  std::printf("%u %u\n", *met[0], *met[1]);
  return 0;
}
