// SPDX-License-Identifier: Apache-2.0
// Every row of the table of contract 2.3: the value that is refused, and the nearest that is not.
#include <climits>

#include "unit/nccl_ranks.h"

namespace anygin::comm {
namespace {

struct Row {
  const char* name;
  int ncclConfig_t::*field;
  int bad, good;
};

const Row kRows[] = {
    {"blocking", &ncclConfig_t::blocking, 2, 1},
    {"blocking", &ncclConfig_t::blocking, -1, 0},
    {"cgaClusterSize", &ncclConfig_t::cgaClusterSize, -1, 0},
    {"minCTAs", &ncclConfig_t::minCTAs, 0, 1},
    {"maxCTAs", &ncclConfig_t::maxCTAs, 0, 1},
    {"splitShare", &ncclConfig_t::splitShare, 2, 1},
    {"collnetEnable", &ncclConfig_t::collnetEnable, 2, 1},
    {"CTAPolicy", &ncclConfig_t::CTAPolicy, 4, 3},
    {"shrinkShare", &ncclConfig_t::shrinkShare, 2, 1},
    {"nvlsCTAs", &ncclConfig_t::nvlsCTAs, 0, 1},
    {"nChannelsPerNetPeer", &ncclConfig_t::nChannelsPerNetPeer, 0, 1},
    {"nvlinkCentricSched", &ncclConfig_t::nvlinkCentricSched, 2, 1},
    {"graphUsageMode", &ncclConfig_t::graphUsageMode, 3, 2},
    {"numRmaCtx", &ncclConfig_t::numRmaCtx, -1, 0},
    {"maxP2pPeers", &ncclConfig_t::maxP2pPeers, 0, 1},
    {"graphStreamOrdering", &ncclConfig_t::graphStreamOrdering, 2, 0},
};

ncclResult_t init_with(ncclConfig_t config) {
  ncclUniqueId id;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  ncclComm_t comm = nullptr;
  ncclResult_t result = ncclCommInitRankConfig(&comm, 1, id, 0, &config);
  while (result == ncclInProgress && ncclCommGetAsyncError(comm, &result) == ncclSuccess) {
  }
  ANYGIN_NCCL_OK(ncclCommDestroy(comm));
  return result;
}

TEST(CApiConfig, EveryFieldHasARange) {
  for (const Row& row : kRows) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    config.*row.field = row.bad;
    EXPECT_EQ(init_with(config), ncclInvalidArgument) << row.name << " = " << row.bad;
    EXPECT_TRUE(last_error_says(std::string(row.name) + " is")) << last_error();
    config.*row.field = row.good;
    EXPECT_EQ(init_with(config), ncclSuccess) << row.name << " = " << row.good << ": " << last_error();
  }
}

TEST(CApiConfig, MoreLeastThanMostThreadBlocks) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.minCTAs = 5;
  config.maxCTAs = 4;
  EXPECT_EQ(init_with(config), ncclInvalidArgument);
  config.maxCTAs = 5;
  EXPECT_EQ(init_with(config), ncclSuccess) << last_error();
}

TEST(CApiConfig, MustBeInitialized) {
  ncclConfig_t config{};
  config.size = sizeof(config);
  EXPECT_EQ(init_with(config), ncclInvalidArgument);
  EXPECT_TRUE(last_error_says("NCCL_CONFIG_INITIALIZER")) << last_error();
  config = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(init_with(config), ncclSuccess) << last_error();
}

TEST(CApiConfig, FieldsNewerThanTheProgramAreIgnored) {
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.graphStreamOrdering = 7;
  config.maxP2pPeers = 0;
  config.version = NCCL_VERSION(2, 29, 7);
  EXPECT_EQ(init_with(config), ncclSuccess) << last_error();
  config.version = NCCL_VERSION(2, 30, 0);
  EXPECT_EQ(init_with(config), ncclInvalidArgument);
}

}  // namespace
}  // namespace anygin::comm
