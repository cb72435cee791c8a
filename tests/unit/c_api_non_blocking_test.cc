// SPDX-License-Identifier: Apache-2.0
// Communicators with config.blocking = 0: what goes on in the background, what is refused meanwhile, and where its
// result is told (contract 2.1, 2.3, 3.4). One thread drives all ranks: nothing may wait.
#include <array>
#include <chrono>

#include "support/reaches.h"
#include "unit/nccl_ranks.h"

namespace anygin::comm {
namespace {

using Clock = std::chrono::steady_clock;

ncclConfig_t non_blocking() {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  return config;
}

ncclResult_t state_of(ncclComm_t comm) {
  ncclResult_t state = ncclInternalError;
  ANYGIN_NCCL_OK(ncclCommGetAsyncError(comm, &state));
  return state;
}

// Polls for 10 s at most.
ncclResult_t settle(ncclComm_t comm) {
  const auto until = Clock::now() + std::chrono::seconds(10);
  ncclResult_t state = ncclInProgress;
  while (state == ncclInProgress && Clock::now() < until) state = state_of(comm);
  return state;
}

#define ANYGIN_GOES_ON(call) EXPECT_EQ(call, ncclInProgress) << ncclGetLastError(nullptr)

// Two ranks of one thread, joined.
class NonBlocking : public ::testing::Test {
 protected:
  void SetUp() override {
    ncclUniqueId id;
    ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
    ncclConfig_t config = non_blocking();
    for (int rank = 0; rank < 2; ++rank) ANYGIN_GOES_ON(ncclCommInitRankConfig(&comms_[rank], 2, id, rank, &config));
    for (ncclComm_t comm : comms_) {
      ASSERT_NE(comm, nullptr);
      ASSERT_EQ(settle(comm), ncclSuccess) << last_error();
    }
  }
  void TearDown() override { end(comms_); }
  static void end(const std::array<ncclComm_t, 2>& comms) {
    for (ncclComm_t comm : comms) {
      if (comm == nullptr) continue;
      ANYGIN_GOES_ON(ncclCommFinalize(comm));
    }
    for (ncclComm_t comm : comms) {
      if (comm == nullptr) continue;
      EXPECT_EQ(settle(comm), ncclSuccess) << last_error();
      ANYGIN_NCCL_OK(ncclCommDestroy(comm));
    }
  }
  std::array<ncclComm_t, 2> comms_{};
};

TEST(NonBlockingJoin, TheHandleIsThereAtOnceAndRefusesCallsUntilAllHaveJoined) {
  ncclUniqueId id;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  ncclConfig_t config = non_blocking();
  ncclComm_t comms[2] = {};
  ANYGIN_GOES_ON(ncclCommInitRankConfig(&comms[0], 2, id, 0, &config));
  REACHES(GIN_ERR_IN_PROGRESS, last_error());
  ASSERT_NE(comms[0], nullptr);
  EXPECT_EQ(state_of(comms[0]), ncclInProgress);
  int count = 0;
  EXPECT_EQ(ncclCommCount(comms[0], &count), ncclInvalidArgument);
  REACHES(GIN_ERR_COMM_BUSY, last_error());
  ncclComm_t child = nullptr;
  EXPECT_EQ(ncclCommSplit(comms[0], 0, 0, &child, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommFinalize(comms[0]), ncclInvalidArgument);
  EXPECT_EQ(ncclCommRevoke(comms[0], 0), ncclInvalidArgument);
  EXPECT_EQ(ncclTeamWorld(comms[0]).nRanks, 0);
  ANYGIN_GOES_ON(ncclCommInitRankConfig(&comms[1], 2, id, 1, &config));
  for (ncclComm_t comm : comms) {
    EXPECT_EQ(settle(comm), ncclSuccess) << last_error();
    ANYGIN_NCCL_OK(ncclCommCount(comm, &count));
    EXPECT_EQ(count, 2);
    ANYGIN_NCCL_OK(ncclCommDestroy(comm));
  }
}

TEST(NonBlockingJoin, AFailureIsTheAsynchronousError) {
  ncclUniqueId id;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  ncclConfig_t config = non_blocking();
  ncclComm_t comms[2] = {};
  ANYGIN_GOES_ON(ncclCommInitRankConfig(&comms[0], 2, id, 0, &config));
  ANYGIN_GOES_ON(ncclCommInitRankConfig(&comms[1], 3, id, 1, &config));
  for (ncclComm_t comm : comms) {
    EXPECT_EQ(settle(comm), ncclInvalidUsage);
    REACHES(GIN_ERR_JOIN_REFUSED, last_error());
    int count = 0;
    EXPECT_EQ(ncclCommCount(comm, &count), ncclInvalidUsage);
  }
  ANYGIN_NCCL_OK(ncclCommDestroy(comms[0]));
  ANYGIN_NCCL_OK(ncclCommAbort(comms[1]));
}

TEST(NonBlockingJoin, AnAbortDoesNotWaitForTheOthers) {
  ncclUniqueId id;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  ncclConfig_t config = non_blocking();
  ncclComm_t comm = nullptr, other = nullptr;
  ANYGIN_GOES_ON(ncclCommInitRankConfig(&comm, 2, id, 0, &config));
  const auto since = Clock::now();
  ANYGIN_NCCL_OK(ncclCommAbort(comm));
  EXPECT_LT(Clock::now() - since, std::chrono::seconds(1));
  EXPECT_EQ(ncclCommAbort(comm), ncclInvalidArgument);
  // Who comes now finds a rank that has gone.
  ANYGIN_GOES_ON(ncclCommInitRankConfig(&other, 2, id, 1, &config));
  ncclResult_t state = settle(other);
  for (const auto until = Clock::now() + std::chrono::seconds(5); state == ncclSuccess && Clock::now() < until;) {
    state = state_of(other);
  }
  EXPECT_EQ(state, ncclRemoteError);
  ANYGIN_NCCL_OK(ncclCommAbort(other));
}

TEST_F(NonBlocking, WindowsAndDeviceCommunicators) {
  const DeviceMemory memory(8192);
  ncclWindow_t windows[2] = {};
  ANYGIN_GOES_ON(ncclCommWindowRegister(comms_[0], memory.at(), 4096, &windows[0], NCCL_WIN_COLL_SYMMETRIC));
  EXPECT_EQ(windows[0], nullptr);
  EXPECT_EQ(state_of(comms_[0]), ncclInProgress);
  ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  ncclDevComm dev_comms[2];
  EXPECT_EQ(ncclDevCommCreate(comms_[0], &reqs, &dev_comms[0]), ncclInvalidArgument);  // busy
  EXPECT_EQ(ncclAllReduce(memory.at(), memory.at(), 1, ncclInt8, ncclSum, comms_[0], nullptr), ncclInvalidArgument);
  ANYGIN_GOES_ON(ncclCommWindowRegister(comms_[1], memory.at(4096), 4096, &windows[1], NCCL_WIN_COLL_SYMMETRIC));
  for (int rank = 0; rank < 2; ++rank) {
    ASSERT_EQ(settle(comms_[rank]), ncclSuccess) << last_error();
    EXPECT_NE(windows[rank], nullptr);
  }
  for (int rank = 0; rank < 2; ++rank) ANYGIN_GOES_ON(ncclDevCommCreate(comms_[rank], &reqs, &dev_comms[rank]));
  for (int rank = 0; rank < 2; ++rank) {
    ASSERT_EQ(settle(comms_[rank]), ncclSuccess) << last_error();
    EXPECT_EQ(dev_comms[rank].rank, rank);
    ANYGIN_NCCL_OK(ncclDevCommDestroy(comms_[rank], &dev_comms[rank]));
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comms_[rank], windows[rank]));
  }
}

// What only goes on a stream is there when the call returns.
TEST_F(NonBlocking, AGroupOfCollectivesIsEnqueuedAtOnce) {
  const DeviceMemory memory(256);
  auto* const words = reinterpret_cast<int32_t*>(memory.at());
  words[0] = 3;
  words[1] = 4;
  cudaStream_t streams[2];
  for (cudaStream_t& stream : streams) ASSERT_EQ(cudaStreamCreate(&stream), cudaSuccess);
  ANYGIN_NCCL_OK(ncclGroupStart());
  for (int rank = 0; rank < 2; ++rank) {
    ANYGIN_NCCL_OK(ncclAllReduce(words + rank, words + 8 + rank, 1, ncclInt32, ncclSum, comms_[rank], streams[rank]));
  }
  ANYGIN_NCCL_OK(ncclGroupEnd());
  for (ncclComm_t comm : comms_) EXPECT_EQ(state_of(comm), ncclSuccess);
  for (cudaStream_t stream : streams) {
    ASSERT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    ASSERT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  }
  EXPECT_EQ(words[8], 7);
  EXPECT_EQ(words[9], 7);
}

TEST_F(NonBlocking, ARefusedOperationIsTheAsynchronousErrorToo) {
  EXPECT_EQ(ncclSignal(2, 0, 0, 0, comms_[0], nullptr), ncclInvalidArgument);
  EXPECT_EQ(state_of(comms_[0]), ncclInvalidArgument);
  REACHES(GIN_ERR_RANK_OUT_OF_RANGE, last_error());
  EXPECT_EQ(state_of(comms_[1]), ncclSuccess);
  for (ncclComm_t& comm : comms_) {
    ANYGIN_NCCL_OK(ncclCommAbort(comm));
    comm = nullptr;
  }
}

TEST_F(NonBlocking, SplitAndShrinkHandOutChildrenAtOnce) {
  std::array<ncclComm_t, 2> children{}, none{};
  ANYGIN_GOES_ON(ncclCommSplit(comms_[0], 0, 1, &children[0], nullptr));
  ASSERT_NE(children[0], nullptr);
  EXPECT_EQ(state_of(comms_[0]), ncclInProgress);
  EXPECT_EQ(state_of(children[0]), ncclInProgress);
  ANYGIN_GOES_ON(ncclCommSplit(comms_[1], 0, 0, &children[1], nullptr));
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(settle(comms_[rank]), ncclSuccess) << last_error();
    EXPECT_EQ(settle(children[rank]), ncclSuccess) << last_error();
    int own = -1;
    ANYGIN_NCCL_OK(ncclCommUserRank(children[rank], &own));
    EXPECT_EQ(own, 1 - rank);
  }
  end(children);
  for (int rank = 0; rank < 2; ++rank) {
    ANYGIN_GOES_ON(ncclCommSplit(comms_[rank], NCCL_SPLIT_NOCOLOR, 0, &none[rank], nullptr));
  }
  for (int rank = 0; rank < 2; ++rank) {
    EXPECT_EQ(settle(comms_[rank]), ncclSuccess) << last_error();
    EXPECT_EQ(none[rank], nullptr);
  }
  int excluded[] = {1};
  ncclComm_t alone = nullptr;
  ANYGIN_GOES_ON(ncclCommShrink(comms_[0], excluded, 1, &alone, nullptr, NCCL_SHRINK_DEFAULT));
  EXPECT_EQ(settle(alone), ncclSuccess) << last_error();
  EXPECT_EQ(settle(comms_[0]), ncclSuccess) << last_error();
  ANYGIN_NCCL_OK(ncclCommDestroy(alone));
}

TEST_F(NonBlocking, OneGroupIsOfOneKind) {
  ncclComm_t blocking = nullptr;
  ANYGIN_NCCL_OK(ncclCommInitAll(&blocking, 1, nullptr));
  const DeviceMemory memory(4096);
  ncclWindow_t window = nullptr, other = nullptr;
  ANYGIN_NCCL_OK(ncclGroupStart());
  ANYGIN_NCCL_OK(ncclCommWindowRegister(blocking, memory.at(), 4096, &window, 0));
  EXPECT_EQ(ncclCommWindowRegister(comms_[0], memory.at(), 4096, &other, 0), ncclInvalidArgument);
  REACHES(GIN_ERR_BLOCKING_MIXED, last_error());
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_EQ(window, nullptr);  // nothing was launched
  EXPECT_EQ(state_of(comms_[0]), ncclSuccess);
  ANYGIN_NCCL_OK(ncclCommDestroy(blocking));
}

TEST(NonBlockingJoin, InAGroup) {
  ncclUniqueId id;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  ncclConfig_t config = non_blocking();
  ncclComm_t comms[3] = {};
  ANYGIN_NCCL_OK(ncclGroupStart());
  for (int rank = 0; rank < 3; ++rank) ANYGIN_NCCL_OK(ncclCommInitRankConfig(&comms[rank], 3, id, rank, &config));
  EXPECT_EQ(comms[0], nullptr);
  ANYGIN_GOES_ON(ncclGroupEnd());
  for (ncclComm_t comm : comms) EXPECT_EQ(settle(comm), ncclSuccess) << last_error();
  for (ncclComm_t comm : comms) ANYGIN_GOES_ON(ncclCommFinalize(comm));
  for (ncclComm_t comm : comms) EXPECT_EQ(settle(comm), ncclSuccess) << last_error();
  EXPECT_EQ(ncclCommFinalize(comms[0]), ncclInvalidArgument);
  for (ncclComm_t comm : comms) ANYGIN_NCCL_OK(ncclCommDestroy(comm));
}

}  // namespace
}  // namespace anygin::comm
