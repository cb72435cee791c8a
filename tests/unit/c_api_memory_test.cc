// SPDX-License-Identifier: Apache-2.0
// Buffer registration, and the functions of a memory manager and a cost model that are not here (contract 2.4).
#include <cuda_runtime.h>

#include "support/reaches.h"
#include "unit/nccl_ranks.h"

namespace anygin::comm {
namespace {

TEST(CApiMemory, BuffersAreRegisteredAndDeregisteredOnce) {
  on_comms(2, [](ncclComm_t comm, int) {
    const DeviceMemory memory(4096);
    void *first = nullptr, *second = nullptr;
    ANYGIN_NCCL_OK(ncclCommRegister(comm, memory.at(), 4096, &first));
    ANYGIN_NCCL_OK(ncclCommRegister(comm, memory.at(), 4096, &second));
    EXPECT_NE(first, nullptr);
    EXPECT_NE(first, second);
    EXPECT_EQ(ncclCommRegister(nullptr, memory.at(), 4096, &first), ncclInvalidArgument);
    EXPECT_EQ(ncclCommRegister(comm, nullptr, 4096, &first), ncclInvalidArgument);
    EXPECT_EQ(ncclCommRegister(comm, memory.at(), 0, &first), ncclInvalidArgument);
    EXPECT_EQ(ncclCommRegister(comm, memory.at(), 4096, nullptr), ncclInvalidArgument);
    ANYGIN_NCCL_OK(ncclCommDeregister(comm, first));
    EXPECT_EQ(ncclCommDeregister(comm, first), ncclInvalidArgument);
    REACHES(GIN_ERR_REGISTRATION_UNKNOWN, last_error());
    EXPECT_EQ(ncclCommDeregister(comm, nullptr), ncclSuccess);
    ANYGIN_NCCL_OK(ncclCommDeregister(comm, second));
  });
}

TEST(CApiMemory, AHandleOfAnotherCommunicatorIsNone) {
  ncclComm_t comms[2] = {};
  ANYGIN_NCCL_OK(ncclCommInitAll(comms, 2, nullptr));
  const DeviceMemory memory(4096);
  void* handle = nullptr;
  ANYGIN_NCCL_OK(ncclCommRegister(comms[0], memory.at(), 4096, &handle));
  EXPECT_EQ(ncclCommDeregister(comms[1], handle), ncclInvalidArgument);
  ANYGIN_NCCL_OK(ncclCommDeregister(comms[0], handle));
  for (ncclComm_t comm : comms) ANYGIN_NCCL_OK(ncclCommDestroy(comm));
}

TEST(CApiMemory, ThereIsNoMemoryManager) {
  on_comms(1, [](ncclComm_t comm, int) {
    uint64_t value = 77;
    EXPECT_EQ(ncclCommSuspend(comm, NCCL_SUSPEND_MEM), ncclInvalidUsage);
    EXPECT_TRUE(last_error_says("NCCL_DISABLE_MEM_MANAGER")) << last_error();
    EXPECT_EQ(ncclCommSuspend(comm, 6), ncclInvalidArgument);
    EXPECT_EQ(ncclCommSuspend(nullptr, NCCL_SUSPEND_MEM), ncclInvalidArgument);
    EXPECT_EQ(ncclCommResume(comm), ncclInvalidUsage);
    EXPECT_EQ(ncclCommResume(nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclCommMemStats(comm, ncclStatGpuMemTotal, nullptr), ncclInvalidArgument);
    EXPECT_EQ(ncclCommMemStats(comm, static_cast<ncclCommMemStat_t>(4), &value), ncclInvalidArgument);
    EXPECT_EQ(ncclCommMemStats(comm, ncclStatGpuMemTotal, &value), ncclInvalidUsage);
    EXPECT_EQ(value, 77u);
    // The communicator is as it was.
    ncclResult_t async = ncclInternalError;
    ANYGIN_NCCL_OK(ncclCommGetAsyncError(comm, &async));
    EXPECT_EQ(async, ncclSuccess);
  });
}

TEST(CApiMemory, ASimulatedGroupStartsNothing) {
  on_comms(1, [](ncclComm_t comm, int) {
    const DeviceMemory from(8), into(8);
    from.at()[0] = 7;
    into.at()[0] = 1;
    ncclSimInfo_t info = NCCL_SIM_INFO_INITIALIZER;
    ANYGIN_NCCL_OK(ncclGroupStart());
    ANYGIN_NCCL_OK(ncclSend(from.at(), 8, ncclChar, 0, comm, nullptr));
    ANYGIN_NCCL_OK(ncclRecv(into.at(), 8, ncclChar, 0, comm, nullptr));
    ANYGIN_NCCL_OK(ncclGroupSimulateEnd(&info));
    EXPECT_EQ(info.estimatedTime, -1.0f);
    EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
    EXPECT_EQ(into.at()[0], 1);
    EXPECT_EQ(ncclGroupSimulateEnd(nullptr), ncclInvalidUsage) << "the group has ended";
    // A struct of another kind ends the group, too.
    ANYGIN_NCCL_OK(ncclGroupStart());
    info.magic = 0;
    EXPECT_EQ(ncclGroupSimulateEnd(&info), ncclInvalidArgument);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  });
}

}  // namespace
}  // namespace anygin::comm
