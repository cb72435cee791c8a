// SPDX-License-Identifier: Apache-2.0
// One rank of a test of host one-sided operations: device, stream, and a window whose lower half is a destination and
// whose upper half is a source.
#pragma once

#include <cuda_runtime.h>

#include <cstring>

#include "unit/nccl_ranks.h"

namespace anygin::comm {

class RmaRank {
 public:
  RmaRank(ncclComm_t comm, int rank, size_t bytes) : comm_(comm), rank_(rank), memory_(bytes), bytes_(bytes) {
    EXPECT_EQ(cudaSetDevice(rank), cudaSuccess);
    EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), cudaSuccess);
    std::memset(memory_.at(), 0, bytes);
    ANYGIN_NCCL_OK(ncclCommWindowRegister(comm, memory_.at(), bytes, &window_, NCCL_WIN_COLL_SYMMETRIC));
  }
  ~RmaRank() {
    meet();
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm_, window_));
    EXPECT_EQ(cudaStreamDestroy(stream_), cudaSuccess);
  }

  ncclComm_t comm() const { return comm_; }
  int rank() const { return rank_; }
  ncclWindow_t window() const { return window_; }
  cudaStream_t stream() const { return stream_; }
  uint32_t* words(size_t byte = 0) { return reinterpret_cast<uint32_t*>(memory_.at(byte)); }
  uint32_t* source(size_t byte = 0) { return words(bytes_ / 2 + byte); }
  // Gives the source the words first, first + 1, ...
  void fill(uint32_t first, size_t count) {
    for (size_t i = 0; i < count; ++i) source()[i] = first + static_cast<uint32_t>(i);
  }

  ncclResult_t put(size_t count, int peer, size_t offset = 0) { return put_on(stream_, source(), count, peer, offset); }
  ncclResult_t put_on(cudaStream_t stream, const uint32_t* source, size_t count, int peer, size_t offset = 0) {
    return ncclPutSignal(source, count, ncclUint32, peer, window_, offset, 0, 0, 0, comm_, stream);
  }
  ncclResult_t signal(int peer) { return ncclSignal(peer, 0, 0, 0, comm_, stream_); }
  ncclResult_t wait(int peer, int count) { return wait_on(stream_, peer, count); }
  ncclResult_t wait_on(cudaStream_t stream, int peer, int count) {
    ncclWaitSignalDesc_t one{count, peer, 0, 0};
    return ncclWaitSignal(1, &one, comm_, stream);
  }
  void finish() { EXPECT_EQ(cudaStreamSynchronize(stream_), cudaSuccess) << "rank " << rank_ << ": " << last_error(); }
  // Runs `work` on the host when the stream gets there.
  void then(std::function<void()> work) {
    EXPECT_EQ(cudaLaunchHostFunc(
                  stream_,
                  [](void* kept) {
                    auto* once = static_cast<std::function<void()>*>(kept);
                    (*once)();
                    delete once;
                  },
                  new std::function<void()>(std::move(work))),
              cudaSuccess);
  }
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

inline void on_rma_ranks(int size, size_t bytes, const std::function<void(RmaRank&)>& body) {
  on_comms(size, [&](ncclComm_t comm, int rank) {
    RmaRank mine(comm, rank, bytes);
    body(mine);
  });
}

}  // namespace anygin::comm
