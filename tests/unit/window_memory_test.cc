// SPDX-License-Identifier: Apache-2.0
// Windows over memory of the driver API's kind: pieces of device and host memory, and what peers could not reach.
#include <cstring>

#include "unit/mapped_memory.h"
#include "unit/nccl_ranks.h"

namespace anygin::comm {
namespace {

TEST(WindowMemory, SpansPiecesOfDeviceAndHostMemory) {
  on_comms(2, [](ncclComm_t comm, int rank) {
    const MappedMemory memory(rank);
    memory.base[kPiece - 1] = static_cast<char>('a' + rank);
    memory.base[kPiece] = static_cast<char>('x' + rank);
    ncclWindow_t window = nullptr;
    ASSERT_EQ(ncclCommWindowRegister(comm, memory.base, 2 * kPiece, &window, NCCL_WIN_COLL_SYMMETRIC), ncclSuccess)
        << last_error();
    for (int peer = 0; peer < 2; ++peer) {
      void* at = nullptr;
      ANYGIN_NCCL_OK(ncclGetLsaDevicePointer(window, kPiece - 1, peer, &at));
      EXPECT_EQ(static_cast<char*>(at)[0], 'a' + peer);
      EXPECT_EQ(static_cast<char*>(at)[1], 'x' + peer);
    }
    ncclWindow_t barrier = nullptr;  // nobody unmaps before all have read
    ANYGIN_NCCL_OK(ncclCommWindowRegister(comm, memory.base, 8, &barrier, NCCL_WIN_DEFAULT));
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, barrier));
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, window));
  });
}

int register_window(ncclComm_t comm, const MappedMemory& memory) {
  ncclWindow_t window = nullptr;
  const ncclResult_t result = ncclCommWindowRegister(comm, memory.base, 2 * kPiece, &window, 0);
  if (result == ncclSuccess) {
    EXPECT_EQ(ncclCommWindowDeregister(comm, window), ncclSuccess);
  }
  return result;
}

TEST(WindowMemory, PiecesAreTheSameOnAllRanksWhereOneIsTheHosts) {
  on_comms(2, [](ncclComm_t comm, int rank) {
    const MappedMemory mixed(rank), device_only(rank, {false, false, rank});
    EXPECT_EQ(register_window(comm, rank == 0 ? mixed : device_only), ncclInvalidUsage);
    EXPECT_TRUE(
        last_error_says("rank 0 has 2097152 bytes of device memory, 2097152 bytes of host memory, rank 1 has 2097152 "
                        "bytes of device memory, 2097152 bytes of device memory"))
        << last_error();
    EXPECT_EQ(register_window(comm, device_only), ncclSuccess) << last_error();
    EXPECT_EQ(register_window(comm, mixed), ncclSuccess) << last_error();
  });
}

TEST(WindowMemory, OfTheHostBelongsToANode) {
  on_comms(1, [](ncclComm_t comm, int rank) {
    EXPECT_EQ(register_window(comm, MappedMemory(rank, {true, false, 0})), ncclInvalidArgument);
    EXPECT_TRUE(last_error_says("CU_MEM_LOCATION_TYPE_HOST_NUMA")) << last_error();
  });
}

TEST(WindowMemory, OfTheHostCanBeSwitchedOff) {
  const WithOptions with([](Options& o) { o.nccl_elastic_buffer_register = 0; });
  on_comms(1, [](ncclComm_t comm, int rank) {
    EXPECT_EQ(register_window(comm, MappedMemory(rank)), ncclInvalidArgument);
    EXPECT_TRUE(last_error_says("NCCL_ELASTIC_BUFFER_REGISTER is 0")) << last_error();
    EXPECT_EQ(register_window(comm, MappedMemory(rank, {false, false, rank})), ncclSuccess) << last_error();
  });
}

// What a kernel is told: the default tag of put asserts device memory alone.
TEST(WindowMemory, KernelsAreToldOfHostMemory) {
  on_comms(2, [](ncclComm_t comm, int rank) {
    const MappedMemory mixed(rank), device_only(rank, {false, false, rank});
    for (const MappedMemory* memory : {&mixed, &device_only}) {
      ncclWindow_t window = nullptr;
      ANYGIN_NCCL_OK(ncclCommWindowRegister(comm, memory->base, 2 * kPiece, &window, NCCL_WIN_STRICT_ORDERING));
      EXPECT_EQ(window->flags, NCCL_WIN_STRICT_ORDERING | (memory == &mixed ? kAnyginWindowHostMemory : 0));
      ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, window));
    }
  });
}

TEST(WindowMemory, MustBeMappedWherePeersSeeIt) {
  on_comms(1, [](ncclComm_t comm, int rank) {
    const MappedMemory memory(rank);
    ncclWindow_t window = nullptr;
    EXPECT_EQ(ncclCommWindowRegister(comm, memory.base, 2 * kPiece + 1, &window, 0), ncclInvalidArgument);
    EXPECT_TRUE(last_error_says("are mapped; cuMemMap comes first")) << last_error();
    ASSERT_EQ(simt::virtual_memory().map(memory.base + 2 * kPiece, kPiece, memory.host), 0);
    EXPECT_EQ(ncclCommWindowRegister(comm, memory.base, 3 * kPiece, &window, 0), ncclInvalidArgument);
    EXPECT_TRUE(last_error_says("is mapped twice")) << last_error();
    EXPECT_EQ(window, nullptr);
    EXPECT_EQ(simt::virtual_memory().unmap(memory.base + 2 * kPiece, kPiece), 0);
    EXPECT_EQ(ncclCommWindowRegister(comm, memory.base, 2 * kPiece, &window, 0), ncclSuccess) << last_error();
    EXPECT_EQ(ncclCommWindowDeregister(comm, window), ncclSuccess);
  });
}

}  // namespace
}  // namespace anygin::comm
