// SPDX-License-Identifier: Apache-2.0
// Sends, receives, groups and collectives on streams, between kernels: P35, P36, F10, M11, and P32 for a stream that
// waits in one.
#include <signal.h>

#include "conformance.h"

namespace {

using conformance::fill;
using conformance::kBufferBytes;
using conformance::kTurns;
using conformance::kWords;
using conformance::other_than;
using conformance::Outcome;
using conformance::Rank;
using conformance::WhenDone;
using Clock = std::chrono::steady_clock;

constexpr int kThreads = 64;
constexpr auto kBound = std::chrono::milliseconds(1000);  // P32

// Device memory of so many buffers.
class Buffers {
 public:
  Buffers(Rank& rank, int count, WhenDone when_done = WhenDone::kFree) : rank_(rank), when_done_(when_done) {
    rank.must(cudaMalloc(reinterpret_cast<void**>(&words_), static_cast<size_t>(count) * kBufferBytes), "cudaMalloc");
  }
  ~Buffers() {
    if (when_done_ == WhenDone::kFree) rank_.must(cudaFree(words_), "cudaFree");
  }
  Buffers(const Buffers&) = delete;
  Buffers& operator=(const Buffers&) = delete;
  uint64_t* at(int index) const { return words_ + static_cast<size_t>(index) * kWords; }

 private:
  Rank& rank_;
  const WhenDone when_done_;
  uint64_t* words_ = nullptr;
};

__global__ void fill_buffer(uint64_t* words, uint64_t value) { fill(words, value); }
__global__ void check(const uint64_t* words, uint64_t value, unsigned* wrong) {
  if (threadIdx.x == 0) *wrong += other_than(words, value);
}
__global__ void note(unsigned* passed) { *passed += 1; }

void fill_on(Rank& rank, uint64_t* words, uint64_t value) { fill_buffer<<<1, kThreads, 0, rank.stream>>>(words, value); }
void check_on(Rank& rank, const uint64_t* words, uint64_t value, const Outcome<unsigned>& wrong) {
  check<<<1, kThreads, 0, rank.stream>>>(words, value, wrong.device());
}
void send(Rank& rank, const uint64_t* words, int peer) {
  rank.must(ncclSend(words, kWords, ncclUint64, peer, rank.comm, rank.stream), "ncclSend");
}
void receive(Rank& rank, uint64_t* words, int peer) {
  rank.must(ncclRecv(words, kWords, ncclUint64, peer, rank.comm, rank.stream), "ncclRecv");
}

CONFORMANCE_CASE(P35_sends_match_receives_in_issue_order, 2) {
  const Buffers buffers(rank, 2);
  Outcome<unsigned> wrong(rank);
  for (uint64_t turn = 1; turn <= kTurns / 4; ++turn) {
    for (int i = 0; i < 2; ++i) {
      if (rank.rank == 0) {
        fill_on(rank, buffers.at(i), 2 * turn + static_cast<uint64_t>(i));
        send(rank, buffers.at(i), 1);
      } else {
        receive(rank, buffers.at(i), 0);
        check_on(rank, buffers.at(i), 2 * turn + static_cast<uint64_t>(i), wrong);
      }
    }
  }
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "words of another send");
}

// Two to each, oneself included, in one group; what a kernel wrote before is sent, a kernel behind it sees what came.
CONFORMANCE_CASE(P36_a_group_exchanges_with_all_ranks_and_keeps_the_order_of_each, 4) {
  const Buffers out(rank, 2 * rank.ranks), in(rank, 2 * rank.ranks);
  Outcome<unsigned> wrong(rank);
  const auto value = [&](uint64_t turn, int from, int to, int which) {
    return (turn * 100 + static_cast<uint64_t>(from * rank.ranks + to)) * 2 + static_cast<uint64_t>(which);
  };
  const auto place = [](int peer, int which) { return 2 * peer + which; };
  for (uint64_t turn = 1; turn <= kTurns / 20; ++turn) {
    for (int peer = 0; peer < rank.ranks; ++peer) {
      for (int which = 0; which < 2; ++which) fill_on(rank, out.at(place(peer, which)), value(turn, rank.rank, peer, which));
    }
    rank.must(ncclGroupStart(), "ncclGroupStart");
    for (int which = 0; which < 2; ++which) {
      for (int peer = 0; peer < rank.ranks; ++peer) send(rank, out.at(place(peer, which)), peer);
    }
    for (int peer = 0; peer < rank.ranks; ++peer) {
      for (int which = 0; which < 2; ++which) receive(rank, in.at(place(peer, which)), peer);
    }
    rank.must(ncclGroupEnd(), "ncclGroupEnd");
    for (int peer = 0; peer < rank.ranks; ++peer) {
      for (int which = 0; which < 2; ++which) check_on(rank, in.at(place(peer, which)), value(turn, peer, rank.rank, which), wrong);
    }
  }
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "words that another rank, or another send, meant");
}

// Each rank makes the collective and the exchange in an order of its own: within a group that is no difference.
CONFORMANCE_CASE(P36_collectives_and_sends_of_a_group_do_not_wait_for_each_other, 3) {
  const Buffers out(rank, 1), in(rank, 1), sum(rank, 1), all(rank, rank.ranks);
  Outcome<unsigned> wrong(rank);
  const int next = (rank.rank + 1) % rank.ranks, left = (rank.rank + rank.ranks - 1) % rank.ranks;
  const auto collect = [&] {
    rank.must(ncclAllReduce(out.at(0), sum.at(0), kWords, ncclUint64, ncclSum, rank.comm, rank.stream), "ncclAllReduce");
    rank.must(ncclAllGather(out.at(0), all.at(0), kWords, ncclUint64, rank.comm, rank.stream), "ncclAllGather");
  };
  for (uint64_t turn = 1; turn <= kTurns / 20; ++turn) {
    fill_on(rank, out.at(0), turn * 10 + static_cast<uint64_t>(rank.rank));
    rank.must(ncclGroupStart(), "ncclGroupStart");
    if (rank.rank != 1) collect();
    send(rank, out.at(0), next);
    receive(rank, in.at(0), left);
    if (rank.rank == 1) collect();
    rank.must(ncclGroupEnd(), "ncclGroupEnd");
    check_on(rank, in.at(0), turn * 10 + static_cast<uint64_t>(left), wrong);
    check_on(rank, sum.at(0), turn * 30 + 3, wrong);
    for (int from = 0; from < rank.ranks; ++from) check_on(rank, all.at(from), turn * 10 + static_cast<uint64_t>(from), wrong);
  }
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "wrong words");
}

CONFORMANCE_CASE(F10_a_send_may_wait_for_a_receive_that_comes_late, 2) {
  const Buffers buffers(rank, 1);
  Outcome<unsigned> wrong(rank);
  if (rank.rank == 0) {
    fill_on(rank, buffers.at(0), 7);
    send(rank, buffers.at(0), 1);
  } else {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    receive(rank, buffers.at(0), 0);
    check_on(rank, buffers.at(0), 7, wrong);
  }
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "words that did not come");
}

CONFORMANCE_CASE(M11_R_counts_that_differ, 2) {
  const Buffers buffers(rank, 1, WhenDone::kKeep);
  if (rank.rank == 0) {
    rank.must(ncclSend(buffers.at(0), 10, ncclUint64, 1, rank.comm, rank.stream), "ncclSend");
  } else {
    rank.must(ncclRecv(buffers.at(0), 9, ncclUint64, 0, rank.comm, rank.stream), "ncclRecv");
  }
  rank.expect_lost(cudaStreamSynchronize(rank.stream), "the stream's error");
  rank.expect_async_error(rank.rank == 1 ? ncclInvalidUsage : ncclRemoteError,
                          {"ncclRecv of 9 uint64 from rank 0 meets ncclSend of 10 uint64 of rank 0"});
  rank.abandon();
}

// Without a group each waits for a receive that the other has behind its own send.
CONFORMANCE_CASE_WITH(P34_a_cycle_of_sends_ends_with_a_report, 2, {"ANYGIN_HANG_TIMEOUT=1"}) {
  const Buffers buffers(rank, 2, WhenDone::kKeep);
  send(rank, buffers.at(0), 1 - rank.rank);
  receive(rank, buffers.at(1), 1 - rank.rank);
  rank.expect_lost(cudaStreamSynchronize(rank.stream), "the stream's error");
  rank.expect_async_error(ncclRemoteError);
  rank.abandon();
}

CONFORMANCE_CASE(P32_abort_ends_a_receive, 2) {
  const Buffers buffers(rank, 1, WhenDone::kKeep);
  const Outcome<unsigned> passed(rank, WhenDone::kKeep);
  receive(rank, buffers.at(0), 1 - rank.rank);
  note<<<1, 1, 0, rank.stream>>>(passed.device());
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  const auto since = Clock::now();
  rank.must(ncclCommAbort(rank.comm), "ncclCommAbort");
  rank.comm = nullptr;
  const cudaError_t error = cudaStreamSynchronize(rank.stream);
  if (Clock::now() - since > kBound) rank.fail("the receive outlived the abort by more than 1 s");
  rank.expect_lost(error, "the stream's error after an abort");
  rank.expect_eq(*passed.device(), 0u, "kernels that ran behind the receive");
}

// As processes only: a thread cannot die alone.
CONFORMANCE_CASE_WITH(P32_the_death_of_a_peer_ends_a_collective, 3, {}, 1) {
  const Buffers buffers(rank, 1, WhenDone::kKeep);
  if (find_place().ranks == 0) return;
  if (rank.rank == 1) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    kill(getpid(), SIGKILL);
  }
  rank.must(ncclAllReduce(buffers.at(0), buffers.at(0), kWords, ncclUint64, ncclSum, rank.comm, rank.stream), "ncclAllReduce");
  const auto since = Clock::now();
  const cudaError_t error = cudaStreamSynchronize(rank.stream);
  if (Clock::now() - since > kBound + std::chrono::milliseconds(200)) rank.fail("the collective outlived the peer by more than 1 s");
  rank.expect_lost(error, "the stream's error after the peer's death");
  rank.expect_async_error(ncclRemoteError, {"rank 1"});
  rank.abandon();
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
