// SPDX-License-Identifier: Apache-2.0
// The values of every constant and enumerator, and what the macros of the headers stand for (contract 1.2, 1.3, 2.2).
#include <gtest/gtest.h>
#include <nccl.h>
#include <nccl_device.h>

#include <type_traits>

namespace {

TEST(NcclConstants, versions) {
  EXPECT_EQ(NCCL_MAJOR, 2);
  EXPECT_EQ(NCCL_MINOR, 30);
  EXPECT_EQ(NCCL_PATCH, 7);
  EXPECT_STREQ(NCCL_SUFFIX, "");
  EXPECT_EQ(NCCL_VERSION_CODE, 23007);
  EXPECT_EQ(NCCL_VERSION(2, 30, 7), 23007);
  EXPECT_EQ(NCCL_VERSION(2, 8, 4), 2804) << "four digits up to 2.8";
  EXPECT_EQ(NCCL_VERSION(2, 9, 6), 20906);
}

TEST(NcclConstants, of_the_host_api) {
  const ncclComm_t none = NCCL_COMM_NULL;
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(NCCL_UNIQUE_ID_BYTES, 128);
  EXPECT_EQ(sizeof(ncclUniqueId{}.internal), 128u);
  EXPECT_EQ(NCCL_CONFIG_UNDEF_INT, INT_MIN);
  const char* const undefined = NCCL_CONFIG_UNDEF_PTR;
  EXPECT_EQ(undefined, nullptr);
  EXPECT_EQ(NCCL_SPLIT_NOCOLOR, -1);
  EXPECT_EQ(NCCL_UNDEF_FLOAT, -1.0f);
  EXPECT_EQ(NCCL_API_MAGIC, 0xcafebeefu);
  EXPECT_EQ(NCCL_WIN_DEFAULT, 0x00);
  EXPECT_EQ(NCCL_WIN_COLL_SYMMETRIC, 0x01);
  EXPECT_EQ(NCCL_WIN_STRICT_ORDERING, 0x02);
  EXPECT_EQ(NCCL_WIN_REQUIRED_ALIGNMENT, 4096);
  EXPECT_EQ(NCCL_CTA_POLICY_DEFAULT, 0);
  EXPECT_EQ(NCCL_CTA_POLICY_EFFICIENCY, 1);
  EXPECT_EQ(NCCL_CTA_POLICY_ZERO, 2);
  EXPECT_EQ(NCCL_SHRINK_DEFAULT, 0);
  EXPECT_EQ(NCCL_SHRINK_ABORT, 1);
  EXPECT_EQ(NCCL_REVOKE_DEFAULT, 0);
  EXPECT_EQ(NCCL_SUSPEND_MEM, 0x01);
}

TEST(NcclConstants, results) {
  const ncclResult_t results[] = {ncclSuccess,         ncclUnhandledCudaError, ncclSystemError, ncclInternalError,
                                  ncclInvalidArgument, ncclInvalidUsage,       ncclRemoteError, ncclInProgress,
                                  ncclTimeout,         ncclNumResults};
  for (int i = 0; i < 10; ++i) EXPECT_EQ(static_cast<int>(results[i]), i);
}

TEST(NcclConstants, data_types) {
  const ncclDataType_t types[] = {ncclInt8,       ncclUint8,      ncclInt32,   ncclUint32,  ncclInt64,
                                  ncclUint64,     ncclFloat16,    ncclFloat32, ncclFloat64, ncclBfloat16,
                                  ncclFloat8e4m3, ncclFloat8e5m2, ncclNumTypes};
  for (int i = 0; i < 13; ++i) EXPECT_EQ(static_cast<int>(types[i]), i);
  EXPECT_EQ(ncclChar, ncclInt8);
  EXPECT_EQ(ncclInt, ncclInt32);
  EXPECT_EQ(ncclHalf, ncclFloat16);
  EXPECT_EQ(ncclFloat, ncclFloat32);
  EXPECT_EQ(ncclDouble, ncclFloat64);
}

TEST(NcclConstants, operators_and_statistics) {
  const ncclRedOp_t operators[] = {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg, ncclNumOps};
  for (int i = 0; i < 6; ++i) EXPECT_EQ(static_cast<int>(operators[i]), i);
  EXPECT_EQ(static_cast<int>(static_cast<ncclRedOp_dummy_t>(ncclNumOps_dummy)), 5);
  EXPECT_EQ(static_cast<int>(ncclMaxRedOp), 0x7fffffff);
  const ncclScalarResidence_t residences[] = {ncclScalarDevice, ncclScalarHostImmediate};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(static_cast<int>(residences[i]), i);
  const ncclCommMemStat_t statistics[] = {ncclStatGpuMemSuspend, ncclStatGpuMemSuspended, ncclStatGpuMemPersist,
                                          ncclStatGpuMemTotal};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(static_cast<int>(statistics[i]), i);
}

TEST(NcclConstants, backends_connections_and_devices) {
  const ncclGinType_t types[] = {NCCL_GIN_TYPE_NONE, NCCL_GIN_TYPE_PROXY, NCCL_GIN_TYPE_GDAKI, NCCL_GIN_TYPE_GPI};
  const int type_values[] = {0, 2, 3, 4};
  for (int i = 0; i < 4; ++i) EXPECT_EQ(static_cast<int>(types[i]), type_values[i]);
  const ncclGinConnectionType_t connections[] = {NCCL_GIN_CONNECTION_NONE, NCCL_GIN_CONNECTION_FULL,
                                                 NCCL_GIN_CONNECTION_RAIL};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(static_cast<int>(connections[i]), i);
  const ncclNetDeviceType devices[] = {NCCL_NET_DEVICE_HOST, NCCL_NET_DEVICE_UNPACK, NCCL_NET_DEVICE_GIN_PROXY,
                                       NCCL_NET_DEVICE_GIN_GDAKI, NCCL_NET_DEVICE_GIN_GPI};
  for (int i = 0; i < 5; ++i) EXPECT_EQ(static_cast<int>(devices[i]), i);
  EXPECT_EQ(NCCL_NET_DEVICE_INVALID_VERSION, 0);
  EXPECT_EQ(NCCL_NET_MTU_SIZE, 4096);
  EXPECT_EQ(NCCL_NET_DEVICE_UNPACK_VERSION, 7);
  EXPECT_EQ(NCCL_GIN_MAX_CONNECTIONS, 4);
}

TEST(NcclConstants, of_gin) {
  const ncclGinSignalOp_t operations[] = {ncclGinSignalInc, ncclGinSignalAdd};
  for (int i = 0; i < 2; ++i) EXPECT_EQ(static_cast<int>(operations[i]), i);
  const ncclGinOptFlags flags[] = {ncclGinOptFlagsDefault, ncclGinOptFlagsMaySkipCreditCheck,
                                   ncclGinOptFlagsAggregateRequests};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(static_cast<int>(flags[i]), i);
  const ncclGinResourceSharingMode modes[] = {NCCL_GIN_RESOURCE_SHARING_GPU, NCCL_GIN_RESOURCE_SHARING_CTA,
                                              NCCL_GIN_RESOURCE_SHARING_THREAD};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(static_cast<int>(modes[i]), i);
  EXPECT_EQ(sizeof(ncclGinResourceSharingMode), 1u);
  const ncclGinSignalType kinds[] = {NCCL_GIN_SIGNAL_TYPE_NONE, NCCL_GIN_SIGNAL_TYPE_VA, NCCL_GIN_SIGNAL_TYPE_INDEXED};
  for (int i = 0; i < 3; ++i) EXPECT_EQ(static_cast<int>(kinds[i]), i);
}

// Unscoped: programs write either spelling.
TEST(NcclConstants, fence_levels) {
  EXPECT_EQ(ncclGinFenceLevel::None, 0u);
  EXPECT_EQ(ncclGinFenceLevel::Put, 1u);
  EXPECT_EQ(ncclGinFenceLevel::Get, 2u);
  EXPECT_EQ(ncclGinFenceLevel::Relaxed, ncclGinFenceLevel::None);
  constexpr ncclGinFenceLevel both = Put | Get;
  EXPECT_EQ(both, 3u);
  EXPECT_EQ(both & Get, ncclGinFenceLevel::Get);
  EXPECT_EQ(sizeof(ncclGinFenceLevel), 4u);
}

TEST(NcclConstants, names_of_structures) {
  EXPECT_TRUE((std::is_same_v<ncclDevComm, ncclDevComm_t>));
  EXPECT_TRUE((std::is_same_v<ncclTeam, ncclTeam_t>));
  EXPECT_TRUE((std::is_same_v<ncclMultimemHandle, ncclMultimemHandle_t>));
  EXPECT_TRUE((std::is_same_v<ncclLsaBarrierHandle, ncclLsaBarrierHandle_t>));
  EXPECT_TRUE((std::is_same_v<ncclGinBarrierHandle, ncclGinBarrierHandle_t>));
  EXPECT_TRUE((std::is_same_v<ncclLLA2AHandle, ncclLLA2AHandle_t>));
  EXPECT_TRUE((std::is_same_v<ncclDevCommRequirements, ncclDevCommRequirements_t>));
  EXPECT_TRUE((std::is_same_v<ncclDevResourceRequirements, ncclDevResourceRequirements_t>));
  EXPECT_TRUE((std::is_same_v<ncclTeamRequirements, ncclTeamRequirements_t>));
  EXPECT_TRUE((std::is_same_v<ncclCommProperties, ncclCommProperties_t>));
  EXPECT_TRUE((std::is_same_v<ncclResourceWindow_vidmem, ncclResourceWindow_vidmem_t>));
  EXPECT_TRUE((std::is_same_v<ncclWindow_vidmem*, ncclWindow_t>));
  EXPECT_TRUE((std::is_same_v<ncclWindow_vidmem_t*, ncclWindow_t>));
  EXPECT_TRUE((std::is_same_v<ncclDevCommWindowTable*, ncclDevCommWindowTable_t>));
  EXPECT_TRUE((std::is_same_v<ncclDevResourceHandle, uint32_t> && std::is_same_v<ncclDevResourceHandle_t, uint32_t>));
  EXPECT_TRUE((std::is_same_v<ncclGinSignal_t, uint32_t> && std::is_same_v<ncclGinCounter_t, uint32_t>));
  EXPECT_TRUE((std::is_same_v<ncclGinWindow_t, void*>));
  EXPECT_TRUE((std::is_same_v<ncclSymPtr<double>::ElementType, double>));
}

// --- Macros ----------------------------------------------------------------------------------------------------------
NCCL_EXTERN_C int nccl_constants_test_c(void);
NCCL_IR_EXTERN_C int nccl_constants_test_ir(void);
}  // namespace
NCCL_EXTERN_C int nccl_constants_test_c(void) {
  return 5;
}
namespace {
NCCL_IR_EXTERN_C int nccl_constants_test_ir(void) {
  return 6;
}
NCCL_DEVICE_INLINE int on_device() {
  return 7;
}
NCCL_HOST_DEVICE_INLINE int on_both() {
  return 8;
}

template <typename T>
int kind_of(T) {
  if NCCL_IF_CONSTEXPR (std::is_pointer_v<T>) {
    return 1;
  } else {
    return 0;
  }
}

TEST(NcclMacros, declare_functions) {
  EXPECT_EQ(nccl_constants_test_c(), 5);
  EXPECT_EQ(nccl_constants_test_ir(), 6);
  EXPECT_EQ(on_device(), 7);
  EXPECT_EQ(on_both(), 8);
  EXPECT_EQ(kind_of(3), 0);
  EXPECT_EQ(kind_of(&on_both), 1);
}

TEST(NcclMacros, unroll_loops_or_leave_them) {
  int sum = 0;
  DO_PRAGMA(GCC diagnostic push)
  NVCC_PRAGMA_UNROLL(4)
  for (int i = 0; i < 8; ++i) sum += i;
  NVCC_PRAGMA_UNROLL_AUTO
  for (int i = 0; i < 8; ++i) sum += i;
  NVCC_PRAGMA_UNROLL_DISABLED
  for (int i = 0; i < 8; ++i) sum += i;
  DO_PRAGMA(GCC diagnostic pop)
  EXPECT_EQ(sum, 3 * 28);
}

// This file is compiled as the driver compiles kernels (ANYGIN_KERNEL_COMPILE), without __CUDA_ARCH__.
TEST(NcclMacros, say_what_is_compiled) {
#if NCCL_CHECK_CUDACC
  const bool device_code = true;
#else
  const bool device_code = false;
#endif
  EXPECT_TRUE(device_code);
#if defined(NCCL_GIN_HAS_FENCE_ACQUIRE_RELEASE_PTX)
  const bool has_ptx = true;
#else
  const bool has_ptx = false;
#endif
  EXPECT_FALSE(has_ptx) << "of GPUs only";
  EXPECT_EQ(NCCL_GIN_PROXY_ENABLE, 1);
  EXPECT_EQ(NCCL_GIN_GDAKI_ENABLE, 0);
  EXPECT_EQ(NCCL_GIN_GPI_ENABLE, 0);
  EXPECT_EQ(NCCL_GIN_BACKEND_MASK_ALL, 1u << NCCL_NET_DEVICE_GIN_PROXY);
}

}  // namespace
