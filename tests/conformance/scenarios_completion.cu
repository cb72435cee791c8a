// SPDX-License-Identifier: Apache-2.0
// What people met with completion and full queues: P11, and scenarios F2 to F11 and B1 to B7 of docs/scenarios.md.
#include "conformance.h"

#if CONFORMANCE_SINCE_2_30

namespace {

using conformance::fill;
using conformance::in_simulation;
using conformance::kBufferBytes;
using conformance::kTurns;
using conformance::local;
using conformance::other_than;
using conformance::Outcome;
using conformance::Rank;
using conformance::Window;

constexpr int kThreads = 64;
constexpr ncclGinSignal_t kArrived = 0, kSettled = 1, kAck = 2;
constexpr ncclGinCounter_t kDone = 0;
constexpr uint64_t kOverwritten = 0xdeadbeefdeadbeefull;

// --- F2: which of "source reusable", "there at the peer", "get readable" holds behind which wait -------------------------------
enum class Op { kPut, kPutSignal, kGet, kSignal };
enum class By { kFlush, kRequest, kCounter, kPeersWait };
struct Held {
  unsigned overwritten;  // turns in which bytes arrived that were written after the wait
  unsigned unseen;       // turns in which the peer's wait did not cover the put
  unsigned unread;       // turns in which the get was not there behind the wait
};

__device__ void complete(const ncclGin& gin, By by, uint64_t turn) {
  const ncclCoopCta block;
  ncclGinRequest_t request{};
  if (by == By::kFlush) gin.flush(block);
  if (by == By::kCounter) gin.waitCounter(block, kDone, turn);
  if (by == By::kRequest) {
    gin.flushAsync(ncclTeamWorld(gin.comm), 1, &request, block);
    gin.wait(request, block);
  }
}

__global__ void op_and_wait(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, Op op, By by, Held* held) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const bool counts = by == By::kCounter;
  for (uint64_t turn = 1; turn <= 40; ++turn) {
    if (comm.rank == 0) {
      fill(local(source), turn);
      if (op == Op::kPut && !counts) gin.put(world, 1, d, 0, source, 0, kBufferBytes, ncclGin_None{}, ncclGin_None{}, block);
      if (op == Op::kPut && counts) gin.put(world, 1, d, 0, source, 0, kBufferBytes, ncclGin_None{}, ncclGin_WeakCounterInc{kDone}, block);
      if (op == Op::kPutSignal && !counts) gin.put(world, 1, d, 0, source, 0, kBufferBytes, ncclGin_WeakSignalInc{kArrived}, ncclGin_None{}, block);
      if (op == Op::kPutSignal && counts) gin.put(world, 1, d, 0, source, 0, kBufferBytes, ncclGin_WeakSignalInc{kArrived}, ncclGin_WeakCounterInc{kDone}, block);
      if (op == Op::kGet) gin.get(world, 1, d, 0, source, 0, kBufferBytes, block);
      if (op == Op::kSignal) gin.signal(world, 1, ncclGin_WeakSignalInc{kArrived}, block);
      complete(gin, by, turn);
      if (op == Op::kGet && threadIdx.x == 0) held->unread += other_than(local(source), 7 * turn) != 0;
      __syncthreads();
      if (op != Op::kGet && by != By::kPeersWait) fill(local(source), kOverwritten);
      gin.signal(world, 1, ncclGin_StrongSignalInc{kSettled}, block);
      gin.waitSignal(block, kAck, turn + 1);
      gin.flush(block);
    } else {
      fill(local(d), 7 * turn);  // what a get reads
      gin.signal(world, 0, ncclGin_StrongSignalInc{kAck}, block);
      if (op == Op::kPutSignal || op == Op::kSignal) gin.waitSignal(block, kArrived, turn);
      if (op == Op::kPutSignal && threadIdx.x == 0) held->unseen += other_than(local(d), turn) != 0;
      gin.waitSignal(block, kSettled, turn);
      if ((op == Op::kPut || op == Op::kPutSignal) && threadIdx.x == 0) held->overwritten += other_than(local(d), turn) != 0;
      __syncthreads();
    }
  }
}

// Rank 1 is one turn ahead with its buffer: rank 0 starts when it is filled.
__global__ void await_first(ncclDevComm comm) {
  if (comm.rank == 0) ncclGin(comm, 0).waitSignal(ncclCoopThread{}, kAck, 1);
}
__global__ void answer_last(ncclDevComm comm) {
  if (comm.rank == 1) ncclGin(comm, 0).signal(ncclTeamWorld(comm), 0, ncclGin_StrongSignalInc{kAck});
}

void run_op(Rank& rank, Op op, By by) {
  const Window d = rank.window(kBufferBytes), source = rank.window(kBufferBytes);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<Held> held(rank);
  await_first<<<1, 1, 0, rank.stream>>>(comm);
  op_and_wait<<<1, kThreads, 0, rank.stream>>>(comm, d.handle, source.handle, op, by, held.device());
  answer_last<<<1, 1, 0, rank.stream>>>(comm);
  rank.finish();
  rank.expect_eq(held.get().overwritten, 0u, "turns in which bytes of after the wait arrived");
  rank.expect_eq(held.get().unseen, 0u, "turns in which the peer's wait came before the put");
  rank.expect_eq(held.get().unread, 0u, "turns in which the get was not there");
}

CONFORMANCE_CASE(Scenario_F2_table_put_flush, 2) { run_op(rank, Op::kPut, By::kFlush); }
CONFORMANCE_CASE(Scenario_F2_table_put_request, 2) { run_op(rank, Op::kPut, By::kRequest); }
CONFORMANCE_CASE(Scenario_F2_table_put_counter, 2) { run_op(rank, Op::kPut, By::kCounter); }
CONFORMANCE_CASE(Scenario_F2_table_put_with_signal_flush, 2) { run_op(rank, Op::kPutSignal, By::kFlush); }
CONFORMANCE_CASE(Scenario_F2_table_put_with_signal_request, 2) { run_op(rank, Op::kPutSignal, By::kRequest); }
CONFORMANCE_CASE(Scenario_F2_table_put_with_signal_counter, 2) { run_op(rank, Op::kPutSignal, By::kCounter); }
CONFORMANCE_CASE(Scenario_F2_table_put_with_signal_wait_of_the_peer, 2) { run_op(rank, Op::kPutSignal, By::kPeersWait); }
CONFORMANCE_CASE(Scenario_F2_table_get_flush, 2) { run_op(rank, Op::kGet, By::kFlush); }
CONFORMANCE_CASE(Scenario_F2_table_get_request, 2) { run_op(rank, Op::kGet, By::kRequest); }
CONFORMANCE_CASE(Scenario_F2_table_signal_flush, 2) { run_op(rank, Op::kSignal, By::kFlush); }
CONFORMANCE_CASE(Scenario_F2_table_signal_request, 2) { run_op(rank, Op::kSignal, By::kRequest); }
CONFORMANCE_CASE(Scenario_F2_table_signal_wait_of_the_peer, 2) { run_op(rank, Op::kSignal, By::kPeersWait); }

// --- P11, F11: requests of one peer each, waited for in another order and by another thread --------------------------------------
__global__ void requests(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, unsigned* wrong) {
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  __shared__ ncclGinRequest_t asked[3];
  constexpr int kPeers[] = {1, 2, 1};  // a1, b1, a2
  for (uint64_t turn = 1; turn <= kTurns / 2; ++turn) {
    if (comm.rank == 0) {
      for (size_t i = 0; i < 3; ++i) {
        fill(local(source) + i * conformance::kWords, turn * 10 + i);
        gin.put(world, kPeers[i], d, i * kBufferBytes, source, i * kBufferBytes, kBufferBytes, ncclGin_None{}, ncclGin_None{}, block);
        if (threadIdx.x == 0) gin.flushAsync(world, static_cast<uint32_t>(kPeers[i]), &asked[i]);
        __syncthreads();
      }
      for (const size_t i : {size_t{2}, size_t{1}, size_t{0}}) {
        if (threadIdx.x == 1 + i) gin.wait(asked[i]);  // not the thread that asked
        __syncthreads();
        fill(local(source) + i * conformance::kWords, kOverwritten);
      }
      gin.signal(world, 1, ncclGin_StrongSignalInc{kArrived}, block);
      gin.signal(world, 2, ncclGin_StrongSignalInc{kArrived}, block);
      gin.waitSignal(block, kAck, 2 * turn);
      gin.flush(block);
    } else {
      gin.waitSignal(block, kArrived, turn);
      for (size_t i = 0; i < 3 && threadIdx.x == 0; ++i) {
        if (kPeers[i] == comm.rank) *wrong += other_than(local(d) + i * conformance::kWords, turn * 10 + i);
      }
      __syncthreads();
      gin.signal(world, 0, ncclGin_StrongSignalInc{kAck}, block);
    }
  }
}

CONFORMANCE_CASE(P11_requests_are_waited_for_in_any_order_by_any_thread, 3) {
  const Window d = rank.window(3 * kBufferBytes), source = rank.window(3 * kBufferBytes);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> wrong(rank);
  requests<<<1, kThreads, 0, rank.stream>>>(comm, d.handle, source.handle, wrong.device());
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "words that were overwritten behind their request's wait");
}

// --- F8: an aggregate that is never closed ----------------------------------------------------------------------------------------
__global__ void aggregate(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, unsigned* wrong) {
  const ncclCoopThread thread;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  for (uint64_t turn = 1; turn <= kTurns; ++turn) {
    if (comm.rank == 0) {
      *local(source) = turn;
      gin.put(world, 1, d, 0, source, 0, 8, ncclGin_StrongSignalInc{kArrived}, ncclGin_None{}, thread, ncclGin_None{}, cuda::thread_scope_thread,
              cuda::thread_scope_device, ncclGinOptFlagsAggregateRequests);
      gin.flush(thread);
      *local(source) = kOverwritten;
      gin.waitSignal(thread, kAck, turn);
    } else {
      gin.waitSignal(thread, kArrived, turn);
      *wrong += *local(d) != turn;
      gin.signal(world, 0, ncclGin_StrongSignalInc{kAck});
    }
  }
}

CONFORMANCE_CASE(Scenario_F8_a_flush_closes_an_aggregate, 2) {
  const Window d = rank.window(4096), source = rank.window(4096);
  const ncclDevComm comm = rank.dev_comm();
  Outcome<unsigned> wrong(rank);
  aggregate<<<1, 1, 0, rank.stream>>>(comm, d.handle, source.handle, wrong.device());
  rank.finish();
  rank.expect_eq(wrong.get(), 0u, "wrong words");
}

// --- F10: gets and puts mixed, more than the queue holds ---------------------------------------------------------------------------
constexpr size_t kMixed = 16;
__global__ void mix(ncclDevComm comm, ncclWindow_t remote, ncclWindow_t mine, ncclWindow_t source, uint64_t rounds, uint64_t* results) {
  const ncclCoopThread thread;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const int peer = 1 - comm.rank;
  for (size_t i = 0; i < kMixed; ++i) local(remote)[i] = 1000 * static_cast<uint64_t>(comm.rank) + i;
  ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 0);
  for (uint64_t round = 1; round <= rounds; ++round) {
    for (size_t i = 0; i < kMixed; ++i) {
      local(source)[i] = round * 100 + i;
      gin.put(world, peer, remote, (kMixed + i) * 8, source, i * 8, 8, ncclGin_WeakSignalInc{kArrived}, ncclGin_WeakCounterInc{kDone});
      gin.get(world, peer, remote, i * 8, mine, i * 8, 8);
    }
    gin.flush(thread);
    for (size_t i = 0; i < kMixed; ++i) {
      results[0] += local(mine)[i] != 1000 * static_cast<uint64_t>(peer) + i;
      local(mine)[i] = kOverwritten;
    }
    gin.waitCounter(thread, kDone, round * kMixed);
  }
  gin.waitSignal(thread, kArrived, rounds * kMixed);
  ncclGinBarrier(thread, gin, ncclTeamTagWorld{}, 0);
  for (size_t i = 0; i < kMixed; ++i) results[0] += local(remote)[kMixed + i] != rounds * 100 + i;
  results[1] = gin.readCounter(kDone);
  results[2] = gin.readSignal(kArrived);
}
struct Three {
  uint64_t value[3];
};

CONFORMANCE_CASE(Scenario_F10_gets_and_puts_mixed_complete_as_often_as_submitted, 2) {
  const Window remote = rank.window(4096), mine = rank.window(4096), source = rank.window(4096);
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.ginQueueDepth = 4;
  const ncclDevComm comm = rank.dev_comm(reqs);
  const uint64_t rounds = in_simulation() ? 10 : 200;
  Outcome<Three> results(rank);
  mix<<<1, 1, 0, rank.stream>>>(comm, remote.handle, mine.handle, source.handle, rounds, results.device()->value);
  rank.finish();
  rank.expect_eq(results.get().value[0], 0u, "wrong words");
  rank.expect_eq(results.get().value[1], rounds * kMixed, "completed puts");
  rank.expect_eq(results.get().value[2], rounds * kMixed, "signals");
}

// --- F2's tail, B2, B3, B5, B7: more than the queue holds, and nobody flushes ------------------------------------------------------
struct Load {
  int depth, contexts, blocks, lanes;
  uint64_t each;  // operations of a lane
};
// Every lane of every rank but 0 puts its words to rank 0, a place each, on a context of its own as far as they go.
__global__ void all_to_one(ncclDevComm comm, ncclWindow_t d, ncclWindow_t source, Load load) {
  const unsigned lane = blockIdx.x * blockDim.x + threadIdx.x, lanes = gridDim.x * blockDim.x;
  if (comm.rank == 0) return;
  const ncclGin gin(comm, static_cast<int>(lane % static_cast<unsigned>(load.contexts)));
  const size_t place = (static_cast<size_t>(comm.rank - 1) * lanes + lane) * 8;
  local(source)[lane] = static_cast<uint64_t>(comm.rank) * 1000000 + lane;
  for (uint64_t i = 0; i < load.each; ++i) {
    gin.put(ncclTeamWorld(comm), 0, d, place, source, lane * 8, 8, ncclGin_WeakSignalInc{kArrived});
  }
}
// Rank 0 counts; all leave together.
__global__ void count_all(ncclDevComm comm, Load load, uint64_t* totals) {
  const ncclCoopThread thread;
  const uint64_t lanes = static_cast<uint64_t>(load.blocks) * static_cast<uint64_t>(load.lanes), ranks = static_cast<uint64_t>(comm.nRanks) - 1;
  for (uint64_t context = 0; comm.rank == 0 && context < static_cast<uint64_t>(load.contexts); ++context) {
    const ncclGin gin(comm, static_cast<int>(context));
    const uint64_t on = lanes / static_cast<uint64_t>(load.contexts) + (context < lanes % static_cast<uint64_t>(load.contexts) ? 1 : 0);
    gin.waitSignal(thread, kArrived, ranks * on * load.each);
    totals[0] += gin.readSignal(kArrived);
    totals[1] += gin.readSignal(kArrived) != ranks * on * load.each;
  }
  for (int context = 0; comm.rank != 0 && context < load.contexts; ++context) ncclGin(comm, context).flush(thread);
  ncclGinBarrier(thread, ncclGin(comm, 0), ncclTeamTagWorld{}, 0);
}

void run_load(Rank& rank, Load load) {
  const auto lanes = static_cast<size_t>(load.blocks) * static_cast<size_t>(load.lanes);
  const auto senders = static_cast<size_t>(rank.ranks - 1);
  const Window d = rank.window(senders * lanes * 8), source = rank.window(lanes * 8);
  ncclDevCommRequirements_t reqs = Rank::requirements();
  reqs.ginQueueDepth = load.depth;
  reqs.ginContextCount = load.contexts;
  const ncclDevComm comm = rank.dev_comm(reqs);
  Outcome<Three> totals(rank);
  all_to_one<<<load.blocks, load.lanes, 0, rank.stream>>>(comm, d.handle, source.handle, load);
  count_all<<<1, 1, 0, rank.stream>>>(comm, load, totals.device()->value);
  rank.finish();
  if (rank.rank != 0) return;
  rank.expect_eq(totals.get().value[0], senders * lanes * load.each, "signals");
  rank.expect_eq(totals.get().value[1], 0u, "contexts with another count");
  for (size_t i = 0; i < senders * lanes; ++i) rank.expect_eq(d.words()[i], (i / lanes + 1) * 1000000 + i % lanes, "word");
}
// The simulated world takes a fraction.
uint64_t times(uint64_t usual) { return in_simulation() ? std::max<uint64_t>(usual / 50, 2) : usual; }

CONFORMANCE_CASE(Scenario_F2_ten_queues_of_operations_without_a_flush, 2) { run_load(rank, {16, 1, 1, 1, 160}); }
CONFORMANCE_CASE_WITH(Scenario_B2_all_tokens_to_one_expert_with_queues_of_128, 16, {"ANYGIN_DEVICES=16"}) { run_load(rank, {128, 1, 1, 8, times(50)}); }
CONFORMANCE_CASE_WITH(Scenario_B2_all_tokens_to_one_expert_with_queues_of_1024, 16, {"ANYGIN_DEVICES=16"}) { run_load(rank, {1024, 1, 1, 8, times(150)}); }
CONFORMANCE_CASE(Scenario_B3_a_queue_of_two, 2) { run_load(rank, {2, 1, 1, 32, times(20)}); }
CONFORMANCE_CASE(Scenario_B3_a_queue_of_four, 2) { run_load(rank, {4, 1, 1, 32, times(20)}); }
CONFORMANCE_CASE(Scenario_B3_a_queue_of_eight, 2) { run_load(rank, {8, 1, 1, 32, times(20)}); }
CONFORMANCE_CASE(Scenario_B3_more_operations_than_an_index_of_16_bits, 2) { run_load(rank, {8, 1, 1, 1, times(66000)}); }
CONFORMANCE_CASE(Scenario_B5_a_window_of_128_on_each_of_129_contexts, 2) { run_load(rank, {128, in_simulation() ? 5 : 129, 1, in_simulation() ? 5 : 129, times(150)}); }
CONFORMANCE_CASE(Scenario_B5_a_window_of_2048, 2) { run_load(rank, {2048, 1, 1, 1, times(3000)}); }
CONFORMANCE_CASE(Scenario_B5_a_window_of_8192, 2) { run_load(rank, {8192, 1, 1, 1, times(9000)}); }
CONFORMANCE_CASE(Scenario_B7_as_many_producers_as_slots, 2) { run_load(rank, {2, 1, 2, 1, times(100)}); }
CONFORMANCE_CASE(Scenario_B7_twice_as_many_producers_as_slots, 2) { run_load(rank, {2, 1, 4, 1, times(100)}); }
CONFORMANCE_CASE(Scenario_B7_eight_times_as_many_producers_as_slots, 2) { run_load(rank, {2, 1, 16, 1, times(100)}); }

}  // namespace

#endif  // CONFORMANCE_SINCE_2_30

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
