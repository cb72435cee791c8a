// SPDX-License-Identifier: Apache-2.0
// Communicators and groups through nccl.h: the error rows of contract 2.4, each with the corrected call.
#include <cstring>
#include <string>

#include "unit/nccl_ranks.h"

namespace anygin::comm {
namespace {

TEST(CApiComm, SixteenThreadsJoinAndAsk) {
  on_comms(16, [](ncclComm_t comm, int rank) {
    int count = 0, own = -1, device = -1;
    ANYGIN_NCCL_OK(ncclCommCount(comm, &count));
    ANYGIN_NCCL_OK(ncclCommUserRank(comm, &own));
    ANYGIN_NCCL_OK(ncclCommCuDevice(comm, &device));
    EXPECT_EQ(count, 16);
    EXPECT_EQ(own, rank);
    EXPECT_EQ(device, 0);
    ncclResult_t async = ncclInternalError;
    ANYGIN_NCCL_OK(ncclCommGetAsyncError(comm, &async));
    EXPECT_EQ(async, ncclSuccess);
  });
}

TEST(CApiComm, VersionAndErrorStrings) {
  int version = 0;
  ANYGIN_NCCL_OK(ncclGetVersion(&version));
  EXPECT_EQ(version, 23007);
  EXPECT_EQ(ncclGetVersion(nullptr), ncclInvalidArgument);
  EXPECT_STREQ(ncclGetErrorString(static_cast<ncclResult_t>(99)), "unknown result code");
  EXPECT_STREQ(ncclGetErrorString(ncclInvalidUsage), "invalid usage");
  EXPECT_EQ(pncclGetVersion(&version), ncclSuccess);
}

TEST(CApiComm, InitRankChecksItsArguments) {
  ncclUniqueId id;
  EXPECT_EQ(ncclGetUniqueId(nullptr), ncclInvalidArgument);
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  int something = 0;
  ncclComm_t comm = reinterpret_cast<ncclComm_t>(&something);
  EXPECT_EQ(ncclCommInitRank(nullptr, 1, id, 0), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRank(&comm, 0, id, 0), ncclInvalidArgument);
  EXPECT_EQ(comm, nullptr);
  EXPECT_TRUE(last_error_says("nranks is 0; 1 or more")) << last_error();
  EXPECT_EQ(ncclCommInitRank(&comm, 2, id, 2), ncclInvalidArgument);
  EXPECT_TRUE(last_error_says("rank is 2; 0 to 1")) << last_error();
  EXPECT_EQ(ncclCommInitRank(&comm, 2, id, -1), ncclInvalidArgument);
  ncclUniqueId other = id;
  other.internal[40] ^= 1;
  EXPECT_EQ(ncclCommInitRank(&comm, 1, other, 0), ncclInvalidArgument);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 2;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument);
  config.blocking = 1;
  EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclSuccess) << last_error();
  ANYGIN_NCCL_OK(ncclCommDestroy(comm));
}

TEST(CApiComm, HandlesThatAreNoCommunicatorAreRefused) {
  int count = 0;
  EXPECT_EQ(ncclCommCount(nullptr, &count), ncclInvalidArgument);
  EXPECT_EQ(ncclCommCount(reinterpret_cast<ncclComm_t>(&count), &count), ncclInvalidArgument);
  EXPECT_EQ(ncclCommDestroy(nullptr), ncclSuccess);
  EXPECT_EQ(ncclCommAbort(nullptr), ncclSuccess);
  EXPECT_EQ(ncclCommFinalize(nullptr), ncclSuccess);
  ncclComm_t comm = nullptr;
  ANYGIN_NCCL_OK(ncclCommInitAll(&comm, 1, nullptr));
  EXPECT_EQ(ncclCommCount(comm, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommCount(comm, &count), ncclSuccess);
  EXPECT_EQ(ncclCommFinalize(comm), ncclSuccess);
  EXPECT_EQ(ncclCommFinalize(comm), ncclInvalidArgument);
  EXPECT_EQ(ncclCommDestroy(comm), ncclSuccess);
  EXPECT_EQ(ncclCommDestroy(comm), ncclInvalidArgument);
}

TEST(CApiComm, InitAllByOneThread) {
  ncclComm_t comms[4] = {};
  EXPECT_EQ(ncclCommInitAll(nullptr, 4, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitAll(comms, -1, nullptr), ncclInvalidArgument);
  const int beyond[] = {0, 1000};
  EXPECT_EQ(ncclCommInitAll(comms, 2, beyond), ncclInvalidArgument);
  const int twice[] = {3, 3};
  EXPECT_EQ(ncclCommInitAll(comms, 2, twice), ncclInvalidUsage);
  const int devices[] = {3, 1, 0, 2};
  ASSERT_EQ(ncclCommInitAll(comms, 4, devices), ncclSuccess) << last_error();
  for (int rank = 0; rank < 4; ++rank) {
    int own = -1, device = -1;
    ANYGIN_NCCL_OK(ncclCommUserRank(comms[rank], &own));
    ANYGIN_NCCL_OK(ncclCommCuDevice(comms[rank], &device));
    EXPECT_EQ(own, rank);
    EXPECT_EQ(device, devices[rank]);
  }
  for (ncclComm_t comm : comms) ANYGIN_NCCL_OK(ncclCommDestroy(comm));
}

TEST(CApiComm, AGroupJoinsSeveralRanksOfOneThread) {
  ncclUniqueId id;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  ncclComm_t comms[3] = {};
  ANYGIN_NCCL_OK(ncclGroupStart());
  ANYGIN_NCCL_OK(ncclGroupStart());
  for (int rank = 0; rank < 3; ++rank) ANYGIN_NCCL_OK(ncclCommInitRank(&comms[rank], 3, id, rank));
  ANYGIN_NCCL_OK(ncclGroupEnd());
  EXPECT_EQ(comms[0], nullptr);  // nothing happens before the outermost end
  ANYGIN_NCCL_OK(ncclGroupEnd());
  for (ncclComm_t comm : comms) {
    ASSERT_NE(comm, nullptr);
    ANYGIN_NCCL_OK(ncclCommDestroy(comm));
  }
}

TEST(CApiComm, TheTextOfTheLastErrorStaysWhereItIs) {
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  const char* const kept = ncclGetLastError(nullptr);
  const std::string first = kept;
  EXPECT_EQ(ncclCommInitRank(nullptr, 1, ncclUniqueId{}, 0), ncclInvalidArgument);
  EXPECT_EQ(ncclGetLastError(nullptr), kept);
  EXPECT_NE(kept, first);
}

TEST(CApiComm, TheLastErrorOfAGroupIsItsResult) {
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  ncclUniqueId id;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  ncclComm_t comm = nullptr;
  ANYGIN_NCCL_OK(ncclGroupStart());
  EXPECT_EQ(ncclCommInitRank(&comm, 1, id, 0), ncclSuccess);
  EXPECT_EQ(ncclCommInitRank(nullptr, 1, id, 0), ncclInvalidArgument);
  ncclComm_t two[2];
  const int twice[] = {3, 3};
  EXPECT_EQ(ncclCommInitAll(two, 2, twice), ncclInvalidUsage);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  EXPECT_EQ(comm, nullptr);  // nothing was launched
  ANYGIN_NCCL_OK(ncclGroupStart());
  EXPECT_EQ(ncclCommInitRank(&comm, 1, id, 0), ncclSuccess);
  ANYGIN_NCCL_OK(ncclGroupEnd());
  ANYGIN_NCCL_OK(ncclCommDestroy(comm));
}

TEST(CApiComm, AbortReachesTheOtherRanks) {
  ncclUniqueId id;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  std::thread other([&] {
    ncclComm_t comm = nullptr;
    ASSERT_EQ(ncclCommInitRank(&comm, 2, id, 1), ncclSuccess) << last_error();
    ncclResult_t async = ncclSuccess;
    for (int turn = 0; turn < 1000 && async == ncclSuccess; ++turn) {
      ANYGIN_NCCL_OK(ncclCommGetAsyncError(comm, &async));
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(async, ncclRemoteError);
    EXPECT_TRUE(last_error_says("rank 0 ended it")) << last_error();
    int count = 0;
    EXPECT_EQ(ncclCommCount(comm, &count), ncclRemoteError);
    ANYGIN_NCCL_OK(ncclCommDestroy(comm));
  });
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclCommInitRank(&comm, 2, id, 0), ncclSuccess) << last_error();
  ANYGIN_NCCL_OK(ncclCommAbort(comm));
  other.join();
  EXPECT_EQ(ncclCommAbort(comm), ncclInvalidArgument);
}

TEST(CApiComm, CommIdIsAPlaceForOneCommunicatorAfterTheOther) {
  const int port = 30000 + static_cast<int>(::getpid() % 2500);  // no other test uses these
  const WithOptions with([port](Options& o) {
    o.nccl_comm_id = "127.0.0.1:" + std::to_string(port);
    o.comm_token = std::string(64, '5');
  });
  for (int turn = 0; turn < 5; ++turn) {
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 3; ++rank) {
      threads.emplace_back([rank] {
        ncclUniqueId id;
        ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
        ncclComm_t first = nullptr, second = nullptr;
        ASSERT_EQ(ncclCommInitRank(&first, 3, id, rank), ncclSuccess) << last_error();
        ASSERT_EQ(ncclCommInitRank(&second, 3, id, rank), ncclSuccess) << last_error();
        ANYGIN_NCCL_OK(ncclCommDestroy(second));
        ANYGIN_NCCL_OK(ncclCommDestroy(first));
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(CApiComm, CommIdNeedsATokenBeyondLoopback) {
  ncclUniqueId id;
  {
    const WithOptions with([](Options& o) { o.nccl_comm_id = "10.0.0.1:4000"; });
    EXPECT_EQ(ncclGetUniqueId(&id), ncclInvalidUsage);
    EXPECT_TRUE(last_error_says("ANYGIN_COMM_TOKEN")) << last_error();
  }
  const WithOptions with([](Options& o) {
    o.nccl_comm_id = "10.0.0.1:4000";
    o.comm_token = std::string(64, 'a');
  });
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
}

TEST(CApiComm, TopologyMustHoldTheRanks) {
  const WithOptions with([](Options& o) { o.topology.ranks_of_node = {2, 2}; });
  ncclComm_t comms[4] = {};
  EXPECT_EQ(ncclCommInitAll(comms, 3, nullptr), ncclInvalidUsage);
  EXPECT_TRUE(last_error_says("nodes of 2+2 holds 4 ranks, the communicator has 3")) << last_error();
  ASSERT_EQ(ncclCommInitAll(comms, 4, nullptr), ncclSuccess) << last_error();
  // covers: ncclTeamWorld(ncclComm_t); ncclTeamLsa(ncclComm_t); ncclTeamRail(ncclComm_t)
  const ncclTeam_t lsa = ncclTeamLsa(comms[3]), rail = ncclTeamRail(comms[3]), world = ncclTeamWorld(comms[3]);
  EXPECT_EQ(lsa.nRanks, 2);
  EXPECT_EQ(lsa.rank, 1);
  EXPECT_EQ(rail.nRanks, 2);
  EXPECT_EQ(rail.rank, 1);
  EXPECT_EQ(rail.stride, 2);
  EXPECT_EQ(world.rank, 3);
  // covers: ncclTeamRankToWorld(ncclComm_t); ncclTeamRankToLsa(ncclComm_t)
  EXPECT_EQ(ncclTeamRankToWorld(comms[3], rail, 0), 1);
  EXPECT_EQ(ncclTeamRankToLsa(comms[3], lsa, 0), 0);
  for (ncclComm_t comm : comms) ANYGIN_NCCL_OK(ncclCommDestroy(comm));
}

}  // namespace
}  // namespace anygin::comm
