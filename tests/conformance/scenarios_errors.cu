// SPDX-License-Identifier: Apache-2.0
// What people met with errors, layouts and set-up: scenarios E1 to E11, S3 to S5 and R4 of docs/scenarios.md.
#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::kBufferBytes;
using conformance::local;
using conformance::Outcome;
using conformance::Rank;
using conformance::WhenDone;
using conformance::Window;

constexpr ncclGinSignal_t kArrived = 0, kMet = 1;

// --- E1: an error on one connection ends the waits of all ranks -----------------------------------------------------------------
__global__ void put_or_wait(ncclDevComm comm, ncclWindow_t gone, ncclWindow_t source, bool flushes, unsigned* passed) {
  const ncclCoopThread thread;
  const ncclGin gin(comm, 3), other(comm, comm.rank % 4), met(comm, 0);
  if (comm.rank == 0) {
    // All have left the host's calls behind: the error would end these as well.
    met.waitSignal(thread, kMet, static_cast<uint64_t>(comm.nRanks) - 1);
    gin.put(ncclTeamWorld(comm), 1, gone, 0, source, 0, 64, ncclGin_None{}, ncclGin_WeakCounterInc{0});
    if (flushes) gin.flush(thread);
    if (!flushes) gin.waitCounter(thread, 0, 1);
  } else {
    met.signal(ncclTeamWorld(comm), 0, ncclGin_WeakSignalInc{kMet});
    other.waitSignal(thread, kArrived, 1);  // nobody's put will end it
  }
  *passed = 1;
}

void run_error(Rank& rank, bool flushes) {
  const Window source = rank.window(kBufferBytes);
  void* buffer = nullptr;
  ncclWindow_t gone = nullptr;
  rank.must(ncclMemAlloc(&buffer, kBufferBytes), "ncclMemAlloc");
  rank.must(ncclCommWindowRegister(rank.comm, buffer, kBufferBytes, &gone, NCCL_WIN_COLL_SYMMETRIC), "ncclCommWindowRegister");
  const ncclDevComm comm = rank.dev_comm();
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  if (rank.rank == 1) rank.must(ncclCommWindowDeregister(rank.comm, gone), "ncclCommWindowDeregister");
  rank.window(4096);  // collective: rank 1 has deregistered
  put_or_wait<<<1, 1, 0, rank.stream>>>(comm, gone, source.handle, flushes, passed.device());
  rank.expect_lost(cudaStreamSynchronize(rank.stream), "the stream's error");
  rank.expect_eq(*passed.device(), 0u, "kernels that went on");
  if (rank.async_error() == ncclSuccess) rank.fail("no asynchronous error");
  rank.abandon();
}

CONFORMANCE_CASE(Scenario_E1_an_error_ends_a_flush_and_the_waits_of_other_ranks, 8) { run_error(rank, true); }
CONFORMANCE_CASE(Scenario_E1_an_error_ends_a_wait_for_a_counter_and_those_of_other_ranks, 8) { run_error(rank, false); }

// --- E6: odd layouts; E9 sends the same over wires that lose an acknowledgement -----------------------------------------------------
__global__ void all_to_all(ncclDevComm comm, ncclWindow_t in, ncclWindow_t out, unsigned turns, unsigned* wrong) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const auto ranks = static_cast<unsigned>(world.nRanks), me = static_cast<unsigned>(world.rank);
  ncclGinBarrierSession<ncclCoopCta> barrier(block, gin, ncclTeamTagWorld{}, 0);
  for (unsigned turn = 1; turn <= turns; ++turn) {
    for (unsigned peer = threadIdx.x; peer < ranks; peer += blockDim.x) {
      local(out)[peer] = turn * 10000 + me * 100 + peer;
      gin.put(world, static_cast<int>(peer), in, me * 8, out, peer * 8, 8, ncclGin_WeakSignalInc{kArrived});
    }
    gin.waitSignal(block, kArrived, uint64_t{turn} * ranks);
    for (unsigned from = threadIdx.x; from < ranks; from += blockDim.x) {
      if (local(in)[from] != turn * 10000 + from * 100 + me) atomicAdd(wrong, 1u);
    }
    gin.flush(block);
    barrier.sync(block, cuda::memory_order_acq_rel);
  }
  if (threadIdx.x == 0 && gin.readSignal(kArrived) != uint64_t{turns} * ranks) atomicAdd(wrong, 1u);
}

void run_all_to_all(Rank& rank) {
  const Window in = rank.window(4096), out = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> wrong(rank);
  all_to_all<<<1, 32, 0, rank.stream>>>(comm, in.handle, out.handle, 10, wrong.device());
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "words of another rank or turn");
}

CONFORMANCE_CASE_WITH(Scenario_E6_one_rank, 1, {"ANYGIN_TOPOLOGY=1"}) { run_all_to_all(rank); }
CONFORMANCE_CASE_WITH(Scenario_E6_one_node_of_five, 5, {"ANYGIN_TOPOLOGY=5"}) { run_all_to_all(rank); }
CONFORMANCE_CASE_WITH(Scenario_E6_two_nodes_of_three_and_five, 8, {"ANYGIN_TOPOLOGY=3,5"}) { run_all_to_all(rank); }
CONFORMANCE_CASE_WITH(Scenario_E6_three_nodes_of_one, 3, {"ANYGIN_TOPOLOGY=3x1"}) { run_all_to_all(rank); }
CONFORMANCE_CASE_WITH(Scenario_E6_three_nodes_of_one_two_and_four, 7, {"ANYGIN_TOPOLOGY=1,2,4"}) { run_all_to_all(rank); }
CONFORMANCE_CASE_WITH(Scenario_E6_four_nodes_of_two, 8, {"ANYGIN_TOPOLOGY=4x2"}) { run_all_to_all(rank); }
CONFORMANCE_CASE_WITH(Scenario_E6_four_nodes_of_eight, 32, {"ANYGIN_TOPOLOGY=4x8", "ANYGIN_DEVICES=32"}) { run_all_to_all(rank); }
CONFORMANCE_CASE(Scenario_E9_a_lost_acknowledgement_adds_once, 3) { run_all_to_all(rank); }

// --- E11: kernels that meet all ranks, launched in another order on the last rank -----------------------------------------------------
__device__ void meet(const ncclDevComm& comm, uint32_t index) {
  ncclGinBarrierSession<ncclCoopThread> barrier(ncclCoopThread{}, ncclGin(comm, 0), ncclTeamTagWorld{}, index);
  barrier.sync(ncclCoopThread{}, cuda::memory_order_relaxed, ncclGinFenceLevel::None);
}
__global__ void first(ncclDevComm comm, unsigned* passed) {
  meet(comm, 0);
  *passed = 1;
}
__global__ void second(ncclDevComm comm, unsigned* passed) {
  meet(comm, 1);
  *passed = 1;
}

CONFORMANCE_CASE_WITH(Scenario_E11_crossed_kernels_hang_and_are_reported, 2, {"ANYGIN_HANG_TIMEOUT=1"}) {
  const ncclDevComm comm = rank.dev_comm();
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  if (rank.rank == 0) first<<<1, 1, 0, rank.stream>>>(comm, passed.device());
  second<<<1, 1, 0, rank.stream>>>(comm, passed.device());
  if (rank.rank == 1) first<<<1, 1, 0, rank.stream>>>(comm, passed.device());
  rank.expect_lost(cudaStreamSynchronize(rank.stream), "the stream's error after a hang");
  rank.expect_eq(*passed.device(), 0u, "kernels that went on");
  if (rank.async_error() == ncclSuccess) rank.fail("no asynchronous error after a hang");
  rank.abandon();
}

// --- S3: two windows of one allocation; S5: a window that comes after the device communicator ---------------------------------------
// Each rank puts a word to its peer in each window, and looks at the peer's by a load.
__global__ void by_network_and_by_load(ncclDevComm comm, ncclWindow_t front, ncclWindow_t back, uint64_t* seen) {
  const ncclCoopThread thread;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const int peer = 1 - comm.rank;
  constexpr size_t kAt = 4096, kOut = 8192;
  const auto me = static_cast<uint64_t>(comm.rank);
  local(front)[kOut / 8] = 100 + me;
  local(back)[kOut / 8] = 200 + me;
  gin.put(world, peer, front, kAt, front, kOut, 8, ncclGin_WeakSignalInc{kArrived});
  gin.put(world, peer, back, kAt, back, kOut, 8, ncclGin_WeakSignalInc{kArrived});
  gin.waitSignal(thread, kArrived, 2);
  ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 0);
  seen[0] = local(front)[kAt / 8];
  seen[1] = local(back)[kAt / 8];
  seen[2] = *static_cast<uint64_t*>(ncclGetPeerPointer(front, kAt, peer));
  seen[3] = *static_cast<uint64_t*>(ncclGetPeerPointer(back, kAt, peer));
  seen[4] = local(front)[kAt / 8 + 1] + local(back)[kAt / 8 + 1];  // beside them: nothing
  gin.flush(thread);
  ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 0);
}
struct Five {
  uint64_t word[5];
};
void expect_words(Rank& rank, const ncclDevComm& comm, ncclWindow_t front, ncclWindow_t back) {
  Outcome<Five> seen(rank);
  by_network_and_by_load<<<1, 1, 0, rank.stream>>>(comm, front, back, seen.device()->word);
  rank.finish();
  const auto me = static_cast<uint64_t>(rank.rank);
  const uint64_t want[] = {101 - me, 201 - me, 100 + me, 200 + me, 0};
  for (size_t i = 0; i < std::size(want); ++i) rank.expect_eq(seen.get().word[i], want[i], "word " + std::to_string(i));
}

CONFORMANCE_CASE(Scenario_S3_two_windows_of_one_allocation, 2) {
  constexpr size_t kHalf = 64 * 1024;
  void* memory = nullptr;
  ncclWindow_t front = nullptr, back = nullptr;
  rank.must(ncclMemAlloc(&memory, 2 * kHalf), "ncclMemAlloc");
  std::memset(memory, 0, 2 * kHalf);
  rank.must(ncclCommWindowRegister(rank.comm, memory, kHalf, &front, NCCL_WIN_COLL_SYMMETRIC), "ncclCommWindowRegister at 0");
  rank.must(ncclCommWindowRegister(rank.comm, static_cast<char*>(memory) + kHalf, kHalf, &back, NCCL_WIN_COLL_SYMMETRIC), "ncclCommWindowRegister at 64 KiB");
  expect_words(rank, rank.dev_comm(), front, back);
  rank.must(ncclCommWindowDeregister(rank.comm, back), "ncclCommWindowDeregister");
  rank.must(ncclCommWindowDeregister(rank.comm, front), "ncclCommWindowDeregister");
  rank.must(ncclMemFree(memory), "ncclMemFree");
}

CONFORMANCE_CASE(Scenario_S5_a_window_after_the_device_communicator, 2) {
  const Window front = rank.window(64 * 1024);
  const ncclDevComm comm = rank.dev_comm();
  const Window back = rank.window(64 * 1024);
  expect_words(rank, comm, front.handle, back.handle);
}

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
