// SPDX-License-Identifier: Apache-2.0
// What programs of 2.31 and 2.32 hand in beyond 2.30.7. This file is compiled with -DANYGIN_NCCL_VERSION=23203.
#include <cuda_runtime.h>
#include <nccl_device/host.h>

#include <climits>
#include <cstdlib>
#include <optional>

#include "anygin/comm/newer_fields.h"
#include "support/reaches.h"
#include "unit/rma_rank.h"

namespace anygin::comm {
namespace {

static_assert(NCCL_VERSION_CODE == 23203);

// The library's own view of the fields that it is not compiled with.
#define SAME_PLACE(Struct, field, Newer, own) static_assert(offsetof(Struct, field) == offsetof(Newer, own))
SAME_PLACE(ncclDevCommRequirements, ginCustomStride, NewerRequirements, custom_stride);
SAME_PLACE(ncclDevCommRequirements, ginType, NewerRequirements, gin_type);
SAME_PLACE(ncclDevCommRequirements, useRuntimeVersion, NewerRequirements, use_runtime_version);
SAME_PLACE(ncclDevCommRequirements, cftCaps, NewerRequirements, cft_caps);
SAME_PLACE(ncclDevCommRequirements, cftBarrierCount, NewerRequirements, cft_barriers);
SAME_PLACE(ncclDevCommRequirements, ginCustomArray, NewerRequirements, custom_array);
SAME_PLACE(ncclDevCommRequirements, ginCustomArrayCount, NewerRequirements, custom_array_count);
static_assert(sizeof(ncclDevCommRequirements) == sizeof(NewerRequirements));
SAME_PLACE(ncclCommProperties, commHash, NewerProperties, hash);
SAME_PLACE(ncclCommProperties, ginMinStride, NewerProperties, min_stride);
SAME_PLACE(ncclCommProperties, ginConnectionType, NewerProperties, connection_type);
SAME_PLACE(ncclCommProperties, ginSupport, NewerProperties, support);
SAME_PLACE(ncclCommProperties, devCommRuntimeVersionSize, NewerProperties, dev_comm_bytes);
static_assert(sizeof(ncclCommProperties) == sizeof(NewerProperties));
SAME_PLACE(ncclConfig_t, numRmaSig, NewerConfig, rma_signals);
SAME_PLACE(ncclConfig_t, hostCftMode, NewerConfig, host_cft_mode);
static_assert(sizeof(ncclConfig_t) == sizeof(NewerConfig));
static_assert(NCCL_GIN_CONNECTION_CUSTOM_STRIDE == kCustomStride && NCCL_GIN_CONNECTION_CUSTOM_ARRAY == kCustomArray);

ncclCommProperties_t properties_of(ncclComm_t comm) {
  ncclCommProperties_t props = NCCL_COMM_PROPERTIES_INITIALIZER;
  EXPECT_EQ(ncclCommQueryProperties(comm, &props), ncclSuccess) << last_error();
  return props;
}

TEST(CApiNewer, PropertiesAreFilled) {
  uint64_t hashes[2][2] = {};
  for (auto& hash : hashes) {
    on_comms(2, [&](ncclComm_t comm, int rank) {
      const ncclCommProperties_t props = properties_of(comm);
      hash[rank] = props.commHash;
      EXPECT_EQ(props.ginMinStride, 1);
      EXPECT_EQ(props.ginConnectionType, NCCL_GIN_CONNECTION_FULL);
      for (int type = 0; type < 64; ++type) EXPECT_EQ(props.ginSupport[type], type == NCCL_GIN_TYPE_PROXY) << type;
      EXPECT_EQ(props.devCommRuntimeVersionSize, sizeof(ncclDevComm));
    });
  }
  EXPECT_EQ(hashes[0][0], hashes[0][1]);
  EXPECT_NE(hashes[0][0], hashes[1][0]) << "another communicator";
}

// A struct of 2.30.7 stays as long as it is.
TEST(CApiNewer, OlderPropertiesAreNotWrittenBeyondTheirEnd) {
  on_comms(1, [](ncclComm_t comm, int) {
    ncclCommProperties_t props = NCCL_COMM_PROPERTIES_INITIALIZER;
    props.size = offsetof(ncclCommProperties_t, railedGinType) + sizeof(ncclGinType_t);
    props.version = NCCL_VERSION(2, 30, 7);
    props.ginMinStride = 77;
    props.commHash = 78;
    ANYGIN_NCCL_OK(ncclCommQueryProperties(comm, &props));
    EXPECT_EQ(props.railedGinType, NCCL_GIN_TYPE_PROXY);
    EXPECT_EQ(props.ginMinStride, 77);
    EXPECT_EQ(props.commHash, 78u);
  });
}

TEST(CApiNewer, WhereNoStrideIsPossible) {
  const WithOptions with([](Options& o) { o.nic = "none"; });
  on_comms(1, [](ncclComm_t comm, int) {
    const ncclCommProperties_t props = properties_of(comm);
    EXPECT_EQ(props.ginMinStride, INT_MAX);
    EXPECT_EQ(props.ginConnectionType, NCCL_GIN_CONNECTION_NONE);
    EXPECT_FALSE(props.ginSupport[NCCL_GIN_TYPE_PROXY]);
  });
}

TEST(CApiNewer, RequirementsOfTheNewerFields) {
  on_comms(2, [](ncclComm_t comm, int) {
    ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    auto* const made = static_cast<ncclDevComm_t*>(std::malloc(properties_of(comm).devCommRuntimeVersionSize));
    const auto create = [&] { return ncclDevCommCreate(comm, &reqs, made); };
    const auto taken = [&] {
      ASSERT_EQ(create(), ncclSuccess) << last_error();
      EXPECT_EQ(made->ginContextsRailed, false);
      EXPECT_GE(made->ginContextCount, 4u);
      ANYGIN_NCCL_OK(ncclDevCommDestroy(comm, made));
    };
    reqs.useRuntimeVersion = true;
    reqs.ginConnectionType = NCCL_GIN_CONNECTION_CUSTOM_STRIDE;
    taken();
    reqs.ginCustomStride = 0;
    EXPECT_EQ(create(), ncclInvalidArgument);
    EXPECT_TRUE(last_error_says("ginCustomStride is 0; 1 or more")) << last_error();
    reqs.ginCustomStride = 1;
    reqs.ginType = NCCL_GIN_TYPE_GPI;
    EXPECT_EQ(create(), ncclInvalidArgument);
    REACHES(GIN_ERR_NO_BACKEND, last_error());
    reqs.ginType = NCCL_GIN_TYPE_PROXY;
    taken();
    const int peers[] = {0, 1, 2};
    reqs.ginConnectionType = NCCL_GIN_CONNECTION_CUSTOM_ARRAY;
    reqs.ginCustomArray = peers;
    reqs.ginCustomArrayCount = 3;
    EXPECT_EQ(create(), ncclInvalidArgument);
    EXPECT_TRUE(last_error_says("ginCustomArray names rank 2; 0 to 1")) << last_error();
    reqs.ginCustomArrayCount = 2;
    taken();
    reqs.cftCaps = 1;
    EXPECT_EQ(create(), ncclInvalidUsage);
    REACHES(GIN_ERR_NOT_SUPPORTED, last_error());
    std::free(made);
  });
}

// Kernels report what they send beyond.
TEST(CApiNewer, ConnectionsToSomeRanksOnlyAreKnownToKernels) {
  on_comms(5, [](ncclComm_t comm, int rank) {
    ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    const auto connected = [&]() -> std::optional<uint32_t> {
      ncclDevComm made;
      EXPECT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclSuccess) << last_error();
      const uint32_t* words = made.resourceWindow_inlined.view->connected;
      const std::optional<uint32_t> first = words == nullptr ? std::nullopt : std::optional(words[0]);
      ANYGIN_NCCL_OK(ncclDevCommDestroy(comm, &made));
      return first;
    };
    reqs.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
    EXPECT_EQ(connected(), std::nullopt);
    reqs.ginConnectionType = NCCL_GIN_CONNECTION_CUSTOM_STRIDE;
    reqs.ginCustomStride = 2;
    EXPECT_EQ(connected(), rank % 2 == 0 ? 0b10101u : 0b01010u);
    const int peers[] = {0, 3};
    reqs.ginConnectionType = NCCL_GIN_CONNECTION_CUSTOM_ARRAY;
    reqs.ginCustomArray = peers;
    reqs.ginCustomArrayCount = 2;
    EXPECT_EQ(connected(), 0b01001u | 1u << rank);
  });
}

// Rails apart: a stride along the rail is one, another is not.
TEST(CApiNewer, StridesAlongARail) {
  const WithOptions with([](Options& o) {
    o.topology.ranks_of_node = {2, 2};
    o.topology.rail_only = true;
  });
  on_comms(4, [](ncclComm_t comm, int rank) {
    const ncclCommProperties_t props = properties_of(comm);
    EXPECT_EQ(props.ginMinStride, 2);
    EXPECT_EQ(props.ginConnectionType, NCCL_GIN_CONNECTION_RAIL);
    ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    reqs.ginConnectionType = NCCL_GIN_CONNECTION_CUSTOM_STRIDE;
    ncclDevComm made;
    reqs.ginCustomStride = 3;
    EXPECT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclInvalidArgument);
    REACHES(GIN_ERR_RAIL_ONLY, last_error());
    reqs.ginCustomStride = 2;
    ASSERT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclSuccess) << last_error();
    EXPECT_TRUE(made.ginContextsRailed);
    ANYGIN_NCCL_OK(ncclDevCommDestroy(comm, &made));
    const int rail[] = {(rank + 2) % 4};
    reqs.ginConnectionType = NCCL_GIN_CONNECTION_CUSTOM_ARRAY;
    reqs.ginCustomArray = rail;
    reqs.ginCustomArrayCount = 1;
    ASSERT_EQ(ncclDevCommCreate(comm, &reqs, &made), ncclSuccess) << last_error();
    EXPECT_TRUE(made.ginContextsRailed);
    ANYGIN_NCCL_OK(ncclDevCommDestroy(comm, &made));
  });
}

TEST(CApiNewer, CountedWindowsAreRefused) {
  on_comms(1, [](ncclComm_t comm, int) {
    const DeviceMemory memory(4096);
    ncclWindow_t window = nullptr;
    EXPECT_EQ(ncclCommWindowRegister(comm, memory.at(), 4096, &window, NCCL_WIN_CFT_COUNTED), ncclInvalidUsage);
    EXPECT_EQ(window, nullptr);
    ANYGIN_NCCL_OK(ncclCommWindowRegister(comm, memory.at(), 4096, &window, NCCL_WIN_GIN_ONLY));
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, window));
  });
}

// Two contexts of three signals each: no signal is counted for another.
TEST(CApiNewer, HostOperationsNameContextsAndSignals) {
  ncclUniqueId id;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  std::vector<std::thread> ranks;
  for (int rank : {0, 1}) {
    ranks.emplace_back([&, rank] {
      ASSERT_EQ(cudaSetDevice(rank), cudaSuccess);
      ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
      config.numRmaCtx = 2;
      config.numRmaSig = 3;
      ncclComm_t comm = nullptr;
      ASSERT_EQ(ncclCommInitRankConfig(&comm, 2, id, rank, &config), ncclSuccess) << last_error();
      {
        RmaRank mine(comm, rank, 8192);
        const int other = 1 - rank;
        mine.fill(static_cast<uint32_t>(100 * (rank + 1)), 1);
        EXPECT_EQ(ncclSignal(other, 3, 0, 0, comm, mine.stream()), ncclInvalidArgument);
        EXPECT_TRUE(last_error_says("sigIdx is 3; 0 to 2 would be right")) << last_error();
        EXPECT_EQ(ncclSignal(other, 0, 2, 0, comm, mine.stream()), ncclInvalidArgument);
        EXPECT_TRUE(last_error_says("ctx is 2; 0 to 1 would be right")) << last_error();
        ncclWaitSignalDesc_t wrong{1, other, -1, 0};
        EXPECT_EQ(ncclWaitSignal(1, &wrong, comm, mine.stream()), ncclInvalidArgument);
        // Five signals of (1, 2), two of (1, 0), one of each other: a wait for those of one takes none of another.
        ANYGIN_NCCL_OK(ncclSignal(other, 0, 1, 0, comm, mine.stream()));
        for (int i = 0; i < 4; ++i) ANYGIN_NCCL_OK(ncclSignal(other, 2, 1, 0, comm, mine.stream()));
        for (int context = 0; context < 2; ++context) {
          for (int signal = 0; signal < 3; ++signal) {
            ANYGIN_NCCL_OK(ncclPutSignal(mine.source(), 1, ncclUint32, other, mine.window(),
                                         sizeof(uint32_t) * static_cast<size_t>(3 * context + signal), signal, context,
                                         0, comm, mine.stream()));
          }
        }
        std::vector<ncclWaitSignalDesc_t> all;
        for (int context = 0; context < 2; ++context) {
          for (int signal = 0; signal < 3; ++signal)
            all.push_back({context == 1 && signal == 2 ? 5 : 1, other, signal, context});
        }
        ANYGIN_NCCL_OK(ncclWaitSignal(6, all.data(), comm, mine.stream()));
        mine.finish();
        for (int i = 0; i < 6; ++i) EXPECT_EQ(mine.words()[i], static_cast<uint32_t>(100 * (other + 1))) << i;
        // Nothing is left of signal (0, 1): a second wait for it needs a second signal, whatever is left of (1, 0).
        ncclWaitSignalDesc_t again{1, other, 1, 0};
        ANYGIN_NCCL_OK(ncclWaitSignal(1, &again, comm, mine.stream()));
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        EXPECT_EQ(cudaStreamQuery(mine.stream()), cudaErrorNotReady);
        mine.meet();
        cudaStream_t beside = nullptr;
        ASSERT_EQ(cudaStreamCreateWithFlags(&beside, cudaStreamNonBlocking), cudaSuccess);
        ANYGIN_NCCL_OK(ncclSignal(other, 1, 0, 0, comm, beside));
        EXPECT_EQ(cudaStreamSynchronize(beside), cudaSuccess);
        mine.finish();
        EXPECT_EQ(cudaStreamDestroy(beside), cudaSuccess);
      }
      ANYGIN_NCCL_OK(ncclCommDestroy(comm));
    });
  }
  for (std::thread& one : ranks) one.join();
}

TEST(CApiNewer, ConfigFieldsHaveRanges) {
  ncclUniqueId id;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  ncclComm_t comm = nullptr;
  const auto refused = [&](const char* words, const auto& change) {
    ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
    change(config);
    EXPECT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclInvalidArgument) << words;
    EXPECT_TRUE(last_error_says(words)) << last_error();
  };
  refused("numRmaSig is 0", [](ncclConfig_t& c) { c.numRmaSig = 0; });
  refused("rmaEagerInit is 2", [](ncclConfig_t& c) { c.rmaEagerInit = 2; });
  refused("hostCftMode is 1", [](ncclConfig_t& c) { c.hostCftMode = 1; });
  refused("times numRmaSig", [](ncclConfig_t& c) { c.numRmaSig = c.numRmaCtx = 100; });
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.rmaEagerInit = 0;
  config.launchOrderImplicit = 1;
  ANYGIN_NCCL_OK(ncclCommInitRankConfig(&comm, 1, id, 0, &config));
  EXPECT_EQ(ncclSignal(0, 1, 0, 0, comm, nullptr), ncclInvalidArgument) << "one signal unless more are asked for";
  ANYGIN_NCCL_OK(ncclCommDestroy(comm));
}

TEST(CApiNewer, StructsOfALaterReleaseAreServedOnDemand) {
  on_comms(1, [](ncclComm_t comm, int) {
    ncclCommProperties_t props = NCCL_COMM_PROPERTIES_INITIALIZER;
    props.version = NCCL_VERSION(2, 40, 1);
    EXPECT_EQ(ncclCommQueryProperties(comm, &props), ncclInvalidUsage);
    EXPECT_TRUE(last_error_says("headers of 2.40.1 (24001); this library serves 2.30.0 to 2.32.3")) << last_error();
    const WithOptions with([](Options& o) { o.nccl_enable_version_check = 0; });
    EXPECT_EQ(ncclCommQueryProperties(comm, &props), ncclSuccess) << last_error();
  });
}

}  // namespace
}  // namespace anygin::comm
