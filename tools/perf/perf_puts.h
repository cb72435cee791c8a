// SPDX-License-Identifier: Apache-2.0
// Latency, rate and bandwidth of puts, values, signals and gets between two ranks: one thread of one block a rank. Rank
// 0 measures, rank 1 answers.
#pragma once

#include "perf_common.h"

namespace perf {

constexpr ncclGinSignal_t kBall = 0;

enum class Operation : int { kPut, kPutValue, kSignal, kGet };

inline const char* name_of(Operation operation) {
  constexpr const char* kNames[] = {"put+signal", "putValue+signal", "signal", "get+flush"};
  return kNames[static_cast<int>(operation)];
}

// One row of the table.
struct Row {
  Operation operation;
  uint64_t bytes;
  uint64_t turns;  // a batch
};

struct Court {
  ncclDevComm comm;
  ncclWindow_t window;
  uint64_t half;  // the window's second half is written by the peer
  uint64_t came;  // signals that came to this rank in earlier kernels
};

// Signals that come to `rank` in a kernel. A get tells nobody; the peer stays until it is told at the end.
inline uint64_t signals_of_play(const Row& row) {
  return row.operation == Operation::kGet ? 0 : row.turns * (kBatches + 1);
}
inline uint64_t signals_of_stream(const Row& row, int rank) {
  if (rank == 0) return 0;
  return row.operation == Operation::kGet ? 1 : row.turns * (kBatches + 1);
}

__device__ inline void hit(const ncclGin& gin, const Court& court, const Row& row) {
  const ncclTeam world = ncclTeamWorld(court.comm);
  const int peer = 1 - world.rank;
  switch (row.operation) {
    case Operation::kPut:
      gin.put(world, peer, court.window, court.half, court.window, 0, row.bytes, ncclGin_StrongSignalInc{kBall});
      break;
    case Operation::kPutValue:
      gin.putValue(world, peer, court.window, court.half, uint64_t{42}, ncclGin_StrongSignalInc{kBall});
      break;
    case Operation::kSignal:
      gin.signal(world, peer, ncclGin_StrongSignalInc{kBall});
      break;
    default:
      gin.get(world, peer, court.window, 0, court.window, court.half, row.bytes);
      break;
  }
}

// Latency. What signals is passed to and fro; a get is waited for. batch_ns[b]: batch b - 1; batch 0 warms up.
__global__ void play(Court court, Row row, uint64_t* batch_ns) {
  const ncclGin gin(court.comm, 0);
  const bool serves = court.comm.rank == 0;
  const bool alone = row.operation == Operation::kGet;
  if (alone && !serves) return;
  uint64_t trip = court.came;
  for (int batch = 0; batch <= kBatches; ++batch) {
    const uint64_t begin = device_ns();
    for (uint64_t turn = 0; turn < row.turns; ++turn) {
      ++trip;
      if (!serves) gin.waitSignal(ncclCoopThread{}, kBall, trip);
      hit(gin, court, row);
      if (alone) gin.flush(ncclCoopThread{});
      if (serves && !alone) gin.waitSignal(ncclCoopThread{}, kBall, trip);
    }
    batch_ns[batch] = device_ns() - begin;
  }
  gin.flush(ncclCoopThread{});
}

// Rate and bandwidth: rank 0 posts a batch in a row, then waits until the NIC is done with it; rank 1 waits for the
// last signal.
__global__ void stream(Court court, Row row, uint64_t* batch_ns) {
  const ncclGin gin(court.comm, 0);
  const bool alone = row.operation == Operation::kGet;
  if (court.comm.rank != 0) {
    gin.waitSignal(ncclCoopThread{}, kBall, court.came + (alone ? 1 : row.turns * (kBatches + 1)));
    return;
  }
  for (int batch = 0; batch <= kBatches; ++batch) {
    const uint64_t begin = device_ns();
    for (uint64_t turn = 0; turn < row.turns; ++turn) hit(gin, court, row);
    gin.flush(ncclCoopThread{});
    batch_ns[batch] = device_ns() - begin;
  }
  if (alone) gin.signal(ncclTeamWorld(court.comm), 1, ncclGin_StrongSignalInc{kBall});
  gin.flush(ncclCoopThread{});
}

class Puts {
 public:
  Puts(RankEnv& env, const Wish& wish, Report& report)
      : env_(env),
        report_(report),
        half_(std::max<size_t>(sizes_of(wish).back(), 8)),  // room for a value
        memory_(env.comm, 2 * half_),
        comm_(env.comm, requirements()),
        clock_(env) {
    court_ = {comm_.view(), memory_.window(), half_, 0};
  }

  void measure(const Row& row) {
    play<<<1, 1, 0, env_.stream>>>(court_, row, clock_.data());
    const Spread game = clock_.us_a_turn(row.turns);
    court_.came += signals_of_play(row);
    stream<<<1, 1, 0, env_.stream>>>(court_, row, clock_.data());
    const Spread posted = clock_.us_a_turn(row.turns);
    court_.came += signals_of_stream(row, env_.rank);
    if (env_.rank != 0) return;
    const double ways = row.operation == Operation::kGet ? 1 : 2;  // a turn of the game is there and back
    report_.add({name_of(row.operation),
                 1,
                 1,
                 row.bytes,
                 row.turns,
                 {{"us", {game.median / ways, game.least / ways, game.most / ways}},
                  {"Mop/s", rate_of(1, posted)},
                  {"GB/s", rate_of(static_cast<double>(row.bytes) / 1e3, posted)}}});
  }

 private:
  static ncclDevCommRequirements_t requirements() {
    ncclDevCommRequirements_t wanted = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    wanted.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
    wanted.ginSignalCount = 1;
    return wanted;
  }

  RankEnv& env_;
  Report& report_;
  const size_t half_;
  const SharedMemory memory_;
  const DeviceComm comm_;
  const BatchClock clock_;
  Court court_{};
};

inline void measure_puts(RankEnv& env, const Wish& wish, Report& report) {
  Puts puts(env, wish, report);
  puts.measure({Operation::kSignal, 0, wish.turns});
  puts.measure({Operation::kPutValue, 8, wish.turns});
  for (const Operation operation : {Operation::kPut, Operation::kGet}) {
    for (const uint64_t bytes : sizes_of(wish)) puts.measure({operation, bytes, turns_for(wish, bytes)});
  }
}

}  // namespace perf
