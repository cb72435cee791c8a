// SPDX-License-Identifier: Apache-2.0
// Failure: P31, P32, P34, and misuse M6 and M14 at run time.
#include <signal.h>

#include "conformance.h"

namespace {

using conformance::kBufferBytes;
using conformance::Outcome;
using conformance::Rank;
using conformance::WhenDone;
using conformance::Window;
using Clock = std::chrono::steady_clock;

constexpr int kThreads = 32;
constexpr auto kBound = std::chrono::milliseconds(1000);  // P32

__global__ void wait_for_ever(ncclDevComm comm, unsigned* passed) {
  const ncclGin gin(comm, 0);
  gin.waitSignal(ncclCoopCta{}, 0, 1);
  *passed += 1;
}

CONFORMANCE_CASE(P32_abort_ends_every_wait, 2) {
  const ncclDevComm comm = rank.dev_comm();
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  wait_for_ever<<<1, kThreads, 0, rank.stream>>>(comm, passed.device());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto since = Clock::now();
  rank.must(ncclCommAbort(rank.comm), "ncclCommAbort");
  rank.comm = nullptr;
  const cudaError_t error = cudaStreamSynchronize(rank.stream);
  if (Clock::now() - since > kBound) rank.fail("the wait outlived the abort by more than 1 s");
  rank.expect_lost(error, "the stream's error after an abort");
}

// Rank 1 dies while rank 0 and 2 wait for it in a wait, a barrier or a flush. As processes only: a thread cannot die alone.
enum class Blocked { kWait, kBarrier, kFlush };
__global__ void block_on_peer(ncclDevComm comm, ncclWindow_t window, Blocked where) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  if (where == Blocked::kWait) gin.waitSignal(block, 0, 1);
  if (where == Blocked::kBarrier) ncclGinBarrier(block, gin, ncclTeamTagWorld{}, 0);
  while (where == Blocked::kFlush) {
    gin.put(world, 1, window, 0, window, 0, kBufferBytes, ncclGin_None{}, ncclGin_None{}, block);
    gin.flush(block);
  }
}

void die_while(Rank& rank, Blocked where) {
  const Window window = rank.window(kBufferBytes);
  const ncclDevComm comm = rank.dev_comm();
  if (std::getenv("RANK") == nullptr) return;  // ranks are threads: nothing can die alone
  if (rank.rank == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    kill(getpid(), SIGKILL);
  }
  block_on_peer<<<1, kThreads, 0, rank.stream>>>(comm, window.handle, where);
  const cudaError_t error = cudaStreamSynchronize(rank.stream);
  rank.expect_lost(error, "the stream's error after the peer's death");
  ncclResult_t async_error = ncclSuccess;
  rank.must(ncclCommGetAsyncError(rank.comm, &async_error), "ncclCommGetAsyncError");
  rank.expect_eq(static_cast<int>(async_error), static_cast<int>(ncclRemoteError), "async error after the peer's death");
  if (std::string(ncclGetLastError(rank.comm)).find("rank 1") == std::string::npos) {
    rank.fail(std::string("the last error does not name rank 1: ") + ncclGetLastError(rank.comm));
  }
  rank.abandon();
}

CONFORMANCE_CASE_WITH(P32_the_death_of_a_peer_ends_a_wait, 3, {}, 1) { die_while(rank, Blocked::kWait); }
CONFORMANCE_CASE_WITH(P32_the_death_of_a_peer_ends_a_barrier, 3, {}, 1) { die_while(rank, Blocked::kBarrier); }
CONFORMANCE_CASE_WITH(P32_the_death_of_a_peer_ends_a_put_and_a_flush, 3, {}, 1) { die_while(rank, Blocked::kFlush); }

// P31: rank 1 deregisters its window; a put of rank 0 into it fails at the NIC. Neither flush, nor counter, nor its own
// signal, nor a later strong one passes.
struct Passed {
  unsigned flush, counter;
  uint64_t own_signal, later_signal;
};
__global__ void put_into_nothing(ncclDevComm comm, ncclWindow_t gone, ncclWindow_t source, bool wait_counter, Passed* passed) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const ncclCoopThread thread;
  gin.put(world, 1, gone, 0, source, 0, 64, ncclGin_WeakSignalInc{0}, ncclGin_WeakCounterInc{0});
  gin.signal(world, 1, ncclGin_StrongSignalInc{1});
  if (wait_counter) {
    gin.waitCounter(thread, 0, 1);
    passed->counter = 1;
  } else {
    gin.flush(thread);
    passed->flush = 1;
  }
}
__global__ void read_two_signals(ncclDevComm comm, Passed* passed) {
  const ncclGin gin(comm, 0);
  passed->own_signal = gin.readSignal(0);
  passed->later_signal = gin.readSignal(1);
}

void run_put_into_nothing(Rank& rank, bool wait_counter) {
  const Window source = rank.window(kBufferBytes);
  void* buffer = nullptr;
  ncclWindow_t gone;
  rank.must(ncclMemAlloc(&buffer, kBufferBytes), "ncclMemAlloc");
  rank.must(ncclCommWindowRegister(rank.comm, buffer, kBufferBytes, &gone, NCCL_WIN_COLL_SYMMETRIC), "ncclCommWindowRegister");
  const ncclDevComm comm = rank.dev_comm();
  const Outcome<Passed> passed(rank, WhenDone::kKeep);
  if (rank.rank == 1) rank.must(ncclCommWindowDeregister(rank.comm, gone), "ncclCommWindowDeregister");
  rank.window(4096);  // collective: rank 1 has deregistered
  if (rank.rank == 0) {
    const auto since = Clock::now();
    put_into_nothing<<<1, 1, 0, rank.stream>>>(comm, gone, source.handle, wait_counter, passed.device());
    const cudaError_t error = cudaStreamSynchronize(rank.stream);
    if (Clock::now() - since > kBound) rank.fail("the failed operation was waited for longer than 1 s");
    rank.expect_lost(error, "the stream's error after a failed put");
    const auto* const result = passed.device();  // read in place: the device itself may be lost
    rank.expect_eq(result->flush + result->counter, 0u, "waits that passed a failed put");
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    read_two_signals<<<1, 1, 0, rank.stream>>>(comm, passed.device());
    if (cudaStreamSynchronize(rank.stream) == cudaSuccess) {
      const Passed seen = *passed.device();
      rank.expect_eq(seen.own_signal, 0u, "signal of the failed put");
      rank.expect_eq(seen.later_signal, 0u, "a later strong signal");
    }
  }
  rank.abandon();
}

CONFORMANCE_CASE(P31_a_failed_put_passes_no_flush, 2) { run_put_into_nothing(rank, false); }
CONFORMANCE_CASE(P31_a_failed_put_passes_no_counter, 2) { run_put_into_nothing(rank, true); }

// P34: nobody can make progress: the run ends with a report.
CONFORMANCE_CASE_WITH(P34_a_hang_ends_with_a_report, 2, {"ANYGIN_HANG_TIMEOUT=1"}) {
  const ncclDevComm comm = rank.dev_comm();
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  const auto since = Clock::now();
  wait_for_ever<<<1, kThreads, 0, rank.stream>>>(comm, passed.device());
  const cudaError_t error = cudaStreamSynchronize(rank.stream);
  const double took = std::chrono::duration<double>(Clock::now() - since).count();
  rank.expect_lost(error, "the stream's error after a hang");
  // The simulated world knows at once that nothing can move.
  const bool at_once = std::getenv("ANYGIN_WORLD") != nullptr;
  const double soonest = at_once ? 0 : 0.9, latest = at_once ? 0.5 : 5;
  if (took < soonest || took > latest) rank.fail("the verdict came after " + std::to_string(took) + " s, should be 1 s after the last progress");
  rank.expect_eq(*passed.device(), 0u, "waits that passed");
  rank.abandon();
}

// --- M6·R: out of range: named, and no wild write -----------------------------------------------------------------------
enum class Wrong { kNothing, kPeer, kOffset, kBytes, kSource, kSignal, kCounter, kNullWindow };
__global__ void misuse(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, Wrong wrong, unsigned* passed) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const int peer = wrong == Wrong::kPeer ? world.nRanks : 0;
  const size_t offset = wrong == Wrong::kOffset ? 1000 : 990;
  const size_t bytes = wrong == Wrong::kBytes ? 32 : 8;
  const size_t from = wrong == Wrong::kSource ? 4096 : 0;
  const ncclGinSignal_t signal = wrong == Wrong::kSignal ? static_cast<ncclGinSignal_t>(comm.ginSignalCount) : 0;
  const ncclGinCounter_t counter = wrong == Wrong::kCounter ? static_cast<ncclGinCounter_t>(comm.ginCounterCount) : 0;
  gin.put(world, peer, wrong == Wrong::kNullWindow ? nullptr : d, offset, source, from, bytes, ncclGin_StrongSignalInc{signal},
          ncclGin_WeakCounterInc{counter});
  gin.flush(ncclCoopThread{});
  *passed = 1;
}

// What the report must say: the limit, in the words of the API.
std::string limit_of(Wrong wrong, const ncclDevComm& comm) {
  switch (wrong) {
    case Wrong::kPeer: return "peers are 0 to 0";
    case Wrong::kOffset:
    case Wrong::kBytes: return "outside the window of 1000 bytes";
    case Wrong::kSource: return "outside the window of 4096 bytes";
    case Wrong::kSignal: return "ids are 0 to " + std::to_string(comm.ginSignalCount - 1);
    case Wrong::kCounter: return "ids are 0 to " + std::to_string(comm.ginCounterCount - 1);
    case Wrong::kNullWindow: return "the window is NULL";
    case Wrong::kNothing: break;
  }
  return "";
}

// A window of 1000 bytes in a page: the bytes behind it must stay as they are.
void run_misuse(Rank& rank, Wrong wrong) {
  void* buffer = nullptr;
  ncclWindow_t d;
  rank.must(ncclMemAlloc(&buffer, 4096), "ncclMemAlloc");
  std::memset(buffer, 0x5a, 4096);
  rank.must(ncclCommWindowRegister(rank.comm, buffer, 1000, &d, NCCL_WIN_COLL_SYMMETRIC), "ncclCommWindowRegister");
  const Window source = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm();
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  misuse<<<1, 1, 0, rank.stream>>>(comm, d, source.handle, wrong, passed.device());
  const cudaError_t error = cudaStreamSynchronize(rank.stream);
  const bool good = wrong == Wrong::kNothing;
  good ? rank.must(error, "cudaStreamSynchronize") : rank.expect_lost(error, "the stream's error");
  rank.expect_eq(*passed.device(), good ? 1u : 0u, "kernels that went on");
  const auto* const bytes = static_cast<const unsigned char*>(buffer);
  for (int i = 1000; i < 4096; ++i) rank.expect_eq(static_cast<int>(bytes[i]), 0x5a, "byte behind the window");
  if (!good) {
    ncclResult_t async_error = ncclSuccess;
    rank.must(ncclCommGetAsyncError(rank.comm, &async_error), "ncclCommGetAsyncError");
    rank.expect_eq(static_cast<int>(async_error), static_cast<int>(ncclInvalidUsage), "async error after a misuse");
    const std::string said = ncclGetLastError(rank.comm);
    for (const std::string& part : {std::string("ncclGin::put by rank 0"), limit_of(wrong, comm), std::string("[at ")}) {
      if (said.find(part) == std::string::npos) rank.fail("the last error does not say '" + part + "': " + said);
    }
  }
  rank.abandon();
}

CONFORMANCE_CASE(M6_R_the_same_call_with_all_in_range_succeeds, 1) { run_misuse(rank, Wrong::kNothing); }
CONFORMANCE_CASE(M6_R_peer_out_of_range, 1) { run_misuse(rank, Wrong::kPeer); }
CONFORMANCE_CASE(M6_R_offset_out_of_range, 1) { run_misuse(rank, Wrong::kOffset); }
CONFORMANCE_CASE(M6_R_bytes_beyond_the_window, 1) { run_misuse(rank, Wrong::kBytes); }
CONFORMANCE_CASE(M6_R_source_out_of_range, 1) { run_misuse(rank, Wrong::kSource); }
CONFORMANCE_CASE(M6_R_signal_out_of_range, 1) { run_misuse(rank, Wrong::kSignal); }
CONFORMANCE_CASE(M6_R_counter_out_of_range, 1) { run_misuse(rank, Wrong::kCounter); }
CONFORMANCE_CASE(M6_R_null_window, 1) { run_misuse(rank, Wrong::kNullWindow); }

// Windows may differ in size: the target's counts, not one's own.
__global__ void put_at(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, size_t offset, unsigned* passed) {
  const ncclGin gin(comm, 0);
  gin.put(ncclTeamWorld(comm), 1, d, offset, source, 0, 64);
  gin.flush(ncclCoopThread{});
  *passed = 1;
}

void run_other_size(Rank& rank, size_t offset, bool good) {
  const Window d = rank.window(rank.rank == 0 ? 64 : 8192), source = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm();
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  if (rank.rank == 0) {
    put_at<<<1, 1, 0, rank.stream>>>(comm, d.handle, source.handle, offset, passed.device());
    const cudaError_t error = cudaStreamSynchronize(rank.stream);
    good ? rank.must(error, "cudaStreamSynchronize") : rank.expect_lost(error, "the stream's error");
    rank.expect_eq(*passed.device(), good ? 1u : 0u, "kernels that went on");
  }
  if (good) {
    rank.window(4096);  // collective: rank 1 stays until rank 0 is done
  } else {
    // The misuse ends the communicator on every rank.
    const auto since = Clock::now();
    ncclResult_t async_error = ncclSuccess;
    while (async_error == ncclSuccess && Clock::now() - since < kBound) {
      rank.must(ncclCommGetAsyncError(rank.comm, &async_error), "ncclCommGetAsyncError");
    }
    if (async_error == ncclSuccess) rank.fail("no async error within 1 s of the misuse");
  }
  rank.abandon();
}

CONFORMANCE_CASE(M6_R_offsets_are_checked_against_the_targets_window_good, 2) { run_other_size(rank, 8128, true); }
CONFORMANCE_CASE(M6_R_offsets_are_checked_against_the_targets_window_bad, 2) { run_other_size(rank, 8136, false); }

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
