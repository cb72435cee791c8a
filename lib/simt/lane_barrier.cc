// SPDX-License-Identifier: Apache-2.0
// Barriers of a block. They count the lanes that have not exited: an exit may complete them.
#include <fmt/format.h>

#include <bit>

#include "anygin/base/mutant.h"
#include "anygin/simt/lane_switch.h"

namespace anygin::simt {

namespace {

void add(BarrierReduction& reduction, int predicate) {
  reduction.count += predicate != 0;
  reduction.all &= predicate != 0;
  reduction.any |= predicate != 0;
}

int result_of(const BarrierReduction& reduction) {
  switch (reduction.kind) {
    case BlockReduce::kNone:
      return 0;
    case BlockReduce::kCount:
      return reduction.count;
    case BlockReduce::kAnd:
      return reduction.all;
    case BlockReduce::kOr:
      return reduction.any;
  }
  return 0;
}

// Warps count whole: a barrier for 64 threads completes with two warps, however many of their lanes have exited.
bool complete(const Block& block, const NamedBarrier& barrier) {
  uint32_t threads = static_cast<uint32_t>(barrier.lanes.size());
  for (uint32_t warps = barrier.warps; warps != 0; warps &= warps - 1) {
    const int warp = std::countr_zero(warps);
    threads += static_cast<uint32_t>(std::popcount(block.exited[warp] | barrier.passed[static_cast<size_t>(warp)]));
  }
  return threads >= barrier.threads;
}

void release(Block& block, NamedBarrier& barrier) {
  block.push_ready(barrier.lanes.data(), static_cast<uint32_t>(barrier.lanes.size()));
  block.gathering -= static_cast<uint32_t>(barrier.lanes.size());
  barrier.lanes.clear();
  barrier.warps = 0;
  barrier.passed = {};
  block.note_release();
}

bool completes_block_barrier(const Block& block) {
  return block.arrived + 1 == block.live - (MUTANT(simt_barrier_one_early) && block.live > 1);
}

}  // namespace

void LaneRunner::release_block_barrier(Block& block) {
  if (trace_) [[unlikely]]
    trace_lane(TraceKind::kBlockBarrier, block, block.current, block.linear);
  block.release_barrier();
  ++block.barriers;
  block.reductions[block.barriers & 1] = BarrierReduction{};
  block.detours &= ~kDetourReduce;
  block.note_release();
}

__attribute__((noinline)) void LaneRunner::complete_block_barrier(Block& block) {
  release_block_barrier(block);
  pause_after_release(block);
}

__attribute__((noinline)) void LaneRunner::sync_block_by_detour(Block& block) {
  if (block.has(kDetourReduce)) {
    fail_and_exit("came to __syncthreads() while others of its block wait in __syncthreads_count/and/or()");
  }
  if (completes_block_barrier(block)) return complete_block_barrier(block);
  block.arrive_at_barrier();
  switch_away(block);
}

// A step of every lane, so this is as short as it can be: one look for all that is rare.
__attribute__((always_inline)) inline void LaneRunner::sync_block() {
  Block& block = *block_;
  if (block.detours != 0) [[unlikely]]
    return sync_block_by_detour(block);
  if (completes_block_barrier(block)) [[unlikely]]
    return complete_block_barrier(block);
  block.arrive_at_barrier();
  switch_away(block);
}

int LaneRunner::sync_block_reduce(BlockReduce reduce, int predicate) {
  Block& block = *block_;
  BarrierReduction& reduction = block.reductions[block.barriers & 1];
  if (block.arrived == 0) reduction.kind = reduce;
  if (reduction.kind != reduce) {
    fail_and_exit("came to a __syncthreads_count/and/or() while others of its block wait in another barrier");
  }
  block.detours |= kDetourReduce;
  add(reduction, predicate);
  if (completes_block_barrier(block)) {
    complete_block_barrier(block);
  } else {
    block.arrive_at_barrier();
    switch_away(block);
  }
  // Stays as it is until every lane has arrived at the next barrier.
  return result_of(reduction);
}

NamedBarrier& LaneRunner::join_named(const char* how, int id, int threads) {
  Block& block = *block_;
  const int most = static_cast<int>((block.lanes + kWarpSize - 1) / kWarpSize * kWarpSize);
  if (id < 1 || id >= NamedBarriers::kCount || threads < 1 || threads > most || threads % 32 != 0) {
    fail_lane(
        fmt::format("{} {}, {}: the barrier is 1..15, the threads a multiple of 32 up to {}", how, id, threads, most));
    exit_lane(AbortCause::kMisuse);
  }
  NamedBarrier& barrier = block.named.at(id);
  if (!barrier.used()) barrier.threads = static_cast<uint32_t>(threads);
  if (barrier.threads != static_cast<uint32_t>(threads)) {
    fail_lane(fmt::format("{} {}, {}: others came there for {} threads", how, id, threads, barrier.threads));
    exit_lane(AbortCause::kMisuse);
  }
  barrier.warps |= uint32_t{1} << (block.current / kWarpSize);
  return barrier;
}

void LaneRunner::sync_named(int id, int threads) {
  Block& block = *block_;
  NamedBarrier& barrier = join_named("bar.sync", id, threads);
  barrier.lanes.push_back(static_cast<uint16_t>(block.current));
  ++block.gathering;
  if (complete(block, barrier)) {
    barrier.lanes.pop_back();
    --block.gathering;
    return release(block, barrier);
  }
  switch_away(block);
}

void LaneRunner::arrive_named(int id, int threads) {
  Block& block = *block_;
  NamedBarrier& barrier = join_named("bar.arrive", id, threads);
  const uint32_t lane = uint32_t{1} << (block.current % kWarpSize);
  uint32_t& passed = barrier.passed[block.current / kWarpSize];
  if ((passed & lane) != 0) {
    fail_lane(
        fmt::format("bar.arrive {}, {}: this lane came there twice, and the others did not come yet", id, threads));
    exit_lane(AbortCause::kMisuse);
  }
  passed |= lane;
  if (complete(block, barrier)) release(block, barrier);
}

void NamedBarriers::release_complete(Block& block) {
  for (NamedBarrier& barrier : barriers_) {
    if (!barrier.lanes.empty() && complete(block, barrier)) release(block, barrier);
  }
}

void NamedBarriers::clear() {
  for (NamedBarrier& barrier : barriers_) {
    barrier.lanes.clear();
    barrier.warps = 0;
    barrier.passed = {};
  }
}

extern "C" void anygin_syncthreads() {
  runner_of_caller("__syncthreads()").sync_block();
}
extern "C" int anygin_syncthreads_reduce(BlockReduce reduce, int predicate) {
  return runner_of_caller("__syncthreads_count/and/or()").sync_block_reduce(reduce, predicate);
}
extern "C" void anygin_named_barrier(int id, int threads) {
  runner_of_caller("bar.sync").sync_named(id, threads);
}
void arrive_at_named_barrier(int id, int threads) {
  runner_of_caller("bar.arrive").arrive_named(id, threads);
}

}  // namespace anygin::simt
