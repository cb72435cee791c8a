// SPDX-License-Identifier: Apache-2.0
// Host one-sided operations on streams, between kernels: P25-P28, P30, and P32 and P34 for what a stream waits for.
#include <signal.h>

#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::fill;
using conformance::kBufferBytes;
using conformance::kTurns;
using conformance::kWords;
using conformance::local;
using conformance::other_than;
using conformance::Outcome;
using conformance::Rank;
using conformance::WhenDone;
using conformance::Window;
using Clock = std::chrono::steady_clock;

constexpr int kThreads = 64;
constexpr auto kBound = std::chrono::milliseconds(1000);  // P32

// A window holds d, e and the source, one behind the other.
constexpr size_t kD = 0, kE = kBufferBytes, kSource = 2 * kBufferBytes, kWindowBytes = 3 * kBufferBytes;

__global__ void fill_source(ncclWindow_t window, uint64_t value) { fill(local(window) + kSource / sizeof(uint64_t), value); }

// Counts by thread 0 the words at `offset` that are not `value`.
__global__ void check(ncclWindow_t window, size_t offset, uint64_t value, unsigned* wrong) {
  if (threadIdx.x == 0) *wrong += other_than(local(window) + offset / sizeof(uint64_t), value);
}

void put(Rank& rank, const Window& window, int peer, size_t offset) {
  rank.must(ncclPutSignal(window.buffer + kSource, kBufferBytes, ncclInt8, peer, window.handle, offset, 0, 0, 0, rank.comm, rank.stream),
            "ncclPutSignal");
}
void send_signal(Rank& rank, int peer) { rank.must(ncclSignal(peer, 0, 0, 0, rank.comm, rank.stream), "ncclSignal"); }
void wait(Rank& rank, int peer, int count = 1) {
  ncclWaitSignalDesc_t one{count, peer, 0, 0};
  rank.must(ncclWaitSignal(1, &one, rank.comm, rank.stream), "ncclWaitSignal");
}

// Rank 0 puts turn after turn, rank 1 checks each and answers.
CONFORMANCE_CASE(P26_a_host_signal_covers_the_puts_before_it, 2) {
  const Window window = rank.window(kWindowBytes);
  Outcome<unsigned> wrong(rank);
  for (uint64_t turn = 1; turn <= kTurns / 4; ++turn) {
    if (rank.rank == 0) {
      fill_source<<<1, kThreads, 0, rank.stream>>>(window.handle, turn);
      put(rank, window, 1, kD);
      put(rank, window, 1, kE);
      wait(rank, 1);
    } else {
      wait(rank, 0, 2);
      check<<<1, kThreads, 0, rank.stream>>>(window.handle, kD, turn, wrong.device());
      check<<<1, kThreads, 0, rank.stream>>>(window.handle, kE, turn, wrong.device());
      send_signal(rank, 0);
    }
  }
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "words that were not there behind the wait");
}

// The signal alone, later, covers them too.
CONFORMANCE_CASE(P26_a_host_signal_alone_covers_earlier_puts, 2) {
  const Window window = rank.window(kWindowBytes);
  Outcome<unsigned> wrong(rank);
  for (uint64_t turn = 1; turn <= kTurns / 4; ++turn) {
    if (rank.rank == 0) {
      fill_source<<<1, kThreads, 0, rank.stream>>>(window.handle, turn);
      put(rank, window, 1, kD);
      send_signal(rank, 1);
      wait(rank, 1);
    } else {
      wait(rank, 0, 2);
      check<<<1, kThreads, 0, rank.stream>>>(window.handle, kD, turn, wrong.device());
      send_signal(rank, 0);
    }
  }
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "words that were not there behind the wait");
}

CONFORMANCE_CASE(P25_host_signals_add_up_and_none_is_lost, 3) {
  const Window window = rank.window(kWindowBytes);
  Outcome<unsigned> wrong(rank);
  constexpr int kEach = 12;
  if (rank.rank != 0) {
    fill_source<<<1, kThreads, 0, rank.stream>>>(window.handle, static_cast<uint64_t>(rank.rank));
    for (int i = 1; i < kEach; ++i) send_signal(rank, 0);
    put(rank, window, 0, rank.rank == 1 ? kD : kE);
  } else {
    wait(rank, 1, 3);  // the surplus is kept
    ncclWaitSignalDesc_t rest[] = {{4, 1, 0, 0}, {kEach, 2, 0, 0}, {kEach - 7, 1, 0, 0}};
    rank.must(ncclWaitSignal(3, rest, rank.comm, rank.stream), "ncclWaitSignal");
    check<<<1, kThreads, 0, rank.stream>>>(window.handle, kD, 1, wrong.device());
    check<<<1, kThreads, 0, rank.stream>>>(window.handle, kE, 2, wrong.device());
  }
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "words that were not there behind the last signal");
}

CONFORMANCE_CASE(P27_behind_a_host_put_its_source_may_be_overwritten, 2) {
  const Window window = rank.window(kWindowBytes);
  Outcome<unsigned> wrong(rank);
  for (uint64_t turn = 1; turn <= kTurns / 4; ++turn) {
    if (rank.rank == 0) {
      fill_source<<<1, kThreads, 0, rank.stream>>>(window.handle, turn);
      put(rank, window, 1, kD);
      fill_source<<<1, kThreads, 0, rank.stream>>>(window.handle, ~turn);
      wait(rank, 1);
    } else {
      wait(rank, 0);
      check<<<1, kThreads, 0, rank.stream>>>(window.handle, kD, turn, wrong.device());
      send_signal(rank, 0);
    }
  }
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "words of before or after what was put");
}

// All to all in one group, to oneself too; the second put to each peer is the one that stays.
CONFORMANCE_CASE(P28_a_group_of_host_puts_keeps_the_order_of_each_peer, 4) {
  const Window window = rank.window(static_cast<size_t>(rank.ranks) * kBufferBytes + 2 * kBufferBytes);
  const size_t first = static_cast<size_t>(rank.ranks) * kBufferBytes, second = first + kBufferBytes;
  const auto mine = static_cast<uint64_t>(rank.rank);
  std::fill_n(window.words() + first / sizeof(uint64_t), kWords, 100 + mine);
  std::fill_n(window.words() + second / sizeof(uint64_t), kWords, 200 + mine);
  Outcome<unsigned> wrong(rank);
  rank.must(ncclGroupStart(), "ncclGroupStart");
  for (const size_t source : {first, second}) {
    for (int peer = 0; peer < rank.ranks; ++peer) {
      rank.must(ncclPutSignal(window.buffer + source, kWords, ncclUint64, peer, window.handle, mine * kBufferBytes, 0, 0, 0, rank.comm,
                              rank.stream),
                "ncclPutSignal");
    }
  }
  for (int peer = 0; peer < rank.ranks; ++peer) wait(rank, peer, 2);
  rank.must(ncclGroupEnd(), "ncclGroupEnd");
  for (int peer = 0; peer < rank.ranks; ++peer) {
    const auto from = static_cast<uint64_t>(peer);
    check<<<1, kThreads, 0, rank.stream>>>(window.handle, from * kBufferBytes, 200 + from, wrong.device());
  }
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "words that are not the second put's");
}

// B1: more at once than the host's queue has places (64), in bursts; the last of those to one place is the one that stays.
CONFORMANCE_CASE(Scenario_B1_more_host_puts_than_requests_arrive_once_and_in_order, 2) {
  constexpr size_t kPlaces = 40, kPuts = 160;
  const Window window = rank.window(kWindowBytes);
  Outcome<unsigned> wrong(rank);
  auto* const from = window.words() + kSource / sizeof(uint64_t);
  for (size_t i = 0; i < kPuts; ++i) from[i] = 1000 + i;
  if (rank.rank == 0) {
    for (size_t i = 0; i < kPuts; ++i) {
      rank.must(ncclPutSignal(from + i, 1, ncclUint64, 1, window.handle, i % kPlaces * sizeof(uint64_t), 0, 0, 0, rank.comm, rank.stream), "ncclPutSignal");
    }
    wait(rank, 1);
  } else {
    wait(rank, 0, kPuts);
    rank.must(cudaStreamSynchronize(rank.stream), "cudaStreamSynchronize");
    for (size_t i = 0; i < kPlaces; ++i) rank.expect_eq(window.words()[i], 1000 + kPuts - kPlaces + i, "word " + std::to_string(i));
    send_signal(rank, 0);
  }
  rank.finish();
}

// P29: 1 GiB is what one operation of a NIC may carry; what is longer is cut, and is one signal all the same.
CONFORMANCE_CASE(P29_a_host_put_of_more_than_a_gibibyte_is_one_signal, 2) {
  constexpr size_t kBytes = (size_t{1} << 30) + kBufferBytes, kLastWord = kBytes / sizeof(uint64_t) - 1, kBorder = (size_t{1} << 30) / sizeof(uint64_t);
  void* buffer = nullptr;
  ncclWindow_t window = nullptr;
  rank.must(ncclMemAlloc(&buffer, kBytes), "ncclMemAlloc");
  rank.must(ncclCommWindowRegister(rank.comm, buffer, kBytes, &window, NCCL_WIN_COLL_SYMMETRIC), "ncclCommWindowRegister");
  auto* const words = static_cast<uint64_t*>(buffer);
  if (rank.rank == 0) {
    for (const size_t i : {size_t{0}, kBorder - 1, kBorder, kLastWord}) words[i] = 7 + i;
    rank.must(ncclPutSignal(buffer, kBytes, ncclInt8, 1, window, 0, 0, 0, 0, rank.comm, rank.stream), "ncclPutSignal");
    wait(rank, 1);
    rank.must(cudaStreamSynchronize(rank.stream), "cudaStreamSynchronize");
    words[0] = 1;
    rank.must(ncclPutSignal(buffer, 1, ncclUint64, 1, window, 0, 0, 0, 0, rank.comm, rank.stream), "ncclPutSignal of a word");
  } else {
    wait(rank, 0);
    rank.must(cudaStreamSynchronize(rank.stream), "cudaStreamSynchronize");
    for (const size_t i : {size_t{0}, kBorder - 1, kBorder, kLastWord}) rank.expect_eq(words[i], 7 + i, "word " + std::to_string(i));
    send_signal(rank, 0);
    wait(rank, 0);  // had the first put sent two, this would be over before the second put
    rank.must(cudaStreamSynchronize(rank.stream), "cudaStreamSynchronize");
    rank.expect_eq(words[0], uint64_t{1}, "the word of the second put");
  }
  rank.finish();
  rank.must(ncclCommWindowDeregister(rank.comm, window), "ncclCommWindowDeregister");
  rank.must(ncclMemFree(buffer), "ncclMemFree");
}

// A step of a ring, captured once: every replay waits for the signals of its own turn.
CONFORMANCE_CASE(P27_a_replayed_graph_puts_and_waits_each_time, 3) {
  const Window window = rank.window(kWindowBytes);
  Outcome<unsigned> wrong(rank);
  const int next = (rank.rank + 1) % rank.ranks, left = (rank.rank + rank.ranks - 1) % rank.ranks;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t exec = nullptr;
  rank.must(cudaStreamBeginCapture(rank.stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  put(rank, window, next, kD);
  wait(rank, left);
  send_signal(rank, left);
  wait(rank, next);
  rank.must(cudaStreamEndCapture(rank.stream, &graph), "cudaStreamEndCapture");
  rank.must(cudaGraphInstantiate(&exec, graph, 0), "cudaGraphInstantiate");
  // What is not captured does not count in the graph, nor the other way round.
  send_signal(rank, next);
  for (uint64_t i = 1; i <= 20; ++i) {
    fill_source<<<1, kThreads, 0, rank.stream>>>(window.handle, i);
    rank.must(cudaGraphLaunch(exec, rank.stream), "cudaGraphLaunch");
    check<<<1, kThreads, 0, rank.stream>>>(window.handle, kD, i, wrong.device());
    send_signal(rank, left);  // it may put again
    wait(rank, next);
  }
  wait(rank, left);
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "words that are not of the replay's own turn");
  rank.must(cudaGraphExecDestroy(exec), "cudaGraphExecDestroy");
  rank.must(cudaGraphDestroy(graph), "cudaGraphDestroy");
}

CONFORMANCE_CASE(P30_a_refused_host_call_changes_nothing, 2) {
  const Window window = rank.window(kWindowBytes);
  Outcome<unsigned> wrong(rank);
  const auto refused = [&](ncclResult_t result, ncclResult_t code, const char* what) {
    rank.expect_eq(static_cast<int>(result), static_cast<int>(code), what);
  };
  if (rank.rank == 0) {
    fill_source<<<1, kThreads, 0, rank.stream>>>(window.handle, 7);
    const char* source = window.buffer + kSource;
    refused(ncclPutSignal(source, 8, ncclInt8, 2, window.handle, 0, 0, 0, 0, rank.comm, rank.stream), ncclInvalidArgument, "peer 2 of 2");
    refused(ncclPutSignal(source, 8, ncclInt8, 1, window.handle, kWindowBytes - 7, 0, 0, 0, rank.comm, rank.stream), ncclInvalidArgument,
            "beyond the window");
    refused(ncclPutSignal(source, 8, ncclInt8, 1, window.handle, 0, 1, 0, 0, rank.comm, rank.stream), ncclInvalidArgument, "sigIdx 1");
    refused(ncclPutSignal(source, 8, ncclInt8, 1, nullptr, 0, 0, 0, 0, rank.comm, rank.stream), ncclInvalidArgument, "no window");
    put(rank, window, 1, kE);
  } else {
    ncclWaitSignalDesc_t bad[] = {{5, 0, 0, 0}, {1, 2, 0, 0}};
    refused(ncclWaitSignal(2, bad, rank.comm, rank.stream), ncclInvalidArgument, "a wait for peer 2 of 2");
    wait(rank, 0);
    check<<<1, kThreads, 0, rank.stream>>>(window.handle, kD, 0, wrong.device());
    check<<<1, kThreads, 0, rank.stream>>>(window.handle, kE, 7, wrong.device());
  }
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "words that a refused call changed, or a good one did not");
}

__global__ void note(unsigned* passed) { *passed += 1; }

CONFORMANCE_CASE(P32_abort_ends_a_wait_of_a_stream, 2) {
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  wait(rank, 1 - rank.rank);
  note<<<1, 1, 0, rank.stream>>>(passed.device());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto since = Clock::now();
  rank.must(ncclCommAbort(rank.comm), "ncclCommAbort");
  rank.comm = nullptr;
  const cudaError_t error = cudaStreamSynchronize(rank.stream);
  if (Clock::now() - since > kBound) rank.fail("the stream's wait outlived the abort by more than 1 s");
  rank.expect_lost(error, "the stream's error after an abort");
  rank.expect_eq(*passed.device(), 0u, "kernels that ran behind the wait");
}

// P34: nobody can make progress, a stream waits: the run ends with a report.
CONFORMANCE_CASE_WITH(P34_a_wait_of_a_stream_that_nobody_ends_is_reported, 2, {"ANYGIN_HANG_TIMEOUT=1"}) {
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  send_signal(rank, 1 - rank.rank);
  wait(rank, 1 - rank.rank, 2);
  note<<<1, 1, 0, rank.stream>>>(passed.device());
  const cudaError_t error = cudaStreamSynchronize(rank.stream);
  rank.expect_lost(error, "the stream's error after a hang");
  rank.expect_eq(*passed.device(), 0u, "kernels that ran behind the wait");
  rank.abandon();
}

// As processes only: a thread cannot die alone.
CONFORMANCE_CASE_WITH(P32_the_death_of_a_peer_ends_a_wait_of_a_stream, 3, {}, 1) {
  rank.window(kWindowBytes);  // all are there
  if (find_place().ranks == 0) return;
  if (rank.rank == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    kill(getpid(), SIGKILL);
  }
  wait(rank, 1);
  const auto since = Clock::now();
  const cudaError_t error = cudaStreamSynchronize(rank.stream);
  if (Clock::now() - since > kBound + std::chrono::milliseconds(200)) rank.fail("the stream's wait outlived the peer by more than 1 s");
  rank.expect_lost(error, "the stream's error after the peer's death");
  rank.expect_async_error(ncclRemoteError, {"rank 1"});
  rank.abandon();
}

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
