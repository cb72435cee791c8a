// SPDX-License-Identifier: Apache-2.0
// Windows through nccl.h: the rules and error rows of contract 2.7 and 2.8.5.
#include <cstring>

#include "anygin/base/multimem.h"
#include "anygin/base/world.h"
#include "unit/nccl_ranks.h"

namespace anygin::comm {
namespace {

TEST(CApiWindow, LsaPointersLeadToThePeersMemory) {
  on_comms(4, [](ncclComm_t comm, int rank) {
    const DeviceMemory memory(8192);
    std::memset(memory.at(), 'a' + rank, 8192);
    ncclWindow_t window = nullptr;
    ASSERT_EQ(ncclCommWindowRegister(comm, memory.at(4096), 4096, &window, NCCL_WIN_COLL_SYMMETRIC), ncclSuccess)
        << last_error();
    ASSERT_NE(window, nullptr);
    for (int peer = 0; peer < 4; ++peer) {
      void* at = nullptr;
      ANYGIN_NCCL_OK(ncclGetLsaDevicePointer(window, 4095, peer, &at));
      EXPECT_EQ(*static_cast<char*>(at), 'a' + peer);
      ANYGIN_NCCL_OK(ncclGetPeerDevicePointer(window, 0, peer, &at));
      EXPECT_EQ(*static_cast<char*>(at), 'a' + peer);
    }
    void* user = nullptr;
    ANYGIN_NCCL_OK(ncclWinGetUserPtr(comm, window, &user));
    EXPECT_EQ(user, memory.at(4096));
    ncclWindow_t barrier = nullptr;  // nobody frees before all have read
    ANYGIN_NCCL_OK(ncclCommWindowRegister(comm, memory.at(), 8, &barrier, NCCL_WIN_DEFAULT));
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, barrier));
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, window));
    EXPECT_EQ(ncclCommWindowDeregister(comm, window), ncclInvalidArgument);
  });
}

// Programs free first and deregister afterwards; what peers still put must not land in anybody else's memory.
TEST(CApiWindow, MemoryFreedUnderAWindowGoesToNobodyElseUntilItIsDeregistered) {
  const size_t before = world().heap.allocated();
  on_comms(2, [](ncclComm_t comm, int rank) {
    void* memory = nullptr;
    ANYGIN_NCCL_OK(ncclMemAlloc(&memory, 8192));
    ncclWindow_t window = nullptr;
    ANYGIN_NCCL_OK(ncclCommWindowRegister(comm, memory, 8192, &window, NCCL_WIN_COLL_SYMMETRIC));
    ANYGIN_NCCL_OK(ncclMemFree(memory));
    EXPECT_EQ(ncclMemFree(memory), ncclInvalidArgument);
    const DeviceMemory next(8192);
    EXPECT_NE(next.at(), memory);
    void* at = nullptr;
    ANYGIN_NCCL_OK(ncclGetLsaDevicePointer(window, 0, 1 - rank, &at));
    std::memset(at, 'x', 8192);
    const DeviceMemory all(8192);
    ncclWindow_t barrier = nullptr;
    ANYGIN_NCCL_OK(ncclCommWindowRegister(comm, all.at(), 8, &barrier, NCCL_WIN_DEFAULT));
    EXPECT_EQ(*static_cast<char*>(next.at()), 0);
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, barrier));
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, window));
  });
  EXPECT_EQ(world().heap.allocated(), before);
}

TEST(CApiWindow, RegisterChecksItsArguments) {
  on_comms(1, [](ncclComm_t comm, int) {
    const DeviceMemory memory(8192);
    ncclWindow_t window = nullptr;
    EXPECT_EQ(ncclCommWindowRegister(nullptr, memory.at(), 8, &window, 0), ncclInvalidArgument);
    EXPECT_EQ(ncclCommWindowRegister(comm, memory.at(), 8, nullptr, 0), ncclInvalidArgument);
    EXPECT_EQ(ncclCommWindowRegister(comm, nullptr, 8, &window, 0), ncclInvalidArgument);
    EXPECT_EQ(ncclCommWindowRegister(comm, memory.at(), 0, &window, 0), ncclInvalidArgument);
    EXPECT_EQ(ncclCommWindowRegister(comm, memory.at(8), 8, &window, 0), ncclInvalidArgument);
    EXPECT_TRUE(last_error_says("multiple of 4096")) << last_error();
    EXPECT_EQ(ncclCommWindowRegister(comm, memory.at(4096), 4097, &window, 0), ncclInvalidArgument);
    EXPECT_TRUE(last_error_says("beyond its end")) << last_error();
    int host = 0;
    EXPECT_EQ(ncclCommWindowRegister(comm, &host, sizeof(host), &window, 0), ncclInvalidArgument);
    EXPECT_TRUE(last_error_says("not device memory")) << last_error();
    EXPECT_EQ(window, nullptr);
    EXPECT_EQ(ncclCommWindowRegister(comm, memory.at(4096), 4096, &window, 0), ncclSuccess) << last_error();
    EXPECT_NE(window, nullptr);
    EXPECT_EQ(ncclCommWindowDeregister(nullptr, window), ncclInvalidArgument);
    EXPECT_EQ(ncclCommWindowDeregister(comm, nullptr), ncclSuccess);
    EXPECT_EQ(ncclCommWindowDeregister(comm, window), ncclSuccess);
  });
}

TEST(CApiWindow, PointerLookupsCheckTheirArguments) {
  const WithOptions with([](Options& o) { o.topology.ranks_of_node = {2, 1}; });
  const WithOptions two_teams([](Options& o) { o.topology.ranks_of_node = {2, 2}; });
  on_comms(4, [](ncclComm_t comm, int rank) {
    const DeviceMemory memory(rank == 1 ? 8192 : 4096);
    ncclWindow_t window = nullptr;
    ASSERT_EQ(ncclCommWindowRegister(comm, memory.at(), 4096, &window, 0), ncclSuccess) << last_error();
    void* at = nullptr;
    EXPECT_EQ(ncclGetLsaDevicePointer(nullptr, 0, 0, &at), ncclInvalidArgument);
    EXPECT_EQ(ncclGetLsaDevicePointer(window, 0, 0, nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclGetLsaDevicePointer(window, 0, 2, &at), ncclInvalidArgument);
    EXPECT_EQ(ncclGetLsaDevicePointer(window, 0, -1, &at), ncclInvalidArgument);
    EXPECT_EQ(ncclGetLsaDevicePointer(window, 4096, 0, &at), ncclInvalidArgument);
    EXPECT_EQ(ncclGetLsaDevicePointer(window, 4095, 0, &at), ncclSuccess) << last_error();
    EXPECT_EQ(ncclGetPeerDevicePointer(window, 0, 4, &at), ncclInvalidArgument);
    const int far = (rank + 2) % 4;
    EXPECT_EQ(ncclGetPeerDevicePointer(window, 0, far, &at), ncclSuccess) << last_error();
    EXPECT_EQ(at, nullptr);
    EXPECT_EQ(ncclGetPeerDevicePointer(window, 0, rank, &at), ncclSuccess);
    EXPECT_EQ(at, memory.at());
    EXPECT_EQ(ncclGetLsaMultimemDevicePointer(window, 24, &at), ncclSuccess);
    MultimemReplicas replicas;
    anygin_find_multimem(at, 4096 - 24, &replicas);
    ASSERT_EQ(replicas.count, 2);
    EXPECT_EQ(replicas.at(rank % 2), static_cast<char*>(memory.at()) + 24);
    anygin_find_multimem(at, 4096, &replicas);
    EXPECT_EQ(replicas.count, 0) << "beyond the window";
    EXPECT_EQ(ncclGetMultimemDevicePointer(window, 0, ncclMultimemHandle_t{nullptr}, &at), ncclInvalidArgument);
    EXPECT_EQ(ncclGetMultimemDevicePointer(window, 24, ncclMultimemHandle_t{memory.at()}, &at), ncclSuccess);
    EXPECT_EQ(at, static_cast<char*>(memory.at()) + 4096 + 24) << "the first window's place is the first";
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, window));
    EXPECT_EQ(ncclGetLsaDevicePointer(window, 0, 0, &at), ncclInvalidArgument);
  });
}

TEST(CApiWindow, ABadBufferOfOneRankFailsOnAll) {
  on_comms(3, [](ncclComm_t comm, int rank) {
    const DeviceMemory memory(8192);
    ncclWindow_t window = nullptr;
    EXPECT_EQ(ncclCommWindowRegister(comm, memory.at(rank == 1 ? 64 : 0), 64, &window, 0), ncclInvalidArgument);
    EXPECT_EQ(window, nullptr);
    EXPECT_TRUE(last_error_says("64 bytes into its allocation")) << last_error();
    EXPECT_EQ(last_error_says("rank 1:"), rank != 1) << last_error();
    EXPECT_EQ(ncclCommWindowRegister(comm, memory.at(), 64, &window, 0), ncclSuccess) << last_error();
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, window));
  });
}

TEST(CApiWindow, DifferentFlagsAreNamedOnAllRanks) {
  on_comms(3, [](ncclComm_t comm, int rank) {
    const DeviceMemory memory(4096);
    ncclWindow_t window = nullptr;
    EXPECT_EQ(ncclCommWindowRegister(comm, memory.at(), 64, &window, rank == 2 ? 3 : 1), ncclInvalidUsage);
    EXPECT_TRUE(last_error_says("flags of window 0 differ")) << last_error();
    EXPECT_TRUE(last_error_says("rank 0 gives 0x1, rank 2 gives 0x3")) << last_error();
    EXPECT_EQ(ncclCommWindowRegister(comm, memory.at(), 64, &window, 1), ncclSuccess) << last_error();
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, window));
  });
}

TEST(CApiWindow, OneWindowLessIsNamedOnAllRanks) {
  on_comms(2, [](ncclComm_t comm, int rank) {
    const DeviceMemory memory(4096);
    ncclWindow_t window = nullptr;
    if (rank == 0) {
      EXPECT_EQ(ncclCommWindowRegister(comm, memory.at(), 64, &window, 0), ncclInvalidUsage);
    } else {
      ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
      ncclDevComm made;
      EXPECT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclInvalidUsage);
    }
    EXPECT_TRUE(last_error_says("rank 0 is in \"window registration\", rank 1 in \"device communicator creation\""))
        << last_error();
  });
}

TEST(CApiWindow, SeveralCommunicatorsOfOneThreadRegisterInAGroup) {
  ncclComm_t comms[3] = {};
  ASSERT_EQ(ncclCommInitAll(comms, 3, nullptr), ncclSuccess) << last_error();
  const DeviceMemory a(4096), b(8192), c(12288);
  const DeviceMemory* memory[] = {&a, &b, &c};
  ncclWindow_t first[3], second[3];
  ANYGIN_NCCL_OK(ncclGroupStart());
  for (int rank = 0; rank < 3; ++rank) {
    ANYGIN_NCCL_OK(ncclCommWindowRegister(comms[rank], memory[rank]->at(), 64, &first[rank], 0));
    ANYGIN_NCCL_OK(ncclCommWindowRegister(comms[rank], memory[rank]->at(), 4096, &second[rank], 1));
    EXPECT_EQ(first[rank], nullptr);
  }
  ANYGIN_NCCL_OK(ncclGroupEnd());
  for (int rank = 0; rank < 3; ++rank) {
    void* at = nullptr;
    ANYGIN_NCCL_OK(ncclGetLsaDevicePointer(second[rank], 0, 2, &at));
    EXPECT_EQ(at, c.at());
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comms[rank], first[rank]));
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comms[rank], second[rank]));
  }
  for (ncclComm_t comm : comms) ANYGIN_NCCL_OK(ncclCommDestroy(comm));
}

TEST(CApiWindow, WithoutSymmetricMemoryTheWindowIsNull) {
  const WithOptions with([](Options& o) { o.nccl_win_enable = 0; });
  on_comms(2, [](ncclComm_t comm, int) {
    const DeviceMemory memory(4096);
    ncclWindow_t window = nullptr;
    EXPECT_EQ(ncclCommWindowRegister(comm, memory.at(), 64, &window, 0), ncclSuccess);
    EXPECT_EQ(window, nullptr);
    void* user = &window;
    EXPECT_EQ(ncclWinGetUserPtr(comm, window, &user), ncclSuccess);
    EXPECT_EQ(user, nullptr);
    EXPECT_EQ(ncclTeamLsa(comm).nRanks, 0);
  });
}

TEST(CApiWindow, MemoryFunctionsCheckTheirArguments) {
  EXPECT_EQ(ncclMemAlloc(nullptr, 8), ncclInvalidArgument);
  EXPECT_EQ(ncclMemFree(nullptr), ncclSuccess);
  int host = 0;
  EXPECT_NE(ncclMemFree(&host), ncclSuccess);
  void* empty = nullptr;
  EXPECT_EQ(ncclMemAlloc(&empty, 0), ncclSuccess);
  EXPECT_EQ(ncclMemFree(empty), ncclSuccess);
}

}  // namespace
}  // namespace anygin::comm
