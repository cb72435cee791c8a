// SPDX-License-Identifier: Apache-2.0
// Device communicators through nccl.h: layout, refusals and error rows of contract 2.8.
#include <cuda_runtime.h>

#include "anygin/base/wait.h"
#include "unit/nccl_ranks.h"

namespace anygin::comm {
namespace {

ncclDevCommRequirements_t full() {
  ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  reqs.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  return reqs;
}

TEST(CApiDevComm, PropertiesTellWhatThereIs) {
  const WithOptions with([](Options& o) { o.topology.ranks_of_node = {2, 2}; });
  on_comms(4, [](ncclComm_t comm, int rank) {
    ncclCommProperties_t props = NCCL_COMM_PROPERTIES_INITIALIZER;
    EXPECT_EQ(ncclCommQueryProperties(comm, nullptr), ncclInvalidArgument);
    props.magic = 0;
    EXPECT_EQ(ncclCommQueryProperties(comm, &props), ncclInvalidUsage);
    props.magic = NCCL_API_MAGIC;
    props.version = 99999;
    EXPECT_EQ(ncclCommQueryProperties(comm, &props), ncclInvalidUsage);
    props.version = NCCL_VERSION_CODE;
    ASSERT_EQ(ncclCommQueryProperties(comm, &props), ncclSuccess) << last_error();
    EXPECT_EQ(props.rank, rank);
    EXPECT_EQ(props.nRanks, 4);
    EXPECT_TRUE(props.deviceApiSupport);
    EXPECT_TRUE(props.multimemSupport);
    EXPECT_EQ(props.ginType, NCCL_GIN_TYPE_PROXY);
    EXPECT_EQ(props.railedGinType, NCCL_GIN_TYPE_PROXY);
    EXPECT_EQ(props.nLsaTeams, 2);
  });
}

TEST(CApiDevComm, IdsAndBuffersLieAsTheContractSays) {
  const WithOptions with([](Options& o) { o.topology.ranks_of_node = {2, 2}; });
  on_comms(4, [](ncclComm_t comm, int rank) {
    ncclDevCommRequirements_t reqs = full();
    reqs.ginSignalCount = 5;
    reqs.ginCounterCount = 3;
    reqs.worldGinBarrierCount = 2;
    reqs.railGinBarrierCount = 3;
    reqs.lsaBarrierCount = 1;
    reqs.barrierCount = 1;
    ncclDevResourceHandle_t buffer = 0;
    ncclGinSignal_t signals = 0;
    ncclGinCounter_t counters = 0;
    ncclGinBarrierHandle_t own_barrier{};
    ncclDevResourceRequirements_t barrier_node{}, node{};
    ANYGIN_NCCL_OK(ncclGinBarrierCreateRequirement(comm, ncclTeamWorld(comm), 2, &own_barrier, &barrier_node));
    node.bufferSize = 100;
    node.bufferAlign = 512;
    node.outBufferHandle = &buffer;
    node.ginSignalCount = 7;
    node.outGinSignalStart = &signals;
    node.ginCounterCount = 2;
    node.outGinCounterStart = &counters;
    node.next = &barrier_node;
    reqs.resourceRequirementsList = &node;
    ncclDevComm made;
    ASSERT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclSuccess) << last_error();
    EXPECT_EQ(made.rank, rank);
    EXPECT_EQ(made.lsaRank, rank % 2);
    EXPECT_EQ(made.lsaSize, 2);
    EXPECT_EQ(made.nRanks_rcp32, 0x40000000u);
    EXPECT_EQ(made.worldGinBarrier.signal0, 5u);
    EXPECT_EQ(made.railGinBarrier.signal0, 5u + 2 * 4);
    EXPECT_EQ(made.hybridWorldGinBarrier.signal0, 13u + 3 * 2);
    EXPECT_EQ(made.hybridRailGinBarrier.signal0, 19u + 4);
    EXPECT_EQ(signals, 25u);
    EXPECT_EQ(own_barrier.signal0, 32u);
    EXPECT_EQ(own_barrier.unused, 2u + 1);
    EXPECT_EQ(made.worldGinBarrier.unused, 2u + 1);
    EXPECT_EQ(made.railGinBarrier.unused, 3u + 1);
    EXPECT_EQ(made.hybridWorldGinBarrier.unused, 1u + 1);
    EXPECT_EQ(made.hybridRailGinBarrier.unused, 1u + 1);
    EXPECT_EQ(made.resourceWindow_inlined.view->reservedSignal0, 5u);
    EXPECT_EQ(made.resourceWindow_inlined.view->reservedSignalEnd, 25u);
    EXPECT_EQ(made.ginSignalCount, 40);
    EXPECT_EQ(counters, 3u);
    EXPECT_EQ(made.ginCounterCount, 5);
    EXPECT_EQ(made.lsaBarrier.bufHandle, 0u);
    EXPECT_EQ(made.lsaBarrier.nBarriers, 1);
    EXPECT_EQ(made.hybridLsaBarrier.bufHandle, 1u);
    EXPECT_EQ(buffer, 4u);
    EXPECT_EQ(made.ginContextCount, 16u);
    EXPECT_NE(made.ginHandles[0], nullptr);
    EXPECT_NE(made.abortFlag, nullptr);
    EXPECT_EQ(*made.abortFlag, 0u);
    for (uint32_t i = 0; i < 16u * 40; ++i) EXPECT_EQ(made.ginSignalShadows[i], 0u);
    EXPECT_TRUE(made.ginStrongLegacySignals);
    ANYGIN_NCCL_OK(ncclDevCommDestroy(comm, &made));
    EXPECT_EQ(ncclDevCommDestroy(comm, &made), ncclInternalError);
    EXPECT_EQ(ncclDevCommDestroy(comm, nullptr), ncclInvalidArgument);
  });
}

// Aborted communicators keep their memory: kernels may still look.
TEST(CApiDevComm, AnAbortRaisesTheWordThatKernelsLookAt) {
  ncclUniqueId id;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclCommInitRank(&comm, 1, id, 0), ncclSuccess) << last_error();
  ncclDevCommRequirements_t reqs = full();
  ncclDevComm made;
  ASSERT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclSuccess) << last_error();
  ANYGIN_NCCL_OK(ncclCommAbort(comm));
  EXPECT_EQ(*made.abortFlag, static_cast<uint32_t>(AbortCause::kAborted));
}

struct Refusal {
  const char* what;
  void (*spoil)(ncclDevCommRequirements_t&);
  ncclResult_t result;
};

const Refusal kRefusals[] = {
    {"no magic", [](ncclDevCommRequirements_t& r) { r.magic = 0; }, ncclInvalidUsage},
    {"newer version", [](ncclDevCommRequirements_t& r) { r.version = 99999; }, ncclInvalidUsage},
    {"signals without GIN",
     [](ncclDevCommRequirements_t& r) {
       r.ginConnectionType = NCCL_GIN_CONNECTION_NONE;
       r.ginSignalCount = 1;
     },
     ncclInvalidArgument},
    {"hybrid barriers without GIN",
     [](ncclDevCommRequirements_t& r) {
       r.ginConnectionType = NCCL_GIN_CONNECTION_NONE;
       r.barrierCount = 1;
     },
     ncclInvalidArgument},
    {"world barriers on rails",
     [](ncclDevCommRequirements_t& r) {
       r.ginConnectionType = NCCL_GIN_CONNECTION_RAIL;
       r.worldGinBarrierCount = 1;
     },
     ncclInvalidArgument},
    {"multicast for a team beyond the LSA team",
     [](ncclDevCommRequirements_t& r) {
       static ncclTeamRequirements_t beyond{nullptr, {3, 0, 1}, true, nullptr};
       r.teamRequirementsList = &beyond;
     },
     ncclInvalidArgument},
    {"multicast for a team without its caller",
     [](ncclDevCommRequirements_t& r) {
       static ncclTeamRequirements_t without{nullptr, {1, 1, 1}, true, nullptr};
       r.teamRequirementsList = &without;
     },
     ncclInvalidArgument},
    {"negative count", [](ncclDevCommRequirements_t& r) { r.ginSignalCount = -1; }, ncclInvalidArgument},
    {"too many signals", [](ncclDevCommRequirements_t& r) { r.ginSignalCount = (1 << 24) + 1; }, ncclInvalidUsage},
};

TEST(CApiDevComm, RefusalsAndTheirCorrections) {
  on_comms(2, [](ncclComm_t comm, int) {
    ncclDevComm made;
    EXPECT_EQ(ncclDevCommCreate(comm, nullptr, &made), ncclInvalidArgument);
    for (const Refusal& refusal : kRefusals) {
      ncclDevCommRequirements_t reqs = full();
      refusal.spoil(reqs);
      EXPECT_EQ(ncclDevCommCreate(comm, &reqs, &made), refusal.result) << refusal.what << ": " << last_error();
      reqs = full();
      reqs.ginSignalCount = 1;
      ASSERT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclSuccess) << refusal.what << ": " << last_error();
      ANYGIN_NCCL_OK(ncclDevCommDestroy(comm, &made));
    }
  });
}

TEST(CApiDevComm, MulticastMayBeSwitchedOff) {
  const WithOptions with([](Options& o) { o.nccl_nvls_enable = 0; });
  on_comms(2, [](ncclComm_t comm, int) {
    ncclCommProperties_t props = NCCL_COMM_PROPERTIES_INITIALIZER;
    ANYGIN_NCCL_OK(ncclCommQueryProperties(comm, &props));
    EXPECT_FALSE(props.multimemSupport);
    const DeviceMemory memory(4096);
    ncclWindow_t window = nullptr;
    ANYGIN_NCCL_OK(ncclCommWindowRegister(comm, memory.at(), 4096, &window, 0));
    void* at = memory.at();
    ANYGIN_NCCL_OK(ncclGetLsaMultimemDevicePointer(window, 0, &at));
    EXPECT_EQ(at, nullptr);
    ncclDevCommRequirements_t reqs = full();
    ncclDevComm made;
    reqs.lsaMultimem = true;
    EXPECT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclInvalidArgument);
    EXPECT_TRUE(last_error_says("multimemSupport")) << last_error();
    reqs.lsaMultimem = false;
    ncclMultimemHandle_t handle{};
    ncclTeamRequirements_t team{nullptr, ncclTeamLsa(comm), true, &handle};
    reqs.teamRequirementsList = &team;
    EXPECT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclInvalidArgument);
    team.multimem = false;
    ASSERT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclSuccess) << last_error();
    EXPECT_EQ(made.lsaMultimem.mcBasePtr, nullptr);
    ANYGIN_NCCL_OK(ncclDevCommDestroy(comm, &made));
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, window));
  });
}

TEST(CApiDevComm, LsaBarriersNeedNoGin) {
  const WithOptions with([](Options& o) { o.nic = "none"; });
  on_comms(2, [](ncclComm_t comm, int) {
    ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    reqs.lsaBarrierCount = 4;
    ncclDevComm made;
    ASSERT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclSuccess) << last_error();
    EXPECT_EQ(made.ginContextCount, 0u);
    EXPECT_EQ(made.ginConnectionCount, 0u);
    EXPECT_NE(made.resourceWindow, nullptr);
    ANYGIN_NCCL_OK(ncclDevCommDestroy(comm, &made));
    reqs = full();
    EXPECT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclInvalidArgument);
    EXPECT_TRUE(last_error_says("ANYGIN_NIC is none")) << last_error();
  });
}

TEST(CApiDevComm, BackendsThatAreNotThereAreRefusedByName) {
  for (const int type : {3, 4}) {
    const WithOptions with([type](Options& o) { o.nccl_gin_type = type; });
    on_comms(1, [type](ncclComm_t comm, int) {
      ncclDevCommRequirements_t reqs = full();
      ncclDevComm made;
      EXPECT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclInvalidArgument);
      EXPECT_TRUE(last_error_says(type == 3 ? "GDAKI" : "GPI")) << last_error();
    });
  }
  const WithOptions with([](Options& o) { o.nccl_gin_enable = 0; });
  on_comms(1, [](ncclComm_t comm, int) {
    ncclDevCommRequirements_t reqs = full();
    ncclDevComm made;
    EXPECT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclInternalError);
    EXPECT_TRUE(last_error_says("NCCL_GIN_ENABLE")) << last_error();
  });
}

TEST(CApiDevComm, TheEnvironmentRaisesTheContexts) {
  const WithOptions with([](Options& o) { o.nccl_gin_contexts_per_comm = 40; });
  on_comms(1, [](ncclComm_t comm, int) {
    ncclDevCommRequirements_t reqs = full();
    for (const auto& [asked, granted] : {std::pair{4, 40u}, std::pair{48, 48u}}) {
      ncclDevComm made;
      reqs.ginContextCount = asked;
      ASSERT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclSuccess) << last_error();
      EXPECT_EQ(made.ginContextCount, granted);
      ANYGIN_NCCL_OK(ncclDevCommDestroy(comm, &made));
    }
  });
}

// Nodes without a NIC between them: a program asks, and takes its other way.
TEST(CApiDevComm, WithoutANicPropertiesSaySoAndHostCollectivesGoOn) {
  const WithOptions with([](Options& o) {
    o.nic = "none";
    o.topology.ranks_of_node = {1, 1};
  });
  on_comms(
      2,
      [](ncclComm_t comm, int rank) {
        ncclCommProperties_t props = NCCL_COMM_PROPERTIES_INITIALIZER;
        ANYGIN_NCCL_OK(ncclCommQueryProperties(comm, &props));
        EXPECT_EQ(props.ginType, NCCL_GIN_TYPE_NONE);
        EXPECT_EQ(props.railedGinType, NCCL_GIN_TYPE_NONE);
        EXPECT_FALSE(props.deviceApiSupport);
        EXPECT_FALSE(props.hostRmaSupport);
        EXPECT_EQ(props.nLsaTeams, 2);
        const DeviceMemory memory(4096);
        ncclWindow_t window = reinterpret_cast<ncclWindow_t>(memory.at());
        ANYGIN_NCCL_OK(ncclCommWindowRegister(comm, memory.at(), 4096, &window, NCCL_WIN_COLL_SYMMETRIC));
        EXPECT_EQ(window, nullptr);
        ncclDevCommRequirements_t reqs = full();
        ncclDevComm made;
        EXPECT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclInvalidUsage);
        EXPECT_TRUE(last_error_says("ANYGIN_NIC is none")) << last_error();
        auto* const words = reinterpret_cast<int32_t*>(memory.at());
        words[0] = rank + 1;
        ANYGIN_NCCL_OK(ncclAllReduce(words, words, 1, ncclInt32, ncclSum, comm, nullptr));
        EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
        EXPECT_EQ(words[0], 3);
      },
      [](int rank) { EXPECT_EQ(cudaSetDevice(rank), cudaSuccess); });
}

TEST(CApiDevComm, RequirementsFilledWithZerosTakeTheDefaults) {
  ::testing::internal::CaptureStderr();
  on_comms(1, [](ncclComm_t comm, int) {
    ncclDevCommRequirements_t reqs{};
    reqs.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
    reqs.ginSignalCount = 3;
    for (int turn = 0; turn < 2; ++turn) {
      ncclDevComm made;
      ASSERT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclSuccess) << last_error();
      EXPECT_EQ(made.ginSignalCount, 3);
      EXPECT_TRUE(made.ginStrongLegacySignals);
      EXPECT_EQ(made.version, static_cast<unsigned>(NCCL_VERSION_CODE));
      ANYGIN_NCCL_OK(ncclDevCommDestroy(comm, &made));
    }
    // Half of it is another thing: nobody knows whose.
    ncclDevComm made;
    reqs.size = sizeof(reqs);
    EXPECT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclInvalidUsage);
    EXPECT_TRUE(last_error_says("the number 0x0 instead of 0xcafebeef")) << last_error();
  });
  const std::string said = ::testing::internal::GetCapturedStderr();
  const std::string warning = "the requirements are filled with zeros";
  const size_t first = said.find(warning);
  EXPECT_NE(first, std::string::npos) << said;
  EXPECT_EQ(said.find(warning, first + 1), std::string::npos) << "told twice: " << said;
}

TEST(CApiDevComm, RailsOnly) {
  const WithOptions with([](Options& o) {
    o.topology.ranks_of_node = {1, 1};
    o.topology.rail_only = true;
  });
  on_comms(2, [](ncclComm_t comm, int) {
    ncclCommProperties_t props = NCCL_COMM_PROPERTIES_INITIALIZER;
    ANYGIN_NCCL_OK(ncclCommQueryProperties(comm, &props));
    EXPECT_EQ(props.ginType, NCCL_GIN_TYPE_NONE);
    EXPECT_EQ(props.railedGinType, NCCL_GIN_TYPE_PROXY);
    ncclDevCommRequirements_t reqs = full();
    ncclDevComm made;
    EXPECT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclInvalidArgument);
    reqs.ginConnectionType = NCCL_GIN_CONNECTION_RAIL;
    reqs.railGinBarrierCount = 1;
    ASSERT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclSuccess) << last_error();
    EXPECT_TRUE(made.ginContextsRailed);
    ANYGIN_NCCL_OK(ncclDevCommDestroy(comm, &made));
  });
}

TEST(CApiDevComm, DifferentRequirementsAreNamedOnAllRanks) {
  on_comms(2, [](ncclComm_t comm, int rank) {
    ncclDevCommRequirements_t reqs = full();
    reqs.ginSignalCount = rank == 0 ? 4 : 5;
    ncclDevComm made;
    EXPECT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclInvalidUsage);
    EXPECT_TRUE(last_error_says("ginSignalCount 4")) << last_error();
    EXPECT_TRUE(last_error_says("ginSignalCount 5")) << last_error();
  });
}

TEST(CApiDevComm, RequirementBuilders) {
  ncclLsaBarrierHandle_t lsa{};
  ncclDevResourceRequirements_t node{};
  EXPECT_EQ(ncclLsaBarrierCreateRequirement({4, 0, 1}, 3, nullptr, &node), ncclInvalidArgument);
  EXPECT_EQ(ncclLsaBarrierCreateRequirement({4, 0, 1}, -1, &lsa, &node), ncclInvalidArgument);
  ANYGIN_NCCL_OK(ncclLsaBarrierCreateRequirement({4, 0, 1}, 3, &lsa, &node));
  EXPECT_EQ(node.bufferSize, (3u * 3 + 3 * 4) * 4);
  EXPECT_EQ(node.outBufferHandle, &lsa.bufHandle);
  EXPECT_EQ(lsa.nBarriers, 3);
  EXPECT_EQ(ncclLLA2ACalcSlots(10, 9), 20);
  ncclLLA2AHandle_t a2a{};
  ANYGIN_NCCL_OK(ncclLLA2ACreateRequirement(2, 20, &a2a, &node));
  EXPECT_EQ(node.bufferSize, 2u * 41 * 16);
  EXPECT_EQ(node.bufferAlign, 16u);
}

}  // namespace
}  // namespace anygin::comm
