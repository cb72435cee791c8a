// SPDX-License-Identifier: Apache-2.0
// A put of no bytes between windows with host memory performs its signal and its counter; one of some bytes crosses the pieces (contract A.25).
#include <cuda.h>

#include "../../conformance/conformance.h"

namespace {

using conformance::local;
using conformance::Outcome;
using conformance::Rank;

constexpr size_t kPiece = size_t{2} << 20;

// Device memory and host memory, side by side.
class Mixed {
 public:
  explicit Mixed(Rank& rank) : rank_(rank) {
    must(cuMemAddressReserve(&base_, 2 * kPiece, 0, 0, 0), "cuMemAddressReserve");
    for (int i = 0; i < 2; ++i) {
      CUmemAllocationProp properties{};
      properties.type = CU_MEM_ALLOCATION_TYPE_PINNED;
      properties.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
      properties.location.type = i == 0 ? CU_MEM_LOCATION_TYPE_DEVICE : CU_MEM_LOCATION_TYPE_HOST_NUMA;
      properties.location.id = i == 0 ? rank.rank : 0;
      must(cuMemCreate(&pieces_[i], kPiece, &properties, 0), "cuMemCreate");
      must(cuMemMap(base_ + static_cast<size_t>(i) * kPiece, kPiece, 0, pieces_[i], 0), "cuMemMap");
    }
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = rank.rank;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    must(cuMemSetAccess(base_, 2 * kPiece, &access, 1), "cuMemSetAccess");
  }
  ~Mixed() {
    must(cuMemUnmap(base_, 2 * kPiece), "cuMemUnmap");
    for (const CUmemGenericAllocationHandle piece : pieces_) must(cuMemRelease(piece), "cuMemRelease");
    must(cuMemAddressFree(base_, 2 * kPiece), "cuMemAddressFree");
  }
  Mixed(const Mixed&) = delete;
  Mixed& operator=(const Mixed&) = delete;
  char* bytes() const { return reinterpret_cast<char*>(base_); }

 private:
  void must(CUresult result, const char* what) {
    if (result != CUDA_SUCCESS) rank_.fail(std::string(what) + ": " + std::to_string(static_cast<int>(result)));
  }
  Rank& rank_;
  CUdeviceptr base_ = 0;
  CUmemGenericAllocationHandle pieces_[2] = {};
};

struct Seen {
  uint64_t signal, counter, wrong;
};

// The words lie across the border of both pieces: 64 bytes on each side.
__global__ void put(ncclDevComm comm, ncclWindow_t window, Seen* seen) {
  const ncclGin gin(comm, 0);
  const ncclCoopThread thread;
  const ncclTeam world = ncclTeamWorld(comm);
  const int other = 1 - comm.rank;
  const size_t border = kPiece - 64;
  auto* const from = local(window);
  for (uint64_t i = 0; i < 16; ++i) from[i] = 900 + 100 * static_cast<uint64_t>(comm.rank) + i;
  gin.put(world, other, window, border, window, 0, 0, ncclGin_StrongSignalInc{0}, ncclGin_WeakCounterInc{0}, thread, ncclGin_None{}, cuda::thread_scope_thread,
          cuda::thread_scope_device, ncclGinOptFlagsDefault, ncclGin_SegmentMixed{});
  gin.waitSignal(thread, 0, 1);
  gin.waitCounter(thread, 0, 1);
  gin.put(world, other, window, border, window, 0, 128, ncclGin_StrongSignalInc{0}, ncclGin_WeakCounterInc{0}, thread, ncclGin_None{}, cuda::thread_scope_thread,
          cuda::thread_scope_device, ncclGin_SegmentMixed{});
  gin.waitSignal(thread, 0, 2);
  gin.waitCounter(thread, 0, 2);
  seen->signal = gin.readSignal(0);
  seen->counter = gin.readCounter(0);
  for (uint64_t i = 0; i < 16; ++i) seen->wrong += local(window)[border / 8 + i] != 900 + 100 * static_cast<uint64_t>(other) + i;
  ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 0);
}

CONFORMANCE_CASE(AppendixA_25_no_bytes_of_host_memory, 2) {
  const Mixed memory(rank);
  std::memset(memory.bytes(), 0, 2 * kPiece);
  ncclWindow_t window = nullptr;
  rank.must(ncclCommWindowRegister(rank.comm, memory.bytes(), 2 * kPiece, &window, NCCL_WIN_COLL_SYMMETRIC), "ncclCommWindowRegister");
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Seen> outcome(rank);
  put<<<1, 1, 0, rank.stream>>>(comm, window, outcome.device());
  rank.finish();
  const Seen seen = outcome.get();
  rank.expect_eq(seen.signal, 2u, "signals of a put of no bytes and of one of 128");
  rank.expect_eq(seen.counter, 2u, "their counters");
  rank.expect_eq(seen.wrong, 0u, "words that differ");
  rank.must(ncclCommWindowDeregister(rank.comm, window), "ncclCommWindowDeregister");
}

// The default tag says that there is device memory only: it is refused.
__global__ void with_the_wrong_tag(ncclDevComm comm, ncclWindow_t window, bool published_order, unsigned* passed) {
  const ncclGin gin(comm, 0);
  const ncclGin_None none;
  const auto given = cuda::thread_scope_thread, required = cuda::thread_scope_device;
  if (published_order) gin.put(ncclTeamWorld(comm), 0, window, 0, window, 64, 8, none, none, ncclCoopThread{}, none, given, required, ncclGin_SegmentDevice{});
  if (!published_order) gin.put(ncclTeamWorld(comm), 0, window, 0, window, 64, 8);
  *passed = 1;
}

void run_wrong_tag(Rank& rank, bool published_order) {
  const Mixed memory(rank);
  ncclWindow_t window = nullptr;
  rank.must(ncclCommWindowRegister(rank.comm, memory.bytes(), 2 * kPiece, &window, NCCL_WIN_COLL_SYMMETRIC), "ncclCommWindowRegister");
  const ncclDevComm comm = rank.dev_comm();
  const Outcome<unsigned> passed(rank, conformance::WhenDone::kKeep);
  with_the_wrong_tag<<<1, 1, 0, rank.stream>>>(comm, window, published_order, passed.device());
  rank.expect_lost(cudaStreamSynchronize(rank.stream), "the stream's error");
  rank.expect_eq(*passed.device(), 0u, "kernels that went on");
  rank.expect_async_error(ncclInvalidUsage);
  rank.abandon();
}
CONFORMANCE_CASE(M13_R_the_device_tag_on_host_memory, 1) { run_wrong_tag(rank, false); }
CONFORMANCE_CASE(M13_R_the_device_tag_on_host_memory_in_the_published_order, 1) { run_wrong_tag(rank, true); }

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
