// SPDX-License-Identifier: Apache-2.0
// A communicator that ends within a group, and a group that never ends: what is not done is said, and nothing is used
// that is gone.
#include <gmock/gmock.h>

#include <thread>

#include "nccl_ranks.h"

namespace anygin::comm {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

ncclComm_t alone() {
  ncclComm_t comm = nullptr;
  EXPECT_EQ(ncclCommInitAll(&comm, 1, nullptr), ncclSuccess) << last_error();
  return comm;
}

// To itself, in an open group.
void exchange(ncclComm_t comm, const DeviceMemory& memory) {
  ANYGIN_NCCL_OK(ncclSend(memory.at(), 1, ncclInt, 0, comm, nullptr));
  ANYGIN_NCCL_OK(ncclRecv(memory.at(64), 1, ncclInt, 0, comm, nullptr));
}

TEST(Group, a_communicator_does_not_end_before_its_calls) {
  const DeviceMemory memory(128);
  const ncclComm_t comm = alone();
  for (const auto end : {ncclCommDestroy, ncclCommFinalize}) {
    ANYGIN_NCCL_OK(ncclGroupStart());
    exchange(comm, memory);
    EXPECT_EQ(end(comm), ncclInvalidUsage);
    EXPECT_THAT(last_error(), AllOf(HasSubstr("GIN_ERR_GROUP_OPEN"), HasSubstr("ncclGroupEnd first would be right")));
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);  // a call of it failed
  }
  ncclComm_t child = nullptr;
  ANYGIN_NCCL_OK(ncclGroupStart());
  ANYGIN_NCCL_OK(ncclCommSplit(comm, 0, 0, &child, nullptr));
  EXPECT_EQ(ncclCommDestroy(comm), ncclInvalidUsage);
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
  EXPECT_EQ(child, nullptr);
  ANYGIN_NCCL_OK(ncclCommDestroy(comm));
}

TEST(Group, an_aborted_communicator_takes_its_calls_along) {
  const DeviceMemory memory(128);
  const ncclComm_t comm = alone(), other = alone();
  ANYGIN_NCCL_OK(ncclGroupStart());
  exchange(comm, memory);
  exchange(other, memory);
  ANYGIN_NCCL_OK(ncclCommAbort(comm));
  ANYGIN_NCCL_OK(ncclGroupEnd());
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);  // what the other one asked for was done
  ANYGIN_NCCL_OK(ncclCommDestroy(other));
}

TEST(Group, a_communicator_that_another_thread_ended_is_not_used) {
  const DeviceMemory memory(128);
  const ncclComm_t comm = alone();
  ANYGIN_NCCL_OK(ncclGroupStart());
  exchange(comm, memory);
  std::thread([&] { ANYGIN_NCCL_OK(ncclCommDestroy(comm)); }).join();
  EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
  EXPECT_THAT(last_error(), HasSubstr("nothing of the group was done"));
}

TEST(Group, a_thread_that_ends_within_one_is_told) {
  const DeviceMemory memory(128);
  const ncclComm_t comm = alone();
  const auto told = [](const std::function<void()>& body) {
    ::testing::internal::CaptureStderr();
    std::thread(body).join();
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_THAT(told([&] {
                ANYGIN_NCCL_OK(ncclGroupStart());
                exchange(comm, memory);
              }),
              AllOf(HasSubstr("a thread ends within one"), HasSubstr("ncclGroupEnd makes them")));
  EXPECT_EQ(told([&] {
              ANYGIN_NCCL_OK(ncclGroupStart());
              exchange(comm, memory);
              ANYGIN_NCCL_OK(ncclGroupEnd());
              ANYGIN_NCCL_OK(ncclGroupStart());
            }),
            "");
  EXPECT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ANYGIN_NCCL_OK(ncclCommDestroy(comm));
}

}  // namespace
}  // namespace anygin::comm
