// SPDX-License-Identifier: Apache-2.0
// Sizes, offsets and initializers that programs rely on (contract 2.3, 2.8, 4.1).
#include <gtest/gtest.h>
#include <nccl.h>
#include <nccl_device.h>

#include <type_traits>

namespace {

static_assert(sizeof(ncclConfig_t) == 96);
static_assert(sizeof(ncclCommProperties) == 56);
static_assert(sizeof(ncclDevCommRequirements) == 96);
static_assert(sizeof(ncclDevResourceRequirements) == 56);
static_assert(sizeof(ncclTeamRequirements) == 32);
static_assert(sizeof(ncclUniqueId) == 128);
static_assert(sizeof(ncclGinRequest_t) == 16);
static_assert(sizeof(ncclGinDescriptorSmem) == 64 && alignof(ncclGinDescriptorSmem) == 16);
static_assert(sizeof(ncclResourceWindow_vidmem) == 64);

static_assert(sizeof(ncclDevComm) == 240 && alignof(ncclDevComm) == 8);
static_assert(std::is_trivially_copyable_v<ncclDevComm>);
static_assert(offsetof(ncclDevComm, rank) == 8);
static_assert(offsetof(ncclDevComm, lsaRank) == 20);
static_assert(offsetof(ncclDevComm, windowTable) == 32);
static_assert(offsetof(ncclDevComm, resourceWindow) == 40);
static_assert(offsetof(ncclDevComm, hybridWorldGinBarrier) == 112);
static_assert(offsetof(ncclDevComm, lsaMultimem) == 120);
static_assert(offsetof(ncclDevComm, lsaBarrier) == 128);
static_assert(offsetof(ncclDevComm, railGinBarrier) == 136);
static_assert(offsetof(ncclDevComm, ginConnectionCount) == 144);
static_assert(offsetof(ncclDevComm, ginHandles) == 152);
static_assert(offsetof(ncclDevComm, ginSignalCount) == 184);
static_assert(offsetof(ncclDevComm, ginSignalShadows) == 192);
static_assert(offsetof(ncclDevComm, ginContextCount) == 200);
static_assert(offsetof(ncclDevComm, ginConnectionsRailed) == 204);
static_assert(offsetof(ncclDevComm, abortFlag) == 208);
static_assert(offsetof(ncclDevComm, hybridLsaBarrier) == 216);
static_assert(offsetof(ncclDevComm, hybridRailGinBarrier) == 224);
static_assert(offsetof(ncclDevComm, worldGinBarrier) == 232);

static_assert(ncclTimeout == 8 && ncclNumTypes == 12 && ncclMaxRedOp == 0x7fffffff);
static_assert(NCCL_VERSION_CODE == 23007 && NCCL_VERSION(2, 30, 7) == 23007 && NCCL_VERSION(2, 8, 3) == 2803);
static_assert(NCCL_GIN_BACKEND_MASK_ALL == 4, "one pass without __CUDA_ARCH__: the proxy alone");
static_assert((ncclGinFenceLevel::Put | ncclGinFenceLevel::Get) == 3 && ncclGinFenceLevel::Relaxed == None);

TEST(NcclLayout, initializers_hold_the_defaults) {
  const ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  EXPECT_EQ(reqs.size, sizeof(reqs));
  EXPECT_EQ(reqs.magic, 0xcafebeefu);
  EXPECT_EQ(reqs.version, 23007u);
  EXPECT_EQ(reqs.resourceRequirementsList, nullptr);
  EXPECT_EQ(reqs.teamRequirementsList, nullptr);
  EXPECT_FALSE(reqs.lsaMultimem);
  EXPECT_EQ(reqs.barrierCount + reqs.lsaBarrierCount + reqs.railGinBarrierCount + reqs.worldGinBarrierCount, 0);
  EXPECT_FALSE(reqs.ginForceEnable);
  EXPECT_EQ(reqs.ginContextCount, 4);
  EXPECT_EQ(reqs.ginSignalCount, 0);
  EXPECT_EQ(reqs.ginCounterCount, 0);
  EXPECT_EQ(reqs.ginConnectionType, NCCL_GIN_CONNECTION_NONE);
  EXPECT_FALSE(reqs.ginExclusiveContexts);
  EXPECT_EQ(reqs.ginQueueDepth, 0);
  EXPECT_EQ(reqs.ginTrafficClass, INT_MIN);
  EXPECT_TRUE(reqs.ginStrongSignalsRequired);
  EXPECT_TRUE(reqs.ginVaSignalsRequired);

  const ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  EXPECT_EQ(config.size, sizeof(config));
  EXPECT_EQ(config.magic, 0xcafebeefu);
  EXPECT_EQ(config.version, 23007u);
  EXPECT_EQ(config.blocking, INT_MIN);
  EXPECT_EQ(config.netName, nullptr);
  EXPECT_EQ(config.splitShare, INT_MIN);
  EXPECT_EQ(config.commName, nullptr);
  EXPECT_EQ(config.graphStreamOrdering, INT_MIN);

  const ncclCommProperties_t properties = NCCL_COMM_PROPERTIES_INITIALIZER;
  EXPECT_EQ(properties.size, sizeof(properties));
  EXPECT_EQ(properties.magic, 0xcafebeefu);
  EXPECT_EQ(properties.railedGinType, NCCL_GIN_TYPE_NONE);

  const ncclSimInfo_t sim = NCCL_SIM_INFO_INITIALIZER;
  EXPECT_EQ(sim.magic, 0x74685283u);
  EXPECT_EQ(sim.estimatedTime, -1.0f);
}

}  // namespace
