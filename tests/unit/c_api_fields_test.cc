// SPDX-License-Identifier: Apache-2.0
// Members of the API's structures that no other test looks at, and the twins of all functions
// (contract 1.1, 2.3, 2.8, 4.1).
#define NCCL_OS_LINUX 1  // ncclResetDebugInit is declared
#include <dlfcn.h>

#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "nccl_device.h"
#include "unit/nccl_ranks.h"
#include "unit/rma_rank.h"

namespace anygin::comm {
namespace {

TEST(CApiFields, OfADeviceCommunicator) {
  const WithOptions with([](Options& o) { o.topology.ranks_of_node = {3, 3}; });
  on_comms(6, [](ncclComm_t comm, int rank) {
    ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    reqs.ginForceEnable = true;   // as programs of 2.29 ask for all connections
    reqs.lsaLLA2ABlockCount = 7;  // looked at by nobody
    reqs.lsaLLA2ASlotCount = 9;
    reqs.ginExclusiveContexts = true;
    reqs.ginTrafficClass = 3;
    reqs.ginQueueDepth = 64;
    reqs.ginSignalCount = 2;
    ncclDevComm made;
    ASSERT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclSuccess) << last_error();
    EXPECT_EQ(made.magic, static_cast<unsigned>(NCCL_API_MAGIC));
    EXPECT_EQ(made.version, static_cast<unsigned>(NCCL_VERSION_CODE));
    EXPECT_EQ(made.lsaSize_rcp32, nccl::utility::idivRcp32(3));
    EXPECT_EQ(made.nRanks_rcp32, nccl::utility::idivRcp32(6));
    EXPECT_NE(made.resourceWindow, nullptr);
    EXPECT_EQ(sizeof(made.resourceWindow_inlined), 64u) << "opaque";
    EXPECT_EQ(made.ginConnectionCount, 1);
    EXPECT_EQ(made.ginNetDeviceTypes[0], NCCL_NET_DEVICE_GIN_PROXY);
    EXPECT_EQ(made.ginSignalCount, 2);
    EXPECT_FALSE(made.ginConnectionsRailed);
    EXPECT_FALSE(made.ginContextsRailed);
    EXPECT_EQ(made.lsaMultimem.mcBasePtr, nullptr) << "not asked for";
    EXPECT_EQ(made.lsaRank, rank % 3);
    ANYGIN_NCCL_OK(ncclDevCommDestroy(comm, &made));
  });
}

// In a group nothing is written before its end, then all at once.
TEST(CApiFields, OutPointersAreWrittenAtTheGroupsEnd) {
  on_comms(2, [](ncclComm_t comm, int) {
    const DeviceMemory memory(4096);
    ncclDevResourceHandle_t buffer = 77;
    ncclGinSignal_t signals = 77;
    ncclDevResourceRequirements_t node{};
    node.bufferSize = 256;
    node.outBufferHandle = &buffer;
    node.ginSignalCount = 2;
    node.outGinSignalStart = &signals;
    ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    reqs.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
    reqs.ginSignalCount = 3;
    reqs.lsaBarrierCount = 1;
    reqs.resourceRequirementsList = &node;
    ncclDevComm made{};
    ncclWindow_t window = nullptr;
    ANYGIN_NCCL_OK(ncclGroupStart());
    ANYGIN_NCCL_OK(ncclDevCommCreate(comm, &reqs, &made));
    ANYGIN_NCCL_OK(ncclCommWindowRegister(comm, memory.at(), 4096, &window, NCCL_WIN_COLL_SYMMETRIC));
    reqs.ginSignalCount = 9;  // copied when asked for
    EXPECT_EQ(made.magic, 0u);
    EXPECT_EQ(window, nullptr);
    EXPECT_EQ(signals, 77u);
    EXPECT_EQ(buffer, 77u);
    ANYGIN_NCCL_OK(ncclGroupEnd());
    EXPECT_EQ(made.magic, static_cast<unsigned>(NCCL_API_MAGIC));
    EXPECT_NE(window, nullptr);
    EXPECT_EQ(signals, 3u);
    EXPECT_EQ(buffer, 1u) << "behind the barrier, in units of 128 bytes";
    ANYGIN_NCCL_OK(ncclDevCommDestroy(comm, &made));
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, window));
  });
}

TEST(CApiFields, OfAWindowTable) {
  on_comms(2, [](ncclComm_t comm, int) {
    const DeviceMemory memory(8192);
    ncclWindow_t window = nullptr;
    ANYGIN_NCCL_OK(ncclCommWindowRegister(comm, memory.at(4096), 100, &window, NCCL_WIN_COLL_SYMMETRIC));
    ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    ncclDevComm made;
    ASSERT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclSuccess) << last_error();
    bool found = false;
    for (const ncclDevCommWindowTable* table = made.windowTable; table != nullptr; table = table->next) {
      for (const ncclDevCommWindowTable::Entry& entry : table->entries) {
        if (entry.window != window) continue;
        found = true;
        EXPECT_EQ(entry.base, reinterpret_cast<uintptr_t>(memory.at(4096)));
        EXPECT_EQ(entry.size, 100u);
      }
    }
    EXPECT_TRUE(found);
    ANYGIN_NCCL_OK(ncclDevCommDestroy(comm, &made));
    ncclWindow_t barrier = nullptr;  // nobody ends before all have looked
    ANYGIN_NCCL_OK(ncclCommWindowRegister(comm, memory.at(), 8, &barrier, NCCL_WIN_DEFAULT));
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, barrier));
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, window));
  });
}

TEST(CApiFields, OfProperties) {
  on_comms(
      3,
      [](ncclComm_t comm, int rank) {
        ncclCommProperties_t props = NCCL_COMM_PROPERTIES_INITIALIZER;
        EXPECT_EQ(props.size, sizeof(props));
        EXPECT_EQ(props.version, static_cast<unsigned>(NCCL_VERSION_CODE));
        ANYGIN_NCCL_OK(ncclCommQueryProperties(comm, &props));
        EXPECT_EQ(props.cudaDev, rank);
        EXPECT_EQ(props.nvmlDev, rank);
        EXPECT_TRUE(props.hostRmaSupport);
        EXPECT_EQ(props.nLsaTeams, 1);
      },
      [](int rank) { EXPECT_EQ(cudaSetDevice(rank), cudaSuccess); });
}

TEST(CApiFields, OfTeamRequirements) {
  on_comms(4, [](ncclComm_t comm, int) {
    ncclMultimemHandle_t pair{}, unwanted{&pair};
    ncclTeamRequirements_t second{}, first{};
    second.team = ncclTeamLsa(comm);
    second.multimem = false;
    second.outMultimemHandle = &unwanted;
    first.next = &second;
    first.team = ncclTeamInnerFactor(ncclTeamLsa(comm), 2);
    first.multimem = true;
    first.outMultimemHandle = &pair;
    ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    reqs.teamRequirementsList = &first;
    ncclDevComm made;
    ASSERT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclSuccess) << last_error();
    EXPECT_NE(pair.mcBasePtr, nullptr);
    EXPECT_EQ(unwanted.mcBasePtr, nullptr);
    ANYGIN_NCCL_OK(ncclDevCommDestroy(comm, &made));
  });
}

TEST(CApiFields, OfAWaitsDescriptor) {
  on_comms(1, [](ncclComm_t comm, int rank) {
    RmaRank self(comm, rank, 4096);
    ANYGIN_NCCL_OK(self.signal(0));
    ANYGIN_NCCL_OK(self.signal(0));
    ncclWaitSignalDesc_t descriptor{};
    descriptor.peer = 0;
    descriptor.opCnt = 2;
    for (int ncclWaitSignalDesc_t::*const field : {&ncclWaitSignalDesc_t::sigIdx, &ncclWaitSignalDesc_t::ctx}) {
      descriptor.*field = 1;
      EXPECT_EQ(ncclWaitSignal(1, &descriptor, comm, self.stream()), ncclInvalidArgument);
      descriptor.*field = 0;
    }
    ANYGIN_NCCL_OK(ncclWaitSignal(1, &descriptor, comm, self.stream()));
    self.finish();
  });
}

TEST(CApiFields, OfAConfiguration) {
  ncclUniqueId id;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.trafficClass = 5;
  config.netName = "anything";
  config.commName = "mine";
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclSuccess) << last_error();
  ANYGIN_NCCL_OK(ncclCommDestroy(comm));
}

TEST(CApiFields, ResetDebugInitLeavesTheLastErrorAlone) {
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  const std::string before = last_error();
#if !defined(NCCL_OS_LINUX)
#error "without it ncclResetDebugInit is an empty macro"
#endif
  (ncclResetDebugInit)();
  EXPECT_EQ(last_error(), before);
}

// Each function of nccl.h and of core.h has a twin that is the same function.
TEST(CApiFields, EveryFunctionHasATwin) {
  std::set<std::string> functions;
  for (const char* header : {"/lib/include/nccl.h", "/lib/include/nccl_device/core.h"}) {
    std::ifstream file(std::string(ANYGIN_SOURCE_DIR) + header);
    std::string line;
    static const std::regex kDeclaration(R"(^(?:ncclResult_t|const char\*|void|int|ncclTeam_t) (nccl\w+)\(.*)");
    std::smatch match;
    while (std::getline(file, line)) {
      if (std::regex_match(line, match, kDeclaration)) functions.insert(match[1]);
    }
  }
  EXPECT_GT(functions.size(), 75u);
  for (const std::string& name : functions) {
    EXPECT_NE(dlsym(RTLD_DEFAULT, name.c_str()), nullptr) << name;
    EXPECT_EQ(dlsym(RTLD_DEFAULT, ("p" + name).c_str()), dlsym(RTLD_DEFAULT, name.c_str())) << "p" << name;
  }
}

}  // namespace
}  // namespace anygin::comm
