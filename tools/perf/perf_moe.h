// SPDX-License-Identifier: Apache-2.0
// A layer of a mixture of experts, tokens a second: routed by kernels that put, and by the host, which reads the
// choices, plans, exchanges counts and queues sends and receives. Same tokens, same table, same results.
#pragma once

#include <ctime>

#include "../../examples/moe_layer.h"
#include "perf_common.h"

namespace perf {

// Rows of the tokens where the host's plan wants them.
__global__ void pack_rows(moe::Layer layer, uint64_t step) {
  const size_t numbers = layer.court.tokens * moe::kTop * moe::kHidden;
  for (size_t at = blockIdx.x * blockDim.x + threadIdx.x; at < numbers;
       at += static_cast<size_t>(gridDim.x) * blockDim.x) {
    const size_t row = at / moe::kHidden, i = at % moe::kHidden, token = row / moe::kTop;
    const int expert = layer.choices[token].expert[row % moe::kTop];
    moe::row_at(layer, layer.court.outbox(expert), static_cast<size_t>(layer.places[row]))[i] =
        layer.tokens[token * moe::kHidden + i] + static_cast<float>(step);
  }
}

// A block for the rows of a rank for an expert; counts[expert here][rank].
__global__ void work_on_rows(moe::Layer layer, int first_expert, const uint64_t* counts) {
  const int expert = first_expert + static_cast<int>(blockIdx.x) / layer.court.ranks;
  const int from = static_cast<int>(blockIdx.x) % layer.court.ranks;
  float* const numbers = moe::row_at(layer, layer.court.inbox(expert, from), 0);
  for (size_t i = threadIdx.x; i < counts[blockIdx.x] * moe::kHidden; i += blockDim.x)
    numbers[i] = moe::work_of(expert, numbers[i]);
}

// What a rank needs for the layer, however it is routed.
class MoeBench {
 public:
  MoeBench(RankEnv& env, const std::vector<moe::Choice>& table, size_t tokens)
      : env_(env),
        court_{env.ranks, tokens / static_cast<size_t>(env.ranks)},
        first_(static_cast<size_t>(env.rank) * court_.tokens),
        mine_(share_of(table)),
        memory_(env.comm, court_.bytes()),
        comm_(env.comm, requirements()),
        tokens_(env, numbers()),
        choices_(env, mine_),
        places_(env, court_.tokens * moe::kTop),
        out_(env, court_.tokens * moe::kHidden),
        counts_out_(env, moe::kExperts),
        counts_in_(env, moe::kExperts),
        counts_by_rank_(env, moe::kExperts),
        layer_{comm_.view(), memory_.window(), court_, tokens_.data(), choices_.data(), places_.data(), out_.data()} {}

  void step_by_kernels(uint64_t step) {
    moe::dispatch<<<moe::kExperts, moe::kThreads, 0, env_.stream>>>(layer_, step);
    moe::combine<<<kBlocks, moe::kThreads, 0, env_.stream>>>(layer_);
  }

  void step_by_host(uint64_t step) {
    const std::vector<uint64_t> going = plan();
    const std::vector<uint64_t> coming = exchange_counts();
    pack_rows<<<kBlocks, moe::kThreads, 0, env_.stream>>>(layer_, step);
    move_rows(going, coming, true);
    const int here = court_.experts_here();
    work_on_rows<<<static_cast<unsigned>(here * env_.ranks), moe::kThreads, 0, env_.stream>>>(layer_, env_.rank * here,
                                                                                              counts_in_.data());
    move_rows(going, coming, false);
    moe::combine<<<kBlocks, moe::kThreads, 0, env_.stream>>>(layer_);
  }

  void check(uint64_t step, const char* what) const {
    const std::vector<float> got = out_.on_host();
    int wrong = 0;
    for (size_t at = 0; at < got.size(); ++at) {
      const size_t token = at / moe::kHidden;
      wrong += got[at] != moe::reference(mine_[token], first_ + token, static_cast<int>(at % moe::kHidden), step);
    }
    demand_right(env_, what, wrong);
  }

  size_t tokens_here() const { return court_.tokens; }

 private:
  static constexpr unsigned kBlocks = 4;

  static ncclDevCommRequirements_t requirements() {
    ncclDevCommRequirements_t wanted = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
    wanted.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
    wanted.ginContextCount = moe::kExperts;
    wanted.ginSignalCount = moe::kSignals;
    return wanted;
  }
  std::vector<moe::Choice> share_of(const std::vector<moe::Choice>& table) const {
    std::vector<moe::Choice> mine;
    for (size_t token = first_; token < first_ + court_.tokens; ++token) mine.push_back(table[token % table.size()]);
    return mine;
  }
  std::vector<float> numbers() const {
    std::vector<float> values;
    for (size_t token = first_; token < first_ + court_.tokens; ++token) {
      for (int i = 0; i < moe::kHidden; ++i) values.push_back(moe::token_value(token, i));
    }
    return values;
  }

  // Rows for each expert. The choices are where the router left them, on the device.
  std::vector<uint64_t> plan() {
    const std::vector<moe::Choice> choices = choices_.on_host();
    std::vector<uint64_t> rows(moe::kExperts);
    std::vector<int> places;
    for (const moe::Choice& choice : choices) {
      for (const int expert : choice.expert) places.push_back(static_cast<int>(rows[static_cast<size_t>(expert)]++));
    }
    places_.copy_from(places);
    counts_out_.copy_from(rows);
    return rows;
  }
  // Rows that come for each expert here from each rank.
  std::vector<uint64_t> exchange_counts() {
    const auto here = static_cast<size_t>(court_.experts_here());
    CHECK_NCCL(ncclGroupStart());
    for (int peer = 0; peer < env_.ranks; ++peer) {
      const size_t at = static_cast<size_t>(peer) * here;
      CHECK_NCCL(ncclSend(counts_out_.data() + at, here, ncclUint64, peer, env_.comm, env_.stream));
      CHECK_NCCL(ncclRecv(counts_by_rank_.data() + at, here, ncclUint64, peer, env_.comm, env_.stream));
    }
    CHECK_NCCL(ncclGroupEnd());
    const std::vector<uint64_t> came = counts_by_rank_.on_host();
    std::vector<uint64_t> by_expert(came.size());
    for (size_t i = 0; i < came.size(); ++i) by_expert[i % here * static_cast<size_t>(env_.ranks) + i / here] = came[i];
    counts_in_.copy_from(by_expert);
    return by_expert;
  }
  // To the experts, or back from them.
  void move_rows(const std::vector<uint64_t>& going, const std::vector<uint64_t>& coming, bool out) {
    const int here = court_.experts_here();
    CHECK_NCCL(ncclGroupStart());
    for (int expert = 0; expert < moe::kExperts; ++expert) {
      const size_t rows = going[static_cast<size_t>(expert)];
      if (rows > 0) move(out ? court_.outbox(expert) : court_.back(expert), rows, court_.home_of(expert), out);
    }
    for (int i = 0; i < here * env_.ranks; ++i) {
      const int expert = env_.rank * here + i / env_.ranks, peer = i % env_.ranks;
      if (coming[static_cast<size_t>(i)] > 0)
        move(court_.inbox(expert, peer), coming[static_cast<size_t>(i)], peer, !out);
    }
    CHECK_NCCL(ncclGroupEnd());
  }
  void move(size_t offset, size_t rows, int peer, bool sends) {
    char* const place = static_cast<char*>(memory_.data()) + offset;
    CHECK_NCCL(sends ? ncclSend(place, rows * moe::kHidden, ncclFloat32, peer, env_.comm, env_.stream)
                     : ncclRecv(place, rows * moe::kHidden, ncclFloat32, peer, env_.comm, env_.stream));
  }

  RankEnv& env_;
  const moe::Court court_;
  const size_t first_;  // token of this rank
  const std::vector<moe::Choice> mine_;
  const SharedMemory memory_;
  const DeviceComm comm_;
  const DeviceArray<float> tokens_;
  const DeviceArray<moe::Choice> choices_;
  DeviceArray<int> places_;
  const DeviceArray<float> out_;
  DeviceArray<uint64_t> counts_out_;            // [expert]
  DeviceArray<uint64_t> counts_in_;             // [expert here][rank]
  const DeviceArray<uint64_t> counts_by_rank_;  // [rank][expert here]
  const moe::Layer layer_;
};

inline double cpu_us(clockid_t which) {
  timespec now{};
  clock_gettime(which, &now);
  return 1e6 * static_cast<double>(now.tv_sec) + 1e-3 * static_cast<double>(now.tv_nsec);
}

// CPU time of this process and of the calling thread, a run.
class CpuClock {
 public:
  void begin() {
    process_ = cpu_us(CLOCK_PROCESS_CPUTIME_ID);
    thread_ = cpu_us(CLOCK_THREAD_CPUTIME_ID);
  }
  void end() {
    of_process_.push_back(cpu_us(CLOCK_PROCESS_CPUTIME_ID) - process_);
    of_thread_.push_back(cpu_us(CLOCK_THREAD_CPUTIME_ID) - thread_);
  }
  static Spread each(const std::vector<double>& runs, double tokens) {
    std::vector<double> values;
    for (size_t i = 1; i < runs.size(); ++i) values.push_back(runs[i] / tokens);  // the first warmed up
    return spread_of(values);
  }
  const std::vector<double>& of_process() const { return of_process_; }
  const std::vector<double>& of_thread() const { return of_thread_; }

 private:
  double process_ = 0, thread_ = 0;
  std::vector<double> of_process_, of_thread_;
};

using MoeStep = void (MoeBench::*)(uint64_t step);

inline void measure_moe_by(RankEnv& env, MoeBench& bench, const char* name, MoeStep run, uint64_t turns,
                           Report& report) {
  HostClock clock(env);
  CpuClock cpu;
  uint64_t step = 0;
  for (int batch = 0; batch <= kHostBatches; ++batch) {
    cpu.begin();
    clock.begin();
    for (uint64_t turn = 0; turn < turns; ++turn) (bench.*run)(step++);
    CHECK_CUDA(cudaGetLastError());
    clock.end();
    cpu.end();
    bench.check(step - 1, name);
  }
  if (env.rank != 0) return;
  const Spread us = clock.us_a_turn(turns);
  const auto here = static_cast<double>(bench.tokens_here()), all = here * env.ranks;
  const double in_process = find_place().ranks > 0 ? here : all;  // a process a rank, or one for all
  report.add({name,
              moe::kThreads,
              moe::kExperts,
              moe::kRowBytes,
              turns,
              {{"us", us},
               {"Mtoken/s", rate_of(all, us)},
               {"CPU us/token", CpuClock::each(cpu.of_process(), in_process * static_cast<double>(turns))},
               {"host us/token", CpuClock::each(cpu.of_thread(), here * static_cast<double>(turns))}}});
}

inline void measure_moe(RankEnv& env, const Wish& wish, Report& report) {
  const std::vector<moe::Choice> table = moe::read_table(wish.table.c_str());
  MoeBench bench(env, table, wish.tokens);
  const uint64_t turns = std::max<uint64_t>(1, wish.turns / 100);
  measure_moe_by(env, bench, "kernels route", &MoeBench::step_by_kernels, turns, report);
  if (has_host_sends(env)) measure_moe_by(env, bench, "host routes", &MoeBench::step_by_host, turns, report);
}

}  // namespace perf
