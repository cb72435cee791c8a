// SPDX-License-Identifier: Apache-2.0
// Split, shrink, grow, revoke, several ids: the error rows of contract 2.4, each with the corrected call. What children
// can do is in tests/conformance/communicators.cu.
#include <atomic>

#include "support/reaches.h"
#include "unit/nccl_ranks.h"

namespace anygin::comm {
namespace {

// --- Split ---
TEST(CApiChildren, SplitChecksItsArguments) {
  on_comms(1, [](ncclComm_t comm, int) {
    ncclComm_t child = comm;
    EXPECT_EQ(ncclCommSplit(nullptr, 0, 0, &child, nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclCommSplit(comm, 0, 0, nullptr, nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclCommSplit(comm, -2, 0, &child, nullptr), ncclInvalidArgument);
    EXPECT_TRUE(last_error_says("color is -2; 0 or more, or NCCL_SPLIT_NOCOLOR")) << last_error();
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.splitShare = 2;
    EXPECT_EQ(ncclCommSplit(comm, 0, 0, &child, &config), ncclInvalidArgument);
    config.splitShare = 1;
    ANYGIN_NCCL_OK(ncclCommSplit(comm, 0, 0, &child, &config));
    ANYGIN_NCCL_OK(ncclCommDestroy(child));
    ANYGIN_NCCL_OK(ncclCommSplit(comm, NCCL_SPLIT_NOCOLOR, 0, &child, nullptr));
    EXPECT_EQ(child, nullptr);
  });
}

// What the parent was given counts where the child is given nothing.
TEST(CApiChildren, AChildInheritsTheConfig) {
  ncclUniqueId id;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.numRmaCtx = 0;
  ncclComm_t parent = nullptr, heir = nullptr, other = nullptr;
  ANYGIN_NCCL_OK(ncclCommInitRankConfig(&parent, 1, id, 0, &config));
  ANYGIN_NCCL_OK(ncclCommSplit(parent, 0, 0, &heir, nullptr));
  ncclConfig_t defaults = NCCL_CONFIG_INITIALIZER;
  ANYGIN_NCCL_OK(ncclCommSplit(parent, 0, 0, &other, &defaults));
  for (const auto& [comm, supported] : {std::pair{parent, false}, std::pair{heir, false}, std::pair{other, true}}) {
    ncclCommProperties_t properties = NCCL_COMM_PROPERTIES_INITIALIZER;
    ANYGIN_NCCL_OK(ncclCommQueryProperties(comm, &properties));
    EXPECT_EQ(properties.hostRmaSupport, supported);
    ANYGIN_NCCL_OK(ncclCommDestroy(comm));
  }
}

TEST(CApiChildren, ByOneThreadInAGroup) {
  ncclComm_t comms[4] = {}, children[4] = {};
  ANYGIN_NCCL_OK(ncclCommInitAll(comms, 4, nullptr));
  ANYGIN_NCCL_OK(ncclGroupStart());
  for (int rank = 0; rank < 4; ++rank)
    ANYGIN_NCCL_OK(ncclCommSplit(comms[rank], rank / 2, 3 - rank, &children[rank], nullptr));
  EXPECT_EQ(children[0], nullptr);
  ANYGIN_NCCL_OK(ncclGroupEnd());
  for (int rank = 0; rank < 4; ++rank) {
    int size = 0, own = -1, device = -1;
    ANYGIN_NCCL_OK(ncclCommCount(children[rank], &size));
    ANYGIN_NCCL_OK(ncclCommUserRank(children[rank], &own));
    ANYGIN_NCCL_OK(ncclCommCuDevice(children[rank], &device));
    EXPECT_EQ(size, 2);
    EXPECT_EQ(own, 1 - rank % 2);
    EXPECT_EQ(device, rank);
  }
  for (ncclComm_t comm : children) ANYGIN_NCCL_OK(ncclCommDestroy(comm));
  for (ncclComm_t comm : comms) ANYGIN_NCCL_OK(ncclCommDestroy(comm));
}

TEST(CApiChildren, ARankInAnotherCallIsNamed) {
  on_comms(2, [](ncclComm_t comm, int rank) {
    if (rank == 0) {
      ncclComm_t child = nullptr;
      EXPECT_EQ(ncclCommSplit(comm, 0, 0, &child, nullptr), ncclInvalidUsage);
      EXPECT_TRUE(last_error_says("rank 0 is in \"ncclCommSplit: colors\"")) << last_error();
    } else {
      const DeviceMemory memory(4096);
      ncclWindow_t window = nullptr;
      EXPECT_EQ(ncclCommWindowRegister(comm, memory.at(), 4096, &window, 0), ncclInvalidUsage);
    }
  });
}

// --- Shrink ---
TEST(CApiChildren, ShrinkChecksItsArguments) {
  on_comms(3, [](ncclComm_t comm, int rank) {
    if (rank == 2) return;
    ncclComm_t child = nullptr;
    const auto shrink = [&](std::vector<int> list, int flags) {
      return ncclCommShrink(comm, list.data(), static_cast<int>(list.size()), &child, nullptr, flags);
    };
    int excluded[] = {2};
    EXPECT_EQ(ncclCommShrink(nullptr, excluded, 1, &child, nullptr, 0), ncclInvalidArgument);
    EXPECT_EQ(ncclCommShrink(comm, nullptr, 1, &child, nullptr, 0), ncclInvalidArgument);
    EXPECT_EQ(ncclCommShrink(comm, excluded, 0, &child, nullptr, 0), ncclInvalidArgument);
    EXPECT_EQ(ncclCommShrink(comm, excluded, 1, nullptr, nullptr, 0), ncclInvalidArgument);
    EXPECT_EQ(shrink({2, rank}, NCCL_SHRINK_DEFAULT), ncclInvalidArgument);
    REACHES(GIN_ERR_RANK_EXCLUDED, last_error());
    EXPECT_TRUE(last_error_says("excludes itself")) << last_error();
    EXPECT_EQ(shrink({3}, NCCL_SHRINK_DEFAULT), ncclInvalidArgument);
    EXPECT_EQ(shrink({-1}, NCCL_SHRINK_DEFAULT), ncclInvalidArgument);
    EXPECT_EQ(shrink({2, 2}, NCCL_SHRINK_DEFAULT), ncclInvalidArgument);
    EXPECT_EQ(shrink({2}, 2), ncclInvalidArgument);
    EXPECT_EQ(shrink({2}, NCCL_SHRINK_DEFAULT), ncclSuccess) << last_error();
    int own = -1, size = 0;
    ANYGIN_NCCL_OK(ncclCommUserRank(child, &own));
    ANYGIN_NCCL_OK(ncclCommCount(child, &size));
    EXPECT_EQ(own, rank);
    EXPECT_EQ(size, 2);
    ANYGIN_NCCL_OK(ncclCommDestroy(child));
  });
}

TEST(CApiChildren, ShrinkSortsTheList) {
  on_comms(3, [](ncclComm_t comm, int rank) {
    if (rank != 1) return;
    int list[] = {2, 0};
    ncclComm_t child = nullptr;
    ANYGIN_NCCL_OK(ncclCommShrink(comm, list, 2, &child, nullptr, NCCL_SHRINK_DEFAULT));
    EXPECT_EQ(list[0], 0);
    EXPECT_EQ(list[1], 2);
    ANYGIN_NCCL_OK(ncclCommDestroy(child));
  });
}

// Shrinks of different lists do not disturb each other, nor what is left of one that failed.
TEST(CApiChildren, AShrinkWithOneThatLeftFailsAndTheNextSucceeds) {
  ncclComm_t comms[4] = {};
  ANYGIN_NCCL_OK(ncclCommInitAll(comms, 4, nullptr));
  ANYGIN_NCCL_OK(ncclCommAbort(comms[3]));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 2; ++rank) {
    threads.emplace_back([&, rank] {
      int first[] = {2}, both[] = {2, 3};
      ncclComm_t child = nullptr;
      EXPECT_EQ(ncclCommShrink(comms[rank], first, 1, &child, nullptr, NCCL_SHRINK_ABORT), ncclRemoteError);
      EXPECT_TRUE(last_error_says("ncclCommShrink without rank 2: rank 3")) << last_error();
      EXPECT_EQ(child, nullptr);
      ANYGIN_NCCL_OK(ncclCommShrink(comms[rank], both, 2, &child, nullptr, NCCL_SHRINK_ABORT));
      ANYGIN_NCCL_OK(ncclCommDestroy(child));
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (int rank = 0; rank < 3; ++rank) ANYGIN_NCCL_OK(ncclCommAbort(comms[rank]));
}

// --- Grow ---
TEST(CApiChildren, GrowTakesNewRanksIn) {
  ncclUniqueId first, second;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&first));
  std::atomic<bool> known{false};
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 4; ++rank) {
    threads.emplace_back([&, rank] {
      ncclComm_t old = nullptr, grown = nullptr;
      if (rank < 2) {
        ASSERT_EQ(ncclCommInitRank(&old, 2, first, rank), ncclSuccess) << last_error();
        EXPECT_EQ(ncclCommGrow(old, 2, nullptr, -1, &grown, nullptr), ncclInvalidArgument);
        EXPECT_EQ(ncclCommGrow(old, 4, nullptr, rank, &grown, nullptr), ncclInvalidArgument);
        EXPECT_EQ(ncclCommGrow(old, 4, nullptr, -1, &grown, nullptr), ncclInvalidArgument);  // nobody has an id
        EXPECT_TRUE(last_error_says("ncclCommGetUniqueId first")) << last_error();
        if (rank == 1) {
          EXPECT_EQ(ncclCommGetUniqueId(old, nullptr), ncclInvalidArgument);
          ANYGIN_NCCL_OK(ncclCommGetUniqueId(old, &second));
          known.store(true);
        }
        ASSERT_EQ(ncclCommGrow(old, 4, rank == 1 ? &second : nullptr, -1, &grown, nullptr), ncclSuccess)
            << last_error();
        ANYGIN_NCCL_OK(ncclCommDestroy(old));
      } else {
        while (!known.load()) std::this_thread::yield();
        EXPECT_EQ(ncclCommGrow(nullptr, 4, nullptr, rank, &grown, nullptr), ncclInvalidArgument);
        EXPECT_EQ(ncclCommGrow(nullptr, 4, &second, 4, &grown, nullptr), ncclInvalidArgument);
        EXPECT_EQ(ncclCommGrow(nullptr, 0, &second, 0, &grown, nullptr), ncclInvalidArgument);
        ASSERT_EQ(ncclCommGrow(nullptr, 4, &second, rank, &grown, nullptr), ncclSuccess) << last_error();
      }
      int own = -1, size = 0;
      ANYGIN_NCCL_OK(ncclCommUserRank(grown, &own));
      ANYGIN_NCCL_OK(ncclCommCount(grown, &size));
      EXPECT_EQ(own, rank);
      EXPECT_EQ(size, 4);
      ANYGIN_NCCL_OK(ncclCommDestroy(grown));
    });
  }
  for (std::thread& thread : threads) thread.join();
}

// --- Several ids ---
TEST(CApiChildren, SeveralIdsAreOneMeeting) {
  ncclUniqueId ids[3];
  for (ncclUniqueId& id : ids) ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  ncclComm_t comms[4] = {};
  EXPECT_EQ(ncclCommInitRankScalable(&comms[0], 2, 0, 0, ids, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRankScalable(&comms[0], 2, 0, 3, ids, nullptr), ncclInvalidArgument);
  EXPECT_TRUE(last_error_says("nId is 3; 1 to nranks, 2")) << last_error();
  EXPECT_EQ(ncclCommInitRankScalable(&comms[0], 2, 0, 2, nullptr, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclCommInitRankScalable(nullptr, 4, 0, 3, ids, nullptr), ncclInvalidArgument);
  ANYGIN_NCCL_OK(ncclGroupStart());
  for (int rank = 0; rank < 4; ++rank) ANYGIN_NCCL_OK(ncclCommInitRankScalable(&comms[rank], 4, rank, 3, ids, nullptr));
  ANYGIN_NCCL_OK(ncclGroupEnd());
  for (int rank = 0; rank < 4; ++rank) {
    int own = -1;
    ANYGIN_NCCL_OK(ncclCommUserRank(comms[rank], &own));
    EXPECT_EQ(own, rank);
    ANYGIN_NCCL_OK(ncclCommDestroy(comms[rank]));
  }
}

// --- Revoke ---
TEST(CApiChildren, RevokeChecksItsArguments) {
  EXPECT_EQ(ncclCommRevoke(nullptr, 0), ncclSuccess);
  ncclComm_t comm = nullptr;
  ANYGIN_NCCL_OK(ncclCommInitAll(&comm, 1, nullptr));
  EXPECT_EQ(ncclCommRevoke(comm, 1), ncclInvalidArgument);
  ANYGIN_NCCL_OK(ncclCommFinalize(comm));
  EXPECT_EQ(ncclCommRevoke(comm, 0), ncclInvalidArgument);
  EXPECT_TRUE(last_error_says("finalized")) << last_error();
  ANYGIN_NCCL_OK(ncclCommDestroy(comm));
  EXPECT_EQ(ncclCommRevoke(comm, 0), ncclInvalidArgument);  // destroyed
  ANYGIN_NCCL_OK(ncclCommInitAll(&comm, 1, nullptr));
  ANYGIN_NCCL_OK(ncclCommRevoke(comm, 0));
  EXPECT_EQ(ncclCommRevoke(comm, 0), ncclInvalidArgument);
  REACHES(GIN_ERR_REVOKED_TWICE, last_error());
  ncclComm_t child = nullptr;
  ncclUniqueId id;
  EXPECT_EQ(ncclCommGetUniqueId(comm, &id), ncclInvalidUsage);
  EXPECT_EQ(ncclCommGrow(comm, 2, &id, -1, &child, nullptr), ncclInvalidUsage);
  REACHES(GIN_ERR_COMM_REVOKED, last_error());
  EXPECT_TRUE(last_error_says("revoked it; ncclCommShrink, ncclCommSplit")) << last_error();
  ANYGIN_NCCL_OK(ncclCommAbort(comm));
}

TEST(CApiChildren, ARevokeIsToldToTheOthers) {
  ncclComm_t comms[2] = {};
  ANYGIN_NCCL_OK(ncclCommInitAll(comms, 2, nullptr));
  ANYGIN_NCCL_OK(ncclCommRevoke(comms[1], 0));
  ncclResult_t async = ncclSuccess;
  for (int turn = 0; turn < 1000 && async == ncclSuccess; ++turn) {
    ANYGIN_NCCL_OK(ncclCommGetAsyncError(comms[0], &async));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(async, ncclRemoteError);
  REACHES(GIN_ERR_REVOKED, last_error());
  EXPECT_TRUE(last_error_says("rank 1 ended it")) << last_error();
  ANYGIN_NCCL_OK(ncclCommGetAsyncError(comms[1], &async));
  EXPECT_EQ(async, ncclSuccess);
  for (ncclComm_t comm : comms) ANYGIN_NCCL_OK(ncclCommAbort(comm));
}

}  // namespace
}  // namespace anygin::comm
