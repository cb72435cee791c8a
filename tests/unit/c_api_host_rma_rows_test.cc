// SPDX-License-Identifier: Apache-2.0
// Host one-sided operations and the state of their communicator: rows 2 and 3 of contract 3.1, groups of two kinds of
// communicators, and a put of more than a gibibyte. Row 7 (an old CUDA driver) cannot be met: the driver's face
// says 13.0.
#include <cuda.h>

#include <chrono>
#include <thread>

#include "anygin/comm/communicator.h"
#include "anygin/comm/host_queue.h"
#include "support/sanitizer_sizes.h"
#include "unit/rma_rank.h"

namespace anygin::comm {
namespace {

// All three calls, each with a peer out of range: what comes first is said.
void expect_all(ncclComm_t comm, ncclWindow_t window, void* source, ncclResult_t want) {
  EXPECT_EQ(ncclPutSignal(source, 1, ncclInt8, 99, window, 0, 0, 0, 0, comm, nullptr), want) << last_error();
  EXPECT_EQ(ncclSignal(99, 0, 0, 0, comm, nullptr), want) << last_error();
  EXPECT_EQ(ncclWaitSignal(0, nullptr, comm, nullptr), want) << last_error();
}

TEST(CApiHostRmaRows, Row2RevokedCommunicatorsRefuse) {
  ncclComm_t comm = nullptr;
  ANYGIN_NCCL_OK(ncclCommInitAll(&comm, 1, nullptr));
  const DeviceMemory memory(4096);
  ncclWindow_t window = nullptr;
  ANYGIN_NCCL_OK(ncclCommWindowRegister(comm, memory.at(), 4096, &window, NCCL_WIN_COLL_SYMMETRIC));
  expect_all(comm, window, memory.at(), ncclInvalidArgument);
  ANYGIN_NCCL_OK(ncclCommRevoke(comm, NCCL_REVOKE_DEFAULT));
  expect_all(comm, window, memory.at(), ncclInvalidUsage);
  EXPECT_TRUE(last_error_says("revoked")) << last_error();
  ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, window));
  ANYGIN_NCCL_OK(ncclCommAbort(comm));
}

TEST(CApiHostRmaRows, Row3CommunicatorsThatStillJoinRefuse) {
  ncclUniqueId id;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  ncclComm_t comms[2] = {};
  EXPECT_EQ(ncclCommInitRankConfig(&comms[0], 2, id, 0, &config), ncclInProgress);
  EXPECT_EQ(ncclSignal(0, 0, 0, 0, comms[0], nullptr), ncclInvalidArgument);  // rank 1 is not there yet
  EXPECT_EQ(ncclCommInitRankConfig(&comms[1], 2, id, 1, &config), ncclInProgress);
  for (ncclComm_t comm : comms) {
    ncclResult_t state = ncclInProgress;
    for (int turn = 0; turn < 10000 && state == ncclInProgress; ++turn) {
      ANYGIN_NCCL_OK(ncclCommGetAsyncError(comm, &state));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    ASSERT_EQ(state, ncclSuccess) << last_error();
  }
  cudaStream_t stream = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
  ANYGIN_NCCL_OK(ncclSignal(0, 0, 0, 0, comms[0], stream));  // the corrected call: they have joined
  ncclWaitSignalDesc_t one{1, 0, 0, 0};
  ANYGIN_NCCL_OK(ncclWaitSignal(1, &one, comms[0], stream));
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);

  // A blocking one in the same group: the group does nothing.
  ncclComm_t blocking = nullptr;
  ANYGIN_NCCL_OK(ncclCommInitAll(&blocking, 1, nullptr));
  ANYGIN_NCCL_OK(ncclGroupStart());
  ANYGIN_NCCL_OK(ncclSignal(0, 0, 0, 0, blocking, stream));
  EXPECT_EQ(ncclSignal(0, 0, 0, 0, comms[0], stream), ncclInvalidArgument);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
  ANYGIN_NCCL_OK(ncclWaitSignal(1, &one, blocking, stream));
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady) << "the group's signal was not sent";
  cudaStream_t aside = nullptr;
  ASSERT_EQ(cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking), cudaSuccess);
  ANYGIN_NCCL_OK(ncclSignal(0, 0, 0, 0, blocking, aside));
  EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(aside), cudaSuccess);
  for (cudaStream_t one_of_both : {stream, aside}) EXPECT_EQ(cudaStreamDestroy(one_of_both), cudaSuccess);
  ANYGIN_NCCL_OK(ncclCommDestroy(blocking));
  for (ncclComm_t comm : comms) ANYGIN_NCCL_OK(ncclCommAbort(comm));
}

TEST(CApiHostRmaRows, Row7TheDriverIsNew) {
  int version = 0;
  EXPECT_EQ(cudaDriverGetVersion(&version), cudaSuccess);
  EXPECT_GE(version, 12050);
}

// Words at both ends, and on both sides of where the put is cut.
TEST(CApiHostRmaRows, MoreThanAGibibyteIsOneSignal) {
#if defined(ANYGIN_SANITIZE_ADDRESS)
  const size_t piece = size_t{1} << 20;  // there memory is slow
#else
  const size_t piece = testing::size_under_tsan(size_t{1} << 30, size_t{1} << 20);
#endif
  const size_t bytes = piece + 4096, window_bytes = bytes + 4096;
  const size_t places[] = {0, piece - 8, piece, bytes - 8};
  on_comms(2, [&](ncclComm_t comm, int rank) {
    EXPECT_EQ(cudaSetDevice(rank), cudaSuccess);
    const DeviceMemory memory(window_bytes);
    ncclWindow_t window = nullptr;
    ASSERT_EQ(ncclCommWindowRegister(comm, memory.at(), window_bytes, &window, NCCL_WIN_COLL_SYMMETRIC), ncclSuccess)
        << last_error();
    reinterpret_cast<Communicator*>(comm)->host_queue()->set_piece_bytes_for_test(piece);
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    const auto word = [&](size_t at) -> uint64_t& { return *reinterpret_cast<uint64_t*>(memory.at(at)); };
    ncclWaitSignalDesc_t one{1, 1 - rank, 0, 0};
    if (rank == 0) {
      for (const size_t place : places) word(place) = 1000 + place;
      ANYGIN_NCCL_OK(ncclPutSignal(memory.at(), bytes, ncclUint8, 1, window, 4096, 0, 0, 0, comm, stream));
      ANYGIN_NCCL_OK(ncclWaitSignal(1, &one, comm, stream));  // the other one has seen that there is no second signal
      EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
      ANYGIN_NCCL_OK(ncclSignal(1, 0, 0, 0, comm, stream));
    } else {
      ANYGIN_NCCL_OK(ncclWaitSignal(1, &one, comm, stream));
      EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
      for (const size_t place : places) EXPECT_EQ(word(4096 + place), 1000 + place);
      ANYGIN_NCCL_OK(ncclWaitSignal(1, &one, comm, stream));
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      EXPECT_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
      cudaStream_t aside = nullptr;
      ASSERT_EQ(cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking), cudaSuccess);
      ANYGIN_NCCL_OK(ncclSignal(0, 0, 0, 0, comm, aside));
      EXPECT_EQ(cudaStreamSynchronize(aside), cudaSuccess);
      EXPECT_EQ(cudaStreamDestroy(aside), cudaSuccess);
    }
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, window));
  });
}

}  // namespace
}  // namespace anygin::comm
