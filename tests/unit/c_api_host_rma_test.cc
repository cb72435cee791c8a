// SPDX-License-Identifier: Apache-2.0
// The host's one-sided operations through nccl.h: what arrives, in which order, and when a stream goes on.
#include <cuda_runtime.h>

#include <cstring>

#include "unit/nccl_ranks.h"

namespace anygin::comm {
namespace {

// A rank's stream, and a window of `bytes` that is a destination below the middle and a source above.
class RmaRank {
 public:
  RmaRank(ncclComm_t comm, int rank, size_t bytes) : comm_(comm), rank_(rank), memory_(bytes), bytes_(bytes) {
    EXPECT_EQ(cudaSetDevice(rank), cudaSuccess);
    EXPECT_EQ(cudaStreamCreate(&stream_), cudaSuccess);
    std::memset(memory_.at(), 0, bytes);
    ANYGIN_NCCL_OK(ncclCommWindowRegister(comm, memory_.at(), bytes, &window_, NCCL_WIN_COLL_SYMMETRIC));
  }
  ~RmaRank() {
    meet();
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm_, window_));
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
  }

  uint32_t* words(size_t byte = 0) { return reinterpret_cast<uint32_t*>(memory_.at(byte)); }
  uint32_t* source() { return words(bytes_ / 2); }
  ncclWindow_t window() const { return window_; }
  cudaStream_t stream() const { return stream_; }

  ncclResult_t put(size_t count, int peer, size_t offset = 0) {
    return ncclPutSignal(source(), count, ncclUint32, peer, window_, offset, 0, 0, 0, comm_, stream_);
  }
  ncclResult_t signal(int peer) { return ncclSignal(peer, 0, 0, 0, comm_, stream_); }
  ncclResult_t wait(int peer, int count) {
    ncclWaitSignalDesc_t one{count, peer, 0, 0};
    return ncclWaitSignal(1, &one, comm_, stream_);
  }
  void finish() { EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess) << "rank " << rank_; }
  // All ranks were here.
  void meet() {
    const DeviceMemory memory(8);
    ncclWindow_t barrier = nullptr;
    ANYGIN_NCCL_OK(ncclCommWindowRegister(comm_, memory.at(), 8, &barrier, NCCL_WIN_DEFAULT));
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm_, barrier));
  }

 private:
  const ncclComm_t comm_;
  const int rank_;
  DeviceMemory memory_;
  const size_t bytes_;
  ncclWindow_t window_ = nullptr;
  cudaStream_t stream_ = nullptr;
};

TEST(CApiHostRma, APutIsThereWhenItsSignalWasWaitedFor) {
  on_comms(2, [](ncclComm_t comm, int rank) {
    RmaRank mine(comm, rank, 8192);
    for (uint32_t i = 0; i < 1024; ++i) mine.source()[i] = 1000u * static_cast<uint32_t>(rank + 1) + i;
    if (rank == 0) {
      ASSERT_EQ(mine.put(1000, 1, 16), ncclSuccess) << last_error();
      mine.finish();
    } else {
      ASSERT_EQ(mine.wait(0, 1), ncclSuccess) << last_error();
      mine.finish();
      for (uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(mine.words(16)[i], 1000 + i) << i;
      EXPECT_EQ(mine.words(16)[1000], 0u);
      EXPECT_EQ(mine.words()[3], 0u);
    }
  });
}

}  // namespace
}  // namespace anygin::comm
