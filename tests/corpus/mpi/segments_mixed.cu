// SPDX-License-Identifier: Apache-2.0
// Demand 14: a window over memory of the driver API, device memory with host memory behind it. Each rank puts to the
// next across the border of the two, with the segment tag that says so; beside it a window over plain cudaMalloc
// memory.
#include <cuda.h>

#include "corpus_mpi.h"

#define CUCHECK(call)                                                       \
  do {                                                                      \
    CUresult driver_result = (call);                                        \
    if (driver_result != CUDA_SUCCESS) {                                    \
      const char* driver_text = "?";                                        \
      cuGetErrorString(driver_result, &driver_text);                        \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, driver_text); \
      std::exit(EXIT_FAILURE);                                              \
    }                                                                       \
  } while (0)

constexpr size_t kBytes = 4096;  // half of it on each side of the border

__global__ void send(ncclDevComm comm, ncclWindow_t mixed, size_t border, ncclWindow_t plain) {
  const ncclCoopCta cta;
  ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const int next = (world.rank + 1) % world.nRanks;
  // From before the border to behind it, and from the window of plain device memory.
  gin.put(world, next, mixed, border - kBytes / 2, plain, 0, kBytes, ncclGin_None{}, ncclGin_None{}, cta,
          ncclGin_None{}, cuda::thread_scope_thread, cuda::thread_scope_system, ncclGinOptFlagsDefault,
          ncclGin_SegmentMixed{});
  gin.put(world, next, plain, kBytes, plain, 0, kBytes, ncclGin_StrongSignalInc{0}, ncclGin_None{}, cta);
  gin.waitSignal(cta, 0, 1);
  gin.flush(cta);
}

struct MixedMemory {
  CUdeviceptr base = 0;
  size_t piece = 0;
  CUmemGenericAllocationHandle device = 0, host = 0;

  explicit MixedMemory(int ordinal) {
    CUmemAllocationProp place{};
    place.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    place.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    place.location.id = ordinal;
    CUCHECK(cuMemGetAllocationGranularity(&piece, &place, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED));
    CUCHECK(cuMemCreate(&device, piece, &place, 0));
    place.location.type = CU_MEM_LOCATION_TYPE_HOST_NUMA;
    place.location.id = 0;
    CUCHECK(cuMemCreate(&host, piece, &place, 0));
    CUCHECK(cuMemAddressReserve(&base, 2 * piece, 0, 0, 0));
    CUCHECK(cuMemMap(base, piece, 0, device, 0));
    CUCHECK(cuMemMap(base + piece, piece, 0, host, 0));
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = ordinal;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    CUCHECK(cuMemSetAccess(base, 2 * piece, &access, 1));
  }
  ~MixedMemory() {
    cuMemUnmap(base, 2 * piece);
    cuMemRelease(device);
    cuMemRelease(host);
    cuMemAddressFree(base, 2 * piece);
  }
};

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    int ordinal = 0;
    CUDACHECK(cudaGetDevice(&ordinal));
    CUCHECK(cuInit(0));
    MixedMemory memory(ordinal);
    char* plain = nullptr;
    CUDACHECK(cudaMalloc(&plain, 2 * kBytes));
    CUDACHECK(cudaMemset(plain, 1 + ranks.rank, kBytes));
    ncclWindow_t mixed_window = nullptr, plain_window = nullptr;
    NCCLCHECK(ncclCommWindowRegister(ranks.comm, reinterpret_cast<void*>(memory.base), 2 * memory.piece, &mixed_window,
                                     NCCL_WIN_COLL_SYMMETRIC));
    NCCLCHECK(ncclCommWindowRegister(ranks.comm, plain, 2 * kBytes, &plain_window, NCCL_WIN_DEFAULT));
    int wrong = 0;
    {
      DeviceComm device(ranks, 1);
      send<<<1, 32, 0, ranks.stream>>>(device.comm, mixed_window, memory.piece, plain_window);
      CUDACHECK(cudaStreamSynchronize(ranks.stream));
      const char left = static_cast<char>(1 + (ranks.rank + ranks.size - 1) % ranks.size);
      std::vector<char> got(3 * kBytes);
      CUDACHECK(cudaMemcpy(got.data(), reinterpret_cast<char*>(memory.base + memory.piece - kBytes / 2), kBytes,
                           cudaMemcpyDefault));
      CUDACHECK(cudaMemcpy(got.data() + kBytes, plain, 2 * kBytes, cudaMemcpyDefault));
      for (size_t i = 0; i < got.size(); ++i) {
        const bool own = i >= kBytes && i < 2 * kBytes;
        wrong += got[i] != (own ? static_cast<char>(1 + ranks.rank) : left);
      }
      MPI_Barrier(MPI_COMM_WORLD);
    }
    NCCLCHECK(ncclCommWindowDeregister(ranks.comm, mixed_window));
    NCCLCHECK(ncclCommWindowDeregister(ranks.comm, plain_window));
    CUDACHECK(cudaFree(plain));
    return wrong;
  });
}
