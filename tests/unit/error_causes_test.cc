// SPDX-License-Identifier: Apache-2.0
// Causes of errors as a program meets them: each row here is reached through nccl.h (docs/errors.md). Causes that need
// a fault, a death or a hang are reached where those are tested.
#include <cuda_runtime.h>
#include <sys/resource.h>

#include <cstring>

#include "anygin/base/platform.h"
#include "anygin/base/trace_file.h"
#include "anygin/base/world.h"
#include "support/reaches.h"
#include "unit/nccl_ranks.h"

namespace anygin::comm {
namespace {

#define REACHES_BY(name, code, call) \
  do {                               \
    EXPECT_EQ(call, code);           \
    REACHES(name, last_error());     \
  } while (false)

// The process prints `the error is ` and the text.
#define REACHES_IN_ANOTHER_PROCESS(name) "the error is " #name ": "

ncclDevCommRequirements_t requirements() {
  ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  reqs.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  return reqs;
}

TEST(ErrorCauses, TheNameLeadsTheText) {
  EXPECT_EQ(ncclGetVersion(nullptr), ncclInvalidArgument);
  EXPECT_EQ(last_error(), "GIN_ERR_NULL_ARGUMENT: ncclGetVersion: version is NULL");
}

TEST(ErrorCauses, EveryNameIsItsOwn) {
  std::vector<std::string_view> names;
  for (int i = 1; i < static_cast<int>(Cause::kCount); ++i) {
    const CauseInfo& info = info_of(static_cast<Cause>(i));
    EXPECT_NE(info.code, Code::kOk) << info.name;
    EXPECT_EQ(info.what.back(), '.') << info.name;
    EXPECT_EQ(info.remedy.back(), '.') << info.name;
    names.push_back(info.name);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(ErrorCauses, Communicators) {
  ncclUniqueId id;
  ncclComm_t comms[2] = {};
  int count = 0;
  REACHES_BY(GIN_ERR_NULL_ARGUMENT, ncclInvalidArgument, ncclGetUniqueId(nullptr));
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  REACHES_BY(GIN_ERR_COMM_INVALID, ncclInvalidArgument, ncclCommCount(nullptr, &count));
  REACHES_BY(GIN_ERR_RANK_OUT_OF_RANGE, ncclInvalidArgument, ncclCommInitRank(comms, 2, id, 2));
  REACHES_BY(GIN_ERR_NUMBER_OUT_OF_RANGE, ncclInvalidArgument, ncclCommInitRank(comms, 0, id, 0));
  const int beyond[] = {0, 1000}, twice[] = {3, 3};
  REACHES_BY(GIN_ERR_DEVICE_UNKNOWN, ncclInvalidArgument, ncclCommInitAll(comms, 2, beyond));
  REACHES_BY(GIN_ERR_DEVICE_NAMED_TWICE, ncclInvalidUsage, ncclCommInitAll(comms, 2, twice));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 2;
  REACHES_BY(GIN_ERR_CONFIG_INVALID, ncclInvalidArgument, ncclCommInitRankConfig(comms, 1, id, 0, &config));
  ncclUniqueId changed = id;
  changed.internal[40] ^= 1;
  REACHES_BY(GIN_ERR_UNIQUE_ID_INVALID, ncclInvalidArgument, ncclCommInitRank(comms, 1, changed, 0));
  REACHES_BY(GIN_ERR_GROUP_NOT_OPEN, ncclInvalidUsage, ncclGroupEnd());
  ANYGIN_NCCL_OK(ncclCommInitRank(comms, 1, id, 0));
  ANYGIN_NCCL_OK(ncclGroupStart());
  ANYGIN_NCCL_OK(ncclCommSplit(comms[0], 0, 0, &comms[1], nullptr));
  REACHES_BY(GIN_ERR_GROUP_OPEN, ncclInvalidUsage, ncclCommDestroy(comms[0]));
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  ANYGIN_NCCL_OK(ncclCommFinalize(comms[0]));
  REACHES_BY(GIN_ERR_COMM_FINALIZED, ncclInvalidArgument, ncclCommFinalize(comms[0]));
  ANYGIN_NCCL_OK(ncclCommDestroy(comms[0]));
  // The root is gone with the communicator that its id was for.
  REACHES_BY(GIN_ERR_SYSTEM_CALL, ncclSystemError, ncclCommInitRank(comms, 1, id, 0));
}

TEST(ErrorCauses, Joining) {
  {
    const WithOptions with([](Options& o) { o.topology.ranks_of_node = {2, 2}; });
    ncclComm_t comm = nullptr;
    REACHES_BY(GIN_ERR_TOPOLOGY_SIZE, ncclInvalidUsage, ncclCommInitAll(&comm, 1, nullptr));
  }
  ncclUniqueId id;
  {
    const WithOptions with([](Options& o) { o.nccl_comm_id = "nowhere:77"; });
    REACHES_BY(GIN_ERR_ADDRESS_INVALID, ncclInvalidUsage, ncclGetUniqueId(&id));
  }
  {
    const WithOptions with([](Options& o) { o.nccl_comm_id = "10.0.0.1:77"; });
    REACHES_BY(GIN_ERR_TOKEN_INVALID, ncclInvalidUsage, ncclGetUniqueId(&id));
  }
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  std::vector<std::thread> both;
  for (int size : {2, 3}) {
    both.emplace_back([&id, size] {
      ncclComm_t comm = nullptr;
      REACHES_BY(GIN_ERR_JOIN_REFUSED, ncclInvalidUsage, ncclCommInitRank(&comm, size, id, size - 2));
    });
  }
  for (std::thread& one : both) one.join();
}

TEST(ErrorCauses, DeviceMemory) {
  void* memory = nullptr;
  REACHES_BY(GIN_ERR_OUT_OF_MEMORY, ncclUnhandledCudaError, ncclMemAlloc(&memory, size_t{1} << 60));
  ANYGIN_NCCL_OK(ncclMemAlloc(&memory, 4096));
  char* const bytes = static_cast<char*>(memory);
  REACHES_BY(GIN_ERR_ALLOCATION_UNKNOWN, ncclInvalidArgument, ncclMemFree(bytes + 1));
#if !defined(ANYGIN_SANITIZE_ADDRESS)  // which reports the store itself
  const char before = bytes[-1];
  bytes[-1] = static_cast<char>(before + 1);
  REACHES_BY(GIN_ERR_ALLOCATION_OVERRUN, ncclInvalidUsage, ncclMemFree(memory));
  bytes[-1] = before;
#endif
  ANYGIN_NCCL_OK(ncclMemFree(memory));
}

TEST(ErrorCauses, Windows) {
  on_comms(2, [](ncclComm_t comm, int rank) {
    const DeviceMemory memory(4096);
    ncclWindow_t window = nullptr;
    char on_stack[64];
    REACHES_BY(GIN_ERR_WINDOW_MEMORY, ncclInvalidArgument, ncclCommWindowRegister(comm, on_stack, 64, &window, 0));
    REACHES_BY(GIN_ERR_WINDOWS_DIFFER, ncclInvalidUsage, ncclCommWindowRegister(comm, memory.at(), 64, &window, rank));
    ANYGIN_NCCL_OK(ncclCommWindowRegister(comm, memory.at(), 4096, &window, 0));
    void* out = nullptr;
    REACHES_BY(GIN_ERR_WINDOW_BOUNDS, ncclInvalidArgument, ncclGetLsaDevicePointer(window, 4096, 0, &out));
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, window));
    REACHES_BY(GIN_ERR_WINDOW_UNKNOWN, ncclInvalidArgument, ncclCommWindowDeregister(comm, window));
  });
}

TEST(ErrorCauses, WindowsRunOut) {
  on_comms(1, [](ncclComm_t comm, int) {
    const DeviceMemory memory(4096);
    ncclWindow_t window = nullptr;
    ncclResult_t result = ncclSuccess;
    int registered = 0;
    for (; registered <= 65535; ++registered) {
      result = ncclCommWindowRegister(comm, memory.at(), 4096, &window, 0);
      if (result != ncclSuccess) break;
      ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, window));
    }
    EXPECT_EQ(registered, 65535);
    EXPECT_EQ(result, ncclInvalidUsage);
    REACHES(GIN_ERR_WINDOW_FULL, last_error());
  });
}

TEST(ErrorCauses, DeviceCommunicators) {
  on_comms(2, [](ncclComm_t comm, int rank) {
    ncclDevComm made{};
    const auto refused = [&](const auto& change) {
      ncclDevCommRequirements_t reqs = requirements();
      change(reqs);
      return ncclDevCommCreate(comm, &reqs, &made);
    };
    using Requirements = ncclDevCommRequirements_t;
    REACHES_BY(GIN_ERR_NOT_INITIALIZED, ncclInvalidUsage, refused([](Requirements& r) { r.magic = 77; }));
    REACHES_BY(GIN_ERR_VERSION, ncclInvalidUsage, refused([](Requirements& r) { r.version = 99999; }));
    REACHES_BY(GIN_ERR_CONNECTION_NONE, ncclInvalidArgument, refused([](Requirements& r) {
                 r.ginConnectionType = NCCL_GIN_CONNECTION_NONE;
                 r.ginSignalCount = 1;
               }));
    REACHES_BY(GIN_ERR_BACKEND_LIMIT, ncclInvalidUsage,
               refused([](Requirements& r) { r.ginSignalCount = (1 << 24) + 1; }));
    REACHES_BY(GIN_ERR_CALL_MISMATCH, ncclInvalidUsage, refused([&](Requirements& r) { r.ginSignalCount = rank + 1; }));
    ncclMultimemHandle_t handle{};
    ncclTeamRequirements_t team{nullptr, ncclTeam_t{9, 0, 1}, true, &handle};
    REACHES_BY(GIN_ERR_MULTICAST_TEAM, ncclInvalidArgument,
               refused([&](Requirements& r) { r.teamRequirementsList = &team; }));
    ANYGIN_NCCL_OK(refused([](Requirements&) {}));
    EXPECT_EQ(made.magic, static_cast<unsigned>(NCCL_API_MAGIC));
    EXPECT_EQ(made.version, static_cast<unsigned>(NCCL_VERSION_CODE));
    ANYGIN_NCCL_OK(ncclDevCommDestroy(comm, &made));
    REACHES_BY(GIN_ERR_DEVCOMM_UNKNOWN, ncclInternalError, ncclDevCommDestroy(comm, &made));
  });
}

// What the environment took away.
ncclResult_t create_with(const std::function<void(Options&)>& change, int ranks, bool multicast = false) {
  const WithOptions with(change);
  ncclResult_t result = ncclSuccess;
  std::string said;
  on_comms(ranks, [&](ncclComm_t comm, int rank) {
    ncclDevCommRequirements_t reqs = requirements();
    reqs.lsaMultimem = multicast;
    ncclDevComm made;
    const ncclResult_t mine = ncclDevCommCreate(comm, &reqs, &made);
    if (rank == 0) result = mine, said = last_error();
  });
  // The text belongs to the thread of the rank.
  std::fprintf(stderr, "%s\n", said.c_str());
  return result;
}

std::string said_by(ncclResult_t code, const std::function<void(Options&)>& change, int ranks, bool multicast = false) {
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(create_with(change, ranks, multicast), code);
  return ::testing::internal::GetCapturedStderr();
}

TEST(ErrorCauses, TheEnvironmentTookItAway) {
  const auto apart = [](Options& o) {
    o.topology.ranks_of_node = {1, 1};
    o.topology.rail_only = true;
  };
  REACHES(GIN_ERR_NO_BACKEND, said_by(
                                  ncclInvalidArgument, [](Options& o) { o.nic = "none"; }, 1));
  REACHES(GIN_ERR_GIN_DISABLED, said_by(
                                    ncclInternalError, [](Options& o) { o.nccl_gin_enable = 0; }, 1));
  REACHES(GIN_ERR_RAIL_ONLY, said_by(ncclInvalidArgument, apart, 2));
  REACHES(GIN_ERR_NO_SYMMETRIC_MEMORY, said_by(
                                           ncclInvalidUsage, [](Options& o) { o.nccl_win_enable = 0; }, 1));
  REACHES(GIN_ERR_NO_MULTICAST, said_by(
                                    ncclInvalidArgument, [](Options& o) { o.nccl_nvls_enable = 0; }, 1, true));
}

#if !defined(ANYGIN_SANITIZE_ADDRESS) && !defined(ANYGIN_SANITIZE_THREAD)  // their shadow needs the addresses
TEST(ErrorCauses, MulticastAddressesRunOut) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(on_comms(1,
                       [](ncclComm_t comm, int) {
                         const rlimit few{size_t{1} << 37, size_t{1} << 37};
                         if (setrlimit(RLIMIT_AS, &few) != 0) std::_Exit(3);
                         ncclDevComm made;
                         ncclResult_t result = ncclSuccess;
                         for (int i = 0; i < 8 && result == ncclSuccess; ++i) {
                           ncclMultimemHandle_t handle{};
                           ncclTeamRequirements_t team{nullptr, ncclTeam_t{1, 0, 2 + i}, true, &handle};
                           ncclDevCommRequirements_t reqs = requirements();
                           reqs.teamRequirementsList = &team;
                           result = ncclDevCommCreate(comm, &reqs, &made);
                         }
                         std::fprintf(stderr, "the error is %s\n", ncclGetLastError(nullptr));
                         std::_Exit(result == ncclSystemError ? 7 : 1);
                       }),
              ::testing::ExitedWithCode(7), REACHES_IN_ANOTHER_PROCESS(GIN_ERR_MULTICAST_FULL));
}
#endif

// In a process of its own: how long a hang takes is read once.
void wait_for_nobody() {
  setenv("ANYGIN_HANG_TIMEOUT", "0.3", 1);
  on_comms(1, [](ncclComm_t comm, int) {
    cudaStream_t stream = nullptr;
    ncclWaitSignalDesc_t one{1, 0, 0, 0};
    ncclResult_t async = ncclSuccess;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess) std::_Exit(1);
    if (ncclWaitSignal(1, &one, comm, stream) != ncclSuccess) std::_Exit(2);
    if (cudaStreamSynchronize(stream) != cudaErrorLaunchFailure) std::_Exit(3);
    if (ncclCommGetAsyncError(comm, &async) != ncclSuccess || async != ncclRemoteError) std::_Exit(4);
    std::fprintf(stderr, "the error is %s\n", ncclGetLastError(comm));
    std::_Exit(0);
  });
}

TEST(ErrorCauses, AHang) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(wait_for_nobody(), ::testing::ExitedWithCode(0), REACHES_IN_ANOTHER_PROCESS(GIN_ERR_HANG));
}

TEST(ErrorCauses, HostTransfers) {
  on_comms(2, [](ncclComm_t comm, int rank) {
    const DeviceMemory memory(4096);
    char* m = memory.at();
    const auto type = static_cast<ncclDataType_t>(ncclNumTypes);
    const auto op = static_cast<ncclRedOp_t>(99);
    ASSERT_EQ(cudaSetDevice(rank), cudaSuccess);
    REACHES_BY(GIN_ERR_DATA_TYPE_UNKNOWN, ncclInvalidArgument, ncclSend(m, 1, type, 0, comm, nullptr));
    REACHES_BY(GIN_ERR_OPERATOR_UNKNOWN, ncclInvalidArgument, ncclAllReduce(m, m, 1, ncclInt, op, comm, nullptr));
    REACHES_BY(GIN_ERR_BUFFER_TOO_SMALL, ncclInvalidArgument, ncclSend(m, 1025, ncclInt, 0, comm, nullptr));
    REACHES_BY(GIN_ERR_BUFFERS_SAME, ncclInvalidArgument, ncclAlltoAll(m, m, 2, ncclInt, comm, nullptr));
    REACHES_BY(GIN_ERR_STREAM_UNKNOWN, ncclUnhandledCudaError,
               ncclSend(m, 1, ncclInt, 0, comm, reinterpret_cast<cudaStream_t>(m)));
    REACHES_BY(GIN_ERR_RMA_SELECTOR, ncclInvalidArgument, ncclSignal(0, 0, 1, 0, comm, nullptr));
  });
  const WithOptions apart([](Options& o) {
    o.topology.ranks_of_node = {1, 1};
    o.topology.rail_only = true;
  });
  on_comms(2, [](ncclComm_t comm, int rank) {
    ASSERT_EQ(cudaSetDevice(rank), cudaSuccess);
    REACHES_BY(GIN_ERR_NO_HOST_RMA, ncclInvalidArgument, ncclSignal(0, 0, 0, 0, comm, nullptr));
  });
}

TEST(ErrorCauses, WhatIsNotThere) {
  const WithOptions foreign([](Options& o) { o.fabric = "tcp"; });  // the environment cannot say so yet
  on_comms(1, [](ncclComm_t comm, int) {
    const DeviceMemory memory(4096);
    REACHES_BY(GIN_ERR_NO_HOST_TRANSFERS, ncclInvalidUsage, ncclSend(memory.at(), 1, ncclInt, 0, comm, nullptr));
    REACHES_BY(GIN_ERR_NOT_SUPPORTED, ncclInvalidUsage, ncclCommSuspend(comm, NCCL_SUSPEND_MEM));
  });
}

}  // namespace
}  // namespace anygin::comm
