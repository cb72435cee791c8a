// SPDX-License-Identifier: Apache-2.0
// Parameters of nccl.h (contract 2.6): what was read from the environment, by type.
#include <algorithm>
#include <cstring>

#include "support/reaches.h"
#include "unit/nccl_ranks.h"

namespace anygin::comm {
namespace {

ncclParamHandle_t bound(const char* key) {
  ncclParamHandle_t handle = nullptr;
  EXPECT_EQ(ncclParamBind(&handle, key), ncclSuccess) << last_error();
  EXPECT_NE(handle, nullptr);
  return handle;
}

TEST(CApiParam, ValuesAreThoseOfTheEnvironment) {
  const WithOptions with([](Options& o) {
    o.nccl_cross_nic = 1;
    o.seed = ~uint64_t{0};
    o.nccl_debug = "INFO";
  });
  int32_t cross = 0;
  ANYGIN_NCCL_OK(ncclParamGetI32(bound("NCCL_CROSS_NIC"), &cross));
  EXPECT_EQ(cross, 1);
  uint64_t seed = 0;
  ANYGIN_NCCL_OK(ncclParamGetU64(bound("ANYGIN_SEED"), &seed));
  EXPECT_EQ(seed, ~uint64_t{0});
  const char* debug = nullptr;
  ANYGIN_NCCL_OK(ncclParamGetStr(bound("NCCL_DEBUG"), &debug));
  EXPECT_STREQ(debug, "INFO");
  const char* text = nullptr;
  int length = 0;
  ANYGIN_NCCL_OK(ncclParamGetParameter("NCCL_CROSS_NIC", &text, &length));
  EXPECT_EQ(std::string(text, static_cast<size_t>(length)), "1");
}

TEST(CApiParam, BytesOfAnyType) {
  const WithOptions with([](Options& o) {
    o.nccl_gin_type = 2;
    o.seed = 77;
    o.profile = Profile::kSrd;
  });
  char bytes[8];
  int length = 0;
  int32_t type = 0;
  uint64_t seed = 0;
  ANYGIN_NCCL_OK(ncclParamGet(bound("NCCL_GIN_TYPE"), &type, sizeof(type), &length));
  EXPECT_EQ(type, 2);
  EXPECT_EQ(length, 4);
  ANYGIN_NCCL_OK(ncclParamGet(bound("ANYGIN_SEED"), &seed, sizeof(seed), &length));
  EXPECT_EQ(seed, 77u);
  EXPECT_EQ(length, 8);
  ANYGIN_NCCL_OK(ncclParamGet(bound("ANYGIN_PROFILE"), bytes, sizeof(bytes), &length));
  EXPECT_STREQ(bytes, "srd");
  EXPECT_EQ(length, 4);
  EXPECT_EQ(ncclParamGet(bound("ANYGIN_PROFILE"), bytes, 3, &length), ncclInvalidArgument);
  EXPECT_TRUE(last_error_says("maxLen is 3; ANYGIN_PROFILE takes 4 bytes")) << last_error();
  EXPECT_EQ(ncclParamGet(bound("ANYGIN_PROFILE"), bytes, 8, nullptr), ncclInvalidArgument);
}

TEST(CApiParam, OtherTypesAreRefused) {
  const ncclParamHandle_t handle = bound("NCCL_CROSS_NIC");
  int8_t i8 = 0;
  int16_t i16 = 0;
  int32_t i32 = 0;
  int64_t i64 = 0;
  uint8_t u8 = 0;
  uint16_t u16 = 0;
  uint32_t u32 = 0;
  uint64_t u64 = 0;
  const char* text = nullptr;
  EXPECT_EQ(ncclParamGetI8(handle, &i8), ncclInvalidArgument);
  REACHES(GIN_ERR_PARAMETER_TYPE, last_error());
  EXPECT_EQ(ncclParamGetI16(handle, &i16), ncclInvalidArgument);
  EXPECT_EQ(ncclParamGetI64(handle, &i64), ncclInvalidArgument);
  EXPECT_EQ(ncclParamGetU8(handle, &u8), ncclInvalidArgument);
  EXPECT_EQ(ncclParamGetU16(handle, &u16), ncclInvalidArgument);
  EXPECT_EQ(ncclParamGetU32(handle, &u32), ncclInvalidArgument);
  EXPECT_EQ(ncclParamGetU64(handle, &u64), ncclInvalidArgument);
  EXPECT_TRUE(last_error_says("NCCL_CROSS_NIC is an int32_t")) << last_error();
  EXPECT_EQ(ncclParamGetStr(handle, &text), ncclInvalidArgument);
  EXPECT_EQ(ncclParamGetI32(handle, nullptr), ncclInvalidArgument);
  EXPECT_EQ(ncclParamGetI32(handle, &i32), ncclSuccess);
}

TEST(CApiParam, KeysAndHandlesThatAreNone) {
  ncclParamHandle_t handle = nullptr;
  EXPECT_EQ(ncclParamBind(&handle, "NCCL_NONSENSE"), ncclInvalidArgument);
  REACHES(GIN_ERR_PARAMETER_UNKNOWN, last_error());
  EXPECT_EQ(ncclParamBind(nullptr, "NCCL_DEBUG"), ncclInvalidArgument);
  EXPECT_EQ(ncclParamBind(&handle, nullptr), ncclInvalidArgument);
  int32_t value = 0;
  EXPECT_EQ(ncclParamGetI32(nullptr, &value), ncclInvalidArgument);
  EXPECT_EQ(ncclParamGetI32(reinterpret_cast<ncclParamHandle_t>(&value), &value), ncclInvalidArgument);
  const char* text = nullptr;
  int length = 0;
  EXPECT_EQ(ncclParamGetParameter("NCCL_NONSENSE", &text, &length), ncclInvalidArgument);
  EXPECT_EQ(ncclParamGetParameter("NCCL_DEBUG", nullptr, &length), ncclInvalidArgument);
  EXPECT_EQ(ncclParamGetParameter("NCCL_DEBUG", &text, nullptr), ncclInvalidArgument);
}

TEST(CApiParam, KeysAreListed) {
  const auto keys = [] {
    const char** table = nullptr;
    int length = 0;
    ANYGIN_NCCL_OK(ncclParamGetAllParameterKeys(&table, &length));
    return std::vector<std::string>(table, table + length);
  };
  const auto dumped = [] {
    ::testing::internal::CaptureStdout();
    ncclParamDumpAll();
    return ::testing::internal::GetCapturedStdout();
  };
  const std::vector<std::string> usual = keys();
  EXPECT_EQ(std::count(usual.begin(), usual.end(), "NCCL_GIN_BACKEND"), 1);
  EXPECT_EQ(std::count(usual.begin(), usual.end(), "ANYGIN_NIC"), 0);
  for (const std::string& key : usual) bound(key.c_str());
  EXPECT_NE(dumped().find("NCCL_WIN_ENABLE=1\n"), std::string::npos);
  EXPECT_EQ(dumped().find("ANYGIN_"), std::string::npos);
  const WithOptions all([](Options& o) { o.nccl_param_dump_all = true; });
  EXPECT_EQ(keys().size(), option_table().size());
  EXPECT_NE(dumped().find("ANYGIN_NIC=emu\n"), std::string::npos);
  const char** table = nullptr;
  int length = 0;
  EXPECT_EQ(ncclParamGetAllParameterKeys(nullptr, &length), ncclInvalidArgument);
  EXPECT_EQ(ncclParamGetAllParameterKeys(&table, nullptr), ncclInvalidArgument);
}

}  // namespace
}  // namespace anygin::comm
