// SPDX-License-Identifier: Apache-2.0
// Functions that are declared and not there yet: each is refused and says so. A line goes when its function comes.
#include "unit/nccl_ranks.h"

namespace anygin::comm {
namespace {

#define EXPECT_NOT_YET(function, ...)                                             \
  EXPECT_EQ(function(__VA_ARGS__), ncclInvalidUsage) << "says no more 'not yet'"; \
  EXPECT_TRUE(last_error_says(#function ": not yet")) << last_error()

TEST(CApiNotYet, FunctionsOfCommunicators) {
  EXPECT_NOT_YET(ncclCommSuspend, nullptr, 0);
  EXPECT_NOT_YET(ncclCommResume, nullptr);
  EXPECT_NOT_YET(ncclCommMemStats, nullptr, ncclStatGpuMemTotal, nullptr);
  EXPECT_NOT_YET(ncclCommRegister, nullptr, nullptr, 0, nullptr);
  EXPECT_NOT_YET(ncclCommDeregister, nullptr, nullptr);
}

TEST(CApiNotYet, TheRest) {
  EXPECT_NOT_YET(ncclGroupSimulateEnd, nullptr);
  ncclParamHandle_t handle = nullptr;
  EXPECT_NOT_YET(ncclParamBind, &handle, "NCCL_DEBUG");
  EXPECT_NOT_YET(ncclParamGetI8, nullptr, nullptr);
  EXPECT_NOT_YET(ncclParamGetI16, nullptr, nullptr);
  EXPECT_NOT_YET(ncclParamGetI32, nullptr, nullptr);
  EXPECT_NOT_YET(ncclParamGetI64, nullptr, nullptr);
  EXPECT_NOT_YET(ncclParamGetU8, nullptr, nullptr);
  EXPECT_NOT_YET(ncclParamGetU16, nullptr, nullptr);
  EXPECT_NOT_YET(ncclParamGetU32, nullptr, nullptr);
  EXPECT_NOT_YET(ncclParamGetU64, nullptr, nullptr);
  EXPECT_NOT_YET(ncclParamGetStr, nullptr, nullptr);
  EXPECT_NOT_YET(ncclParamGet, nullptr, nullptr, 0, nullptr);
  EXPECT_NOT_YET(ncclParamGetParameter, nullptr, nullptr, nullptr);
  EXPECT_NOT_YET(ncclParamGetAllParameterKeys, nullptr, nullptr);
  ncclParamDumpAll();
  EXPECT_TRUE(last_error_says("ncclParamDumpAll: not yet")) << last_error();
}

}  // namespace
}  // namespace anygin::comm
