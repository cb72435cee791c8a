// SPDX-License-Identifier: Apache-2.0
// The driver API's memory: reserved, created, mapped, moved, mapped twice, exported; and IPC handles of the runtime
// API.
#include "anygin/simt/virtual_memory.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "anygin/base/world.h"
#include "cuda.h"
#include "cuda_runtime.h"

namespace {

constexpr size_t kPiece = anygin::simt::VirtualMemory::kGranularity;

char* pointer(CUdeviceptr address) {
  return reinterpret_cast<char*>(address);
}

CUmemAllocationProp memory_of(CUmemLocationType type, int id) {
  CUmemAllocationProp properties{};
  properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
  properties.location.type = type;
  properties.location.id = id;
  return properties;
}

class CudaMemory : public testing::Test {
 protected:
  CUmemGenericAllocationHandle created(CUmemLocationType type = CU_MEM_LOCATION_TYPE_DEVICE, int id = 1,
                                       size_t pieces = 1) {
    CUmemGenericAllocationHandle handle = 0;
    const CUmemAllocationProp properties = memory_of(type, id);
    EXPECT_EQ(cuMemCreate(&handle, pieces * kPiece, &properties, 0), CUDA_SUCCESS);
    return handle;
  }
  CUdeviceptr reserved(size_t pieces) {
    CUdeviceptr address = 0;
    EXPECT_EQ(cuMemAddressReserve(&address, pieces * kPiece, 0, 0, 0), CUDA_SUCCESS);
    EXPECT_EQ(address % kPiece, 0u);
    return address;
  }
  void map(CUdeviceptr address, CUmemGenericAllocationHandle handle, size_t pieces = 1) {
    ASSERT_EQ(cuMemMap(address, pieces * kPiece, 0, handle, 0), CUDA_SUCCESS);
    CUmemAccessDesc rights{{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    ASSERT_EQ(cuMemSetAccess(address, pieces * kPiece, &rights, 1), CUDA_SUCCESS);
  }
  void unmap(CUdeviceptr address, size_t pieces = 1) { ASSERT_EQ(cuMemUnmap(address, pieces * kPiece), CUDA_SUCCESS); }
};

TEST_F(CudaMemory, PiecesOfDeviceAndHostMemoryLieSideBySide) {
  const CUdeviceptr base = reserved(3);
  const auto device = created(), host = created(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0, 2);
  map(base, device);
  map(base + kPiece, host, 2);
  EXPECT_EQ(cuMemRelease(device), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(host), CUDA_SUCCESS);
  std::memset(pointer(base), 7, 3 * kPiece);

  cudaPointerAttributes attributes;
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, pointer(base) + 5), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 1);
  EXPECT_EQ(cudaPointerGetAttributes(&attributes, pointer(base + kPiece)), cudaSuccess);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  CUdeviceptr start = 0;
  size_t bytes = 0;
  EXPECT_EQ(cuMemGetAddressRange(&start, &bytes, base + kPiece + 3), CUDA_SUCCESS);
  EXPECT_EQ(start, base + kPiece);
  EXPECT_EQ(bytes, 2 * kPiece);

  // Copies and fills go across the border, not beyond what is mapped.
  char seen[8];
  EXPECT_EQ(cudaMemset(pointer(base + kPiece - 2), 9, 4), cudaSuccess);
  EXPECT_EQ(cudaMemcpy(seen, pointer(base + kPiece - 4), sizeof seen, cudaMemcpyDefault), cudaSuccess);
  EXPECT_EQ(std::memcmp(seen, "\7\7\11\11\11\11\7\7", sizeof seen), 0);
  EXPECT_EQ(cudaMemcpy(seen, pointer(base + 3 * kPiece - 4), sizeof seen, cudaMemcpyDefault), cudaErrorInvalidValue);

  const auto segments = anygin::simt::virtual_memory().segments(pointer(base), 3 * kPiece);
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_FALSE(segments[0].owner.host);
  EXPECT_EQ(segments[0].owner.id, 1);
  EXPECT_TRUE(segments[1].owner.numa);
  EXPECT_TRUE(segments[0].at_home && segments[1].at_home);
  // One heap allocation holds all of it: a window may span the pieces.
  const auto allocation = anygin::world().heap.find(pointer(base));
  ASSERT_TRUE(allocation.has_value());
  EXPECT_LE(allocation->base, pointer(base));
  EXPECT_GE(allocation->base + allocation->bytes, pointer(base) + 3 * kPiece);
  unmap(base, 3);
  EXPECT_TRUE(anygin::simt::virtual_memory().segments(pointer(base), 1).empty());
  EXPECT_EQ(cuMemAddressFree(base, 3 * kPiece), CUDA_SUCCESS);
}

TEST_F(CudaMemory, KeepsItsBytesWhereverItIsMapped) {
  const CUdeviceptr first = reserved(1), second = reserved(1);
  const auto memory = created(), other = created();
  map(first, memory);
  pointer(first)[100] = 42;
  unmap(first);
  map(second, memory);
  EXPECT_EQ(pointer(second)[100], 42);
  pointer(second)[100] = 43;
  unmap(second);
  map(second, other);  // the place of `memory`, which moves out
  EXPECT_EQ(pointer(second)[100], 0);
  pointer(second)[100] = 44;
  map(first, memory);
  EXPECT_EQ(pointer(first)[100], 43);
  EXPECT_EQ(pointer(second)[100], 44);
  unmap(first);
  EXPECT_EQ(cuMemAddressFree(first, kPiece), CUDA_SUCCESS);  // it moves out again
  const CUdeviceptr third = reserved(1);
  map(third, memory);
  EXPECT_EQ(pointer(third)[100], 43);
  unmap(third);
  unmap(second);
  for (CUdeviceptr one : {second, third}) EXPECT_EQ(cuMemAddressFree(one, kPiece), CUDA_SUCCESS);
  for (auto one : {memory, other}) EXPECT_EQ(cuMemRelease(one), CUDA_SUCCESS);
}

TEST_F(CudaMemory, MappedTwiceIsTheSameMemory) {
  const CUdeviceptr base = reserved(2);
  const auto memory = created();
  map(base, memory);
  map(base + kPiece, memory);
  pointer(base)[9] = 5;
  EXPECT_EQ(pointer(base + kPiece)[9], 5);
  const auto segments = anygin::simt::virtual_memory().segments(pointer(base), 2 * kPiece);
  ASSERT_EQ(segments.size(), 2u);
  EXPECT_TRUE(segments[0].at_home);
  EXPECT_FALSE(segments[1].at_home);
  CUmemGenericAllocationHandle again = 0;
  EXPECT_EQ(cuMemRetainAllocationHandle(&again, pointer(base + kPiece)), CUDA_SUCCESS);
  EXPECT_EQ(again, memory);
  EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
  EXPECT_EQ(pointer(base)[9], 5);  // lives while it is mapped
  unmap(base, 2);
  EXPECT_EQ(cuMemRelease(memory), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(base, 2 * kPiece), CUDA_SUCCESS);
}

TEST_F(CudaMemory, NobodyTouchesItWithoutRights) {
  const CUdeviceptr base = reserved(1);
  const auto memory = created();
  ASSERT_EQ(cuMemMap(base, kPiece, 0, memory, 0), CUDA_SUCCESS);
  unsigned long long rights = 9;
  const CUmemLocation location{CU_MEM_LOCATION_TYPE_DEVICE, 0};
  EXPECT_EQ(cuMemGetAccess(&rights, &location, base), CUDA_SUCCESS);
  EXPECT_EQ(rights, 0u);
  EXPECT_DEATH(pointer(base)[0] = 1, "");
  CUmemAccessDesc reading{location, CU_MEM_ACCESS_FLAGS_PROT_READ};
  EXPECT_EQ(cuMemSetAccess(base, kPiece, &reading, 1), CUDA_SUCCESS);
  EXPECT_EQ(pointer(base)[0], 0);
  EXPECT_DEATH(pointer(base)[0] = 1, "");
  EXPECT_EQ(cuMemGetAccess(&rights, &location, base), CUDA_SUCCESS);
  EXPECT_EQ(rights, 1u);
  unmap(base);
  EXPECT_EQ(cuMemSetAccess(base, kPiece, &reading, 1), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(base, kPiece), CUDA_SUCCESS);
}

TEST_F(CudaMemory, MisuseIsAnError) {
  CUdeviceptr address = 0;
  EXPECT_EQ(cuMemAddressReserve(&address, kPiece + 1, 0, 0, 0), CUDA_ERROR_INVALID_VALUE);
  CUmemGenericAllocationHandle handle = 0;
  CUmemAllocationProp properties = memory_of(CU_MEM_LOCATION_TYPE_DEVICE, 1);
  EXPECT_EQ(cuMemCreate(&handle, 100, &properties, 0), CUDA_ERROR_INVALID_VALUE);
  properties.location.id = 9999;
  EXPECT_EQ(cuMemCreate(&handle, kPiece, &properties, 0), CUDA_ERROR_INVALID_DEVICE);
  properties = memory_of(CU_MEM_LOCATION_TYPE_DEVICE, 1);
  properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_FABRIC;
  EXPECT_EQ(cuMemCreate(&handle, kPiece, &properties, 0), CUDA_ERROR_NOT_SUPPORTED);
  const CUdeviceptr base = reserved(2);
  const auto memory = created();
  EXPECT_EQ(cuMemMap(base, 2 * kPiece, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(base + 2 * kPiece, kPiece, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemMap(base, kPiece, 0, memory + 1000, 0), CUDA_ERROR_INVALID_VALUE);
  map(base, memory);
  EXPECT_EQ(cuMemMap(base, kPiece, 0, memory, 0), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemAddressFree(base, 2 * kPiece), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemUnmap(base, 2 * kPiece), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cudaMemset(pointer(base + kPiece), 0, 1), cudaErrorInvalidValue);  // reserved, not mapped
  EXPECT_EQ(cudaMemset(pointer(base), 1, 1), cudaSuccess);
  cudaGetLastError();
  unmap(base);
  EXPECT_EQ(cuMemRelease(memory), CUDA_SUCCESS);
  EXPECT_EQ(cuMemAddressFree(base, 2 * kPiece), CUDA_SUCCESS);
}

TEST_F(CudaMemory, ExportedMemoryIsSharedInBothDirections) {
  const auto memory = created(CU_MEM_LOCATION_TYPE_HOST, 0);
  int fd = -1;
  ASSERT_EQ(cuMemExportToShareableHandle(&fd, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0), CUDA_SUCCESS);
  CUmemGenericAllocationHandle imported = 0;
  ASSERT_EQ(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(static_cast<intptr_t>(fd)),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
            CUDA_SUCCESS);
  close(fd);
  EXPECT_NE(imported, memory);
  CUmemAllocationProp properties;
  EXPECT_EQ(cuMemGetAllocationPropertiesFromHandle(&properties, imported), CUDA_SUCCESS);
  EXPECT_EQ(properties.location.type, CU_MEM_LOCATION_TYPE_HOST);
  const CUdeviceptr mine = reserved(1), theirs = reserved(1);
  map(mine, memory);
  map(theirs, imported);
  pointer(mine)[1] = 11;
  pointer(theirs)[2] = 12;
  EXPECT_EQ(pointer(theirs)[1], 11);
  EXPECT_EQ(pointer(mine)[2], 12);
  for (CUdeviceptr one : {mine, theirs}) {
    unmap(one);
    EXPECT_EQ(cuMemAddressFree(one, kPiece), CUDA_SUCCESS);
  }
  for (auto one : {memory, imported}) EXPECT_EQ(cuMemRelease(one), CUDA_SUCCESS);
  EXPECT_EQ(cuMemImportFromShareableHandle(&imported, reinterpret_cast<void*>(intptr_t{0}),
                                           CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR),
            CUDA_ERROR_INVALID_HANDLE);
}

TEST_F(CudaMemory, PlainMemoryOfTheDriver) {
  CUdeviceptr address = 0;
  ASSERT_EQ(cuMemAlloc(&address, 100), CUDA_SUCCESS);
  CUdeviceptr base = 0;
  size_t bytes = 0;
  EXPECT_EQ(cuMemGetAddressRange(&base, &bytes, address + 40), CUDA_SUCCESS);
  EXPECT_EQ(base, address);
  EXPECT_EQ(bytes, 100u);
  EXPECT_EQ(cuMemFree(address + 4096), CUDA_ERROR_INVALID_VALUE);
  EXPECT_EQ(cuMemFree(address), CUDA_SUCCESS);
  EXPECT_EQ(cuMemFree(address), CUDA_ERROR_INVALID_VALUE);
}

// The child is a process of its own, forked before it has threads: it opens what the parent allocates.
TEST(CudaIpc, AnotherProcessSeesTheMemory) {
  int to_child[2], to_parent[2];
  ASSERT_EQ(pipe(to_child), 0);
  ASSERT_EQ(pipe(to_parent), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    alarm(10);
    cudaIpcMemHandle_t handle;
    int *mine = nullptr, *again = nullptr;
    int verdict = 0;
    if (read(to_child[0], &handle, sizeof handle) != static_cast<ssize_t>(sizeof handle)) _exit(1);
    if (cudaIpcOpenMemHandle(reinterpret_cast<void**>(&mine), handle, cudaIpcMemLazyEnablePeerAccess) != 0) _exit(2);
    if (cudaIpcOpenMemHandle(reinterpret_cast<void**>(&again), handle, cudaIpcMemLazyEnablePeerAccess) != 0) _exit(3);
    cudaPointerAttributes attributes;
    cudaPointerGetAttributes(&attributes, mine + 3);
    verdict = mine == again && mine[3] == 33 && attributes.type == cudaMemoryTypeDevice ? 44 : 45;
    cudaMemcpy(mine + 4, &verdict, sizeof verdict, cudaMemcpyHostToDevice);
    const bool closed = cudaIpcCloseMemHandle(mine) == 0 && cudaIpcCloseMemHandle(again) == 0 &&
                        cudaIpcCloseMemHandle(again) == cudaErrorInvalidValue;
    _exit(write(to_parent[1], "x", 1) == 1 && closed ? 0 : 4);
  }
  int* memory = nullptr;
  cudaIpcMemHandle_t handle;
  ASSERT_EQ(cudaMalloc(&memory, 4096), cudaSuccess);
  memory[3] = 33;
  ASSERT_EQ(cudaIpcGetMemHandle(&handle, memory), cudaSuccess);
  ASSERT_EQ(write(to_child[1], &handle, sizeof handle), static_cast<ssize_t>(sizeof handle));
  char done = 0;
  ASSERT_EQ(read(to_parent[0], &done, 1), 1);  // the child's alarm bounds it
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WIFEXITED(status) ? WEXITSTATUS(status) : -1, 0);
  EXPECT_EQ(memory[4], 44);
  void* own = nullptr;
  EXPECT_EQ(cudaIpcOpenMemHandle(&own, handle, cudaIpcMemLazyEnablePeerAccess), cudaErrorDeviceUninitialized);
  int host = 0;
  EXPECT_EQ(cudaIpcGetMemHandle(&handle, &host), cudaErrorInvalidValue);
  cudaGetLastError();
  EXPECT_EQ(cudaFree(memory), cudaSuccess);
  for (int end : {to_child[0], to_child[1], to_parent[0], to_parent[1]}) close(end);
}

}  // namespace
