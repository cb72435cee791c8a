// SPDX-License-Identifier: Apache-2.0
// Misuse that a kernel meets at run time: M13, M14, and what scenarios S2 and S8 ask.
#if defined(ANYGIN_TARGET_CPU)
#include <cuda.h>
#endif

#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::expect_end;
using conformance::Outcome;
using conformance::Rank;
using conformance::WhenDone;
using conformance::Window;

__global__ void put_to(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, int peer, unsigned* passed) {
  const ncclGin gin(comm, 0);
  gin.put(ncclTeamWorld(comm), peer, d, 0, source, 64, 64);
  gin.flush(ncclCoopThread{});
  *passed = 1;
}

// --- M14: windows that are not (any more) of the communicator ------------------------------------------------------------
enum class Owner { kThis, kAnother, kNobody };
void run_owner(Rank& rank, Owner owner, const std::string& finding) {
  const Window mine = rank.window(4096);
  ncclUniqueId id;
  ncclComm_t another = nullptr;
  ncclWindow_t window = mine.handle;
  void* buffer = nullptr;
  rank.must(ncclGetUniqueId(&id), "ncclGetUniqueId");
  rank.must(ncclCommInitRank(&another, 1, id, 0), "ncclCommInitRank of another communicator");
  rank.must(ncclMemAlloc(&buffer, 4096), "ncclMemAlloc");
  const ncclComm_t of = owner == Owner::kAnother ? another : rank.comm;
  if (owner != Owner::kThis) rank.must(ncclCommWindowRegister(of, buffer, 4096, &window, NCCL_WIN_COLL_SYMMETRIC), "ncclCommWindowRegister");
  const ncclDevComm comm = rank.dev_comm();
  if (owner == Owner::kNobody) rank.must(ncclCommWindowDeregister(rank.comm, window), "ncclCommWindowDeregister");
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  put_to<<<1, 1, 0, rank.stream>>>(comm, window, mine.handle, 0, passed.device());
  expect_end(rank, passed, finding.empty(), {"ncclGin::put by rank 0", finding, "[at "});
  rank.must(ncclCommAbort(another), "ncclCommAbort of another communicator");
}

CONFORMANCE_CASE(M14_R_a_window_of_the_communicator, 1) { run_owner(rank, Owner::kThis, ""); }
CONFORMANCE_CASE(M14_R_a_window_of_another_communicator, 1) { run_owner(rank, Owner::kAnother, "the window belongs to another communicator; register the buffer with this one"); }
CONFORMANCE_CASE(M14_R_a_window_that_was_deregistered, 1) { run_owner(rank, Owner::kNobody, "the window is not registered (any more)"); }

// --- M13: host memory behind device memory, and a tag that denies it -------------------------------------------------------
#if defined(ANYGIN_TARGET_CPU)
struct MixedMemory {
  CUdeviceptr base = 0;
  size_t piece = 0;
  bool made = true;

  CUmemGenericAllocationHandle allocate(CUmemLocationType kind, int id) {
    CUmemAllocationProp place{};
    place.type = CU_MEM_ALLOCATION_TYPE_PINNED;
    place.location.type = kind;
    place.location.id = id;
    made &= cuMemGetAllocationGranularity(&piece, &place, CU_MEM_ALLOC_GRANULARITY_RECOMMENDED) == CUDA_SUCCESS;
    CUmemGenericAllocationHandle handle = 0;
    made &= cuMemCreate(&handle, piece, &place, 0) == CUDA_SUCCESS;
    return handle;
  }
  explicit MixedMemory(int device) {
    made &= cuInit(0) == CUDA_SUCCESS;
    const CUmemGenericAllocationHandle front = allocate(CU_MEM_LOCATION_TYPE_DEVICE, device);
    const CUmemGenericAllocationHandle back = allocate(CU_MEM_LOCATION_TYPE_HOST_NUMA, 0);
    made &= cuMemAddressReserve(&base, 2 * piece, 0, 0, 0) == CUDA_SUCCESS;
    made &= cuMemMap(base, piece, 0, front, 0) == CUDA_SUCCESS && cuMemMap(base + piece, piece, 0, back, 0) == CUDA_SUCCESS;
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = device;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    made &= cuMemSetAccess(base, 2 * piece, &access, 1) == CUDA_SUCCESS;
  }
};

template <typename Segment>
__global__ void put_with_tag(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, unsigned* passed) {
  const ncclGin gin(comm, 0);
  gin.put(ncclTeamWorld(comm), 0, d, 0, source, 0, 64, ncclGin_None{}, ncclGin_None{}, ncclCoopThread{}, ncclGin_None{}, cuda::thread_scope_thread,
          cuda::thread_scope_system, ncclGinOptFlagsDefault, Segment{});
  gin.flush(ncclCoopThread{});
  *passed = 1;
}

template <typename Segment>
void run_tag(Rank& rank, const std::string& finding) {
  const MixedMemory memory(0);  // goes with the process, as the communicator's windows do
  if (!memory.made) return rank.fail("memory of device and host in one range: cuMemCreate, cuMemMap");
  ncclWindow_t mixed = nullptr;
  rank.must(ncclCommWindowRegister(rank.comm, reinterpret_cast<void*>(memory.base), 2 * memory.piece, &mixed, NCCL_WIN_COLL_SYMMETRIC), "ncclCommWindowRegister");
  const Window source = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm();
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  put_with_tag<Segment><<<1, 1, 0, rank.stream>>>(comm, mixed, source.handle, passed.device());
  expect_end(rank, passed, finding.empty(), {"ncclGin::put by rank 0", finding, "[at "});
}

CONFORMANCE_CASE(M13_R_a_tag_that_says_both_kinds_of_memory, 1) { run_tag<ncclGin_SegmentMixed>(rank, ""); }
CONFORMANCE_CASE(M13_R_a_tag_that_denies_host_memory, 1) { run_tag<ncclGin_SegmentDevice>(rank, "the window has host memory on some rank, and the call says device memory only; pass ncclGin_SegmentMixed"); }
#endif

// --- S2: no GIN ------------------------------------------------------------------------------------------------------------
void run_connection(Rank& rank, ncclGinConnectionType_t connection, const std::string& finding) {
  const Window window = rank.window(4096);
  ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  reqs.ginConnectionType = connection;
  const ncclDevComm comm = rank.dev_comm(reqs);
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  put_to<<<1, 1, 0, rank.stream>>>(comm, window.handle, window.handle, 0, passed.device());
  expect_end(rank, passed, finding.empty(), {"ncclGin::put by rank 0", finding, "[at "});
}

CONFORMANCE_CASE(Scenario_S2_a_put_where_GIN_was_asked_for, 1) { run_connection(rank, NCCL_GIN_CONNECTION_FULL, ""); }
CONFORMANCE_CASE(Scenario_S2_a_put_where_no_GIN_was_asked_for, 1) {
  run_connection(rank, NCCL_GIN_CONNECTION_NONE, "the device communicator has no GIN contexts; set ncclDevCommRequirements::ginConnectionType");
}

// --- S8: rails ---------------------------------------------------------------------------------------------------------------
// Two nodes of two: rank 0's rail is 0 and 2.
void run_rail(Rank& rank, int peer, const std::string& finding) {
  const Window window = rank.window(4096);
  ncclDevCommRequirements_t reqs = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  reqs.ginConnectionType = NCCL_GIN_CONNECTION_RAIL;
  const ncclDevComm comm = rank.dev_comm(reqs);
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  if (rank.rank == 0) put_to<<<1, 1, 0, rank.stream>>>(comm, window.handle, window.handle, peer, passed.device());
  if (rank.rank == 0) rank.expect_eq(cudaStreamSynchronize(rank.stream) == cudaSuccess, finding.empty(), "the put's stream is in order");
  if (rank.rank == 0) rank.expect_eq(*passed.device(), finding.empty() ? 1u : 0u, "kernels that went on");
  if (finding.empty()) {
    rank.window(4096);  // collective: all stay until rank 0 is done
    return;
  }
  rank.expect_async_error(rank.rank == 0 ? ncclInvalidUsage : ncclRemoteError, {"ncclGin::put by rank 0", finding});
  rank.abandon();
}

CONFORMANCE_CASE_WITH(Scenario_S8_a_peer_of_the_rail, 4, {"ANYGIN_TOPOLOGY=2x2"}) { run_rail(rank, 2, ""); }
CONFORMANCE_CASE_WITH(Scenario_S8_a_peer_of_another_rail, 4, {"ANYGIN_TOPOLOGY=2x2"}) {
  run_rail(rank, 3, "rank 3 is not on the caller's rail, and only the rail is connected; ranks congruent to the caller's modulo 2 are");
}

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
