// SPDX-License-Identifier: Apache-2.0
// Failure: P31, P32, P34, and misuse M6 and M14 at run time.
#include <signal.h>

#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::kBufferBytes;
using conformance::local;
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

// Rank 1 dies while rank 0 and 2 wait for it in a wait, a barrier, a flush, a loop of their own or a host call. As processes
// only: a thread cannot die alone.
enum class Blocked { kWait, kBarrier, kFlush, kSpin, kHostCall };
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
  const volatile uint64_t* const word = local(window);
  while (where == Blocked::kSpin && *word == 0) {
  }
}

uint64_t now_ns() { return static_cast<uint64_t>(std::chrono::nanoseconds(Clock::now().time_since_epoch()).count()); }

// Behind what is put: when the rank died, of the clock that all processes share.
constexpr size_t kDiedAt = kBufferBytes / sizeof(uint64_t);

void wait_for_the_dead(Rank& rank, const ncclDevComm& comm, const Window& window, Blocked where) {
  if (where == Blocked::kHostCall) {
    ncclWindow_t never = nullptr;
    const ncclResult_t result = ncclCommWindowRegister(rank.comm, window.buffer, 64, &never, NCCL_WIN_COLL_SYMMETRIC);
    rank.expect_eq(static_cast<int>(result), static_cast<int>(ncclRemoteError), "result of a collective call without the dead");
    return;
  }
  block_on_peer<<<1, kThreads, 0, rank.stream>>>(comm, window.handle, where);
  const cudaError_t error = cudaStreamSynchronize(rank.stream);
  rank.expect_lost(error, "the stream's error after the peer's death");
}

void die_while(Rank& rank, Blocked where) {
  const Window window = rank.window(kBufferBytes + sizeof(uint64_t));
  const ncclDevComm comm = rank.dev_comm();
  void* theirs = nullptr;
  rank.must(ncclGetPeerDevicePointer(window.handle, kBufferBytes, 1, &theirs), "ncclGetPeerDevicePointer");
  if (find_place().ranks == 0) return;  // ranks are threads: nothing can die alone
  if (rank.rank == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    window.words()[kDiedAt] = now_ns();
    kill(getpid(), SIGKILL);
  }
  wait_for_the_dead(rank, comm, window, where);
  const uint64_t took_ns = now_ns() - *static_cast<const volatile uint64_t*>(theirs);
  if (took_ns > 1'000'000'000) rank.fail("the wait ended " + std::to_string(took_ns / 1000000) + " ms after the death, should be within 1 s");
  rank.expect_async_error(ncclRemoteError, {"rank 1"});
  rank.abandon();
}

CONFORMANCE_CASE_WITH(P32_the_death_of_a_peer_ends_a_wait, 3, {}, 1) { die_while(rank, Blocked::kWait); }
CONFORMANCE_CASE_WITH(P32_the_death_of_a_peer_ends_a_barrier, 3, {}, 1) { die_while(rank, Blocked::kBarrier); }
CONFORMANCE_CASE_WITH(P32_the_death_of_a_peer_ends_a_put_and_a_flush, 3, {}, 1) { die_while(rank, Blocked::kFlush); }
#if defined(ANYGIN_TARGET_CPU)
CONFORMANCE_CASE_WITH(P32_the_death_of_a_peer_ends_a_spin, 3, {}, 1) { die_while(rank, Blocked::kSpin); }
#endif
CONFORMANCE_CASE_WITH(P32_the_death_of_a_peer_ends_a_host_call, 3, {}, 1) { die_while(rank, Blocked::kHostCall); }

#if defined(ANYGIN_TARGET_CPU)  // a GPU's kernels end in calls of the API only
// Loops of the program's own, in a kernel that waits nowhere: the abort ends them too.
enum class Loop { kVolatile, kAtomic, kSleep, kBarrier };
__global__ void spin_with(ncclDevComm comm, Loop loop, uint64_t* word, unsigned* passed) {
  if (loop == Loop::kVolatile) {
    const volatile uint64_t* const flag = word;
    while (*flag == 0) {
    }
  }
  cuda::atomic_ref<uint64_t> atomic(*word);
  while (loop != Loop::kVolatile && atomic.load(cuda::memory_order_acquire) == 0) {
    if (loop == Loop::kSleep) __nanosleep(100000);
    if (loop == Loop::kBarrier) __syncthreads();
  }
  *passed += static_cast<unsigned>(comm.nRanks);
}
// The same, not knowing a communicator.
__global__ void spin_without(Loop loop, uint64_t* word, unsigned* passed) {
  cuda::atomic_ref<uint64_t> atomic(*word);
  while (atomic.load(cuda::memory_order_acquire) == 0) {
    if (loop == Loop::kSleep) __nanosleep(100000);
  }
  *passed += 1;
}

void spin_until_ended(Rank& rank, Loop loop, bool knows) {
  const ncclDevComm comm = rank.dev_comm();
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  const Outcome<uint64_t> word(rank, WhenDone::kKeep);
  if (knows) {
    spin_with<<<1, kThreads, 0, rank.stream>>>(comm, loop, word.device(), passed.device());
  } else {
    spin_without<<<1, kThreads, 0, rank.stream>>>(loop, word.device(), passed.device());
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto since = Clock::now();
  rank.must(ncclCommAbort(rank.comm), "ncclCommAbort");
  rank.comm = nullptr;
  const cudaError_t error = cudaStreamSynchronize(rank.stream);
  if (Clock::now() - since > kBound) rank.fail("the loop outlived the abort by more than 1 s");
  rank.expect_lost(error, "the stream's error after an abort");
  rank.expect_eq(*passed.device(), 0u, "lanes that left the loop");
}

CONFORMANCE_CASE(P32_abort_ends_a_volatile_spin, 1) { spin_until_ended(rank, Loop::kVolatile, true); }
CONFORMANCE_CASE(P32_abort_ends_a_spin_on_an_atomic, 1) { spin_until_ended(rank, Loop::kAtomic, true); }
CONFORMANCE_CASE(P32_abort_ends_a_spin_that_sleeps, 1) { spin_until_ended(rank, Loop::kSleep, true); }
CONFORMANCE_CASE(P32_abort_ends_a_spin_that_meets_its_block, 1) { spin_until_ended(rank, Loop::kBarrier, true); }
CONFORMANCE_CASE(P32_abort_ends_a_spin_that_knows_no_communicator, 1) { spin_until_ended(rank, Loop::kAtomic, false); }
CONFORMANCE_CASE(P32_abort_ends_a_sleeping_spin_that_knows_no_communicator, 1) { spin_until_ended(rank, Loop::kSleep, false); }
#endif

// A kernel that computes, and was launched before, goes on: it has nothing to do with the communicator.
__global__ void compute(uint64_t until_ns, uint64_t* rounds) {
  const auto now = [] { return static_cast<uint64_t>(clock64()); };
  const uint64_t end = now() + until_ns;
  while (now() < end) {
    __syncthreads();
    if (threadIdx.x == 0) *rounds += 1;
    __syncthreads();
  }
}
CONFORMANCE_CASE(P32_abort_leaves_other_kernels_alone, 1) {
  rank.dev_comm();
  const Outcome<uint64_t> rounds(rank, WhenDone::kKeep);
  compute<<<1, kThreads, 0, rank.stream>>>(600'000'000, rounds.device());
  rank.abandon();
  rank.expect_eq(static_cast<int>(cudaStreamSynchronize(rank.stream)), static_cast<int>(cudaSuccess), "the stream's error");
}

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
  const double soonest = conformance::in_simulation() ? 0 : 0.9;
  if (took < soonest) rank.fail("the verdict came after " + std::to_string(took) + " s, should be 1 s after the last progress");
  rank.expect_eq(*passed.device(), 0u, "waits that passed");
  rank.abandon();
}

// --- M6·R: out of range: named, and no wild write -----------------------------------------------------------------------
enum class Wrong { kNothing, kPeer, kOffset, kBytes, kSource, kSignal, kReserved, kCounter, kNullWindow };
__global__ void misuse(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, Wrong wrong, unsigned* passed) {
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const int peer = wrong == Wrong::kPeer ? world.nRanks : 0;
  const size_t offset = wrong == Wrong::kOffset ? 1000 : 990;
  const size_t bytes = wrong == Wrong::kBytes ? 32 : 8;
  const size_t from = wrong == Wrong::kSource ? 4096 : 0;
  const ncclGinSignal_t signal = wrong == Wrong::kSignal     ? static_cast<ncclGinSignal_t>(comm.ginSignalCount)
                                 : wrong == Wrong::kReserved ? comm.worldGinBarrier.signal0
                                                             : 0;
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
    case Wrong::kSignal: return "signal 10 is beyond the 8 granted; ids are 0 to 7";
    case Wrong::kReserved: return "signal 8 is beyond the 8 granted; ids are 0 to 7, or raise ncclDevCommRequirements::ginSignalCount; this one belongs to a barrier";
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
  if (!good) rank.expect_async_error(ncclInvalidUsage, {"ncclGin::put by rank 0", limit_of(wrong, comm), "[at "});
  rank.abandon();
}

CONFORMANCE_CASE(M6_R_the_same_call_with_all_in_range_succeeds, 1) { run_misuse(rank, Wrong::kNothing); }
CONFORMANCE_CASE(M6_R_peer_out_of_range, 1) { run_misuse(rank, Wrong::kPeer); }
CONFORMANCE_CASE(M6_R_offset_out_of_range, 1) { run_misuse(rank, Wrong::kOffset); }
CONFORMANCE_CASE(M6_R_bytes_beyond_the_window, 1) { run_misuse(rank, Wrong::kBytes); }
CONFORMANCE_CASE(M6_R_source_out_of_range, 1) { run_misuse(rank, Wrong::kSource); }
CONFORMANCE_CASE(M6_R_signal_out_of_range, 1) { run_misuse(rank, Wrong::kSignal); }
CONFORMANCE_CASE(M6_R_signal_of_a_barrier, 1) { run_misuse(rank, Wrong::kReserved); }
CONFORMANCE_CASE(M6_R_counter_out_of_range, 1) { run_misuse(rank, Wrong::kCounter); }
CONFORMANCE_CASE(M6_R_null_window, 1) { run_misuse(rank, Wrong::kNullWindow); }

// M6·R for barriers: two are granted of each kind, one by a requirement of the program's own.
enum class Barrier { kWorld, kRail, kHybrid, kOwn, kAllContexts };
__global__ void cross(ncclDevComm comm, ncclGinBarrierHandle own, Barrier kind, uint32_t index, unsigned* passed) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  if (kind == Barrier::kWorld) ncclGinBarrier(block, gin, ncclTeamTagWorld{}, index);
  if (kind == Barrier::kRail) ncclGinBarrier(block, gin, ncclTeamTagRail{}, index);
  if (kind == Barrier::kHybrid) ncclBarrier(block, ncclTeamTagRail{}, gin, index);
  if (kind == Barrier::kOwn) ncclGinBarrier(block, gin, ncclTeamWorld(comm), own, index);
  if (kind == Barrier::kAllContexts) ncclGinBarrier(block, ncclGinAllContexts(comm), ncclTeamTagWorld{}, index);
  if (threadIdx.x == 0) *passed = 1;
}

void run_barrier_index(Rank& rank, Barrier kind, uint32_t index) {
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.railGinBarrierCount = 2;
  reqs.barrierCount = 2;
  ncclGinBarrierHandle_t own{};
  ncclDevResourceRequirements_t node{};
  rank.must(ncclGinBarrierCreateRequirement(rank.comm, ncclTeamWorld(rank.comm), 1, &own, &node), "ncclGinBarrierCreateRequirement");
  reqs.resourceRequirementsList = &node;
  const ncclDevComm comm = rank.dev_comm(reqs);
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  const uint32_t granted = kind == Barrier::kOwn ? 1 : 2;
  const bool good = index < granted;
  cross<<<1, kThreads, 0, rank.stream>>>(comm, own, kind, index, passed.device());
  const cudaError_t error = cudaStreamSynchronize(rank.stream);
  good ? rank.expect_eq(static_cast<int>(error), static_cast<int>(cudaSuccess), "the stream's error") : rank.expect_lost(error, "the stream's error");
  rank.expect_eq(*passed.device(), good ? 1u : 0u, "kernels that went on");
  if (good) return;
  if (rank.async_error() == ncclSuccess) rank.fail("no asynchronous error after a misuse");
  // Of this rank or of the one that came first.
  const std::string what = "barrier index " + std::to_string(index) + " is beyond the " + std::to_string(granted) + " granted; ";
  rank.expect_last_error({"ncclGinBarrierSession by rank ", what, "[at "});
  rank.abandon();
}

CONFORMANCE_CASE(M6_R_barrier_in_range, 2) { run_barrier_index(rank, Barrier::kWorld, 1); }
CONFORMANCE_CASE(M6_R_barrier_out_of_range, 2) { run_barrier_index(rank, Barrier::kWorld, 2); }
CONFORMANCE_CASE(M6_R_rail_barrier_in_range, 2) { run_barrier_index(rank, Barrier::kRail, 1); }
CONFORMANCE_CASE(M6_R_rail_barrier_out_of_range, 2) { run_barrier_index(rank, Barrier::kRail, 2); }
CONFORMANCE_CASE(M6_R_hybrid_barrier_in_range, 2) { run_barrier_index(rank, Barrier::kHybrid, 1); }
CONFORMANCE_CASE(M6_R_hybrid_barrier_out_of_range, 2) { run_barrier_index(rank, Barrier::kHybrid, 2); }
CONFORMANCE_CASE(M6_R_own_barrier_in_range, 2) { run_barrier_index(rank, Barrier::kOwn, 0); }
CONFORMANCE_CASE(M6_R_own_barrier_out_of_range, 2) { run_barrier_index(rank, Barrier::kOwn, 1); }
CONFORMANCE_CASE(M6_R_barrier_of_all_contexts_in_range, 2) { run_barrier_index(rank, Barrier::kAllContexts, 1); }
CONFORMANCE_CASE(M6_R_barrier_of_all_contexts_out_of_range, 2) { run_barrier_index(rank, Barrier::kAllContexts, 2); }

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
    return;
  }
  // The misuse ends the communicator on every rank.
  rank.expect_async_error(rank.rank == 0 ? ncclInvalidUsage : ncclRemoteError, {rank.rank == 0 ? "" : "rank 0 ended it", "outside the window of 8192 bytes"});
  rank.abandon();
}

CONFORMANCE_CASE(M6_R_offsets_are_checked_against_the_targets_window_good, 2) { run_other_size(rank, 8128, true); }
CONFORMANCE_CASE(M6_R_offsets_are_checked_against_the_targets_window_bad, 2) { run_other_size(rank, 8136, false); }

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
