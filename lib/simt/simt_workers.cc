// SPDX-License-Identifier: Apache-2.0
#include "anygin/simt/simt_workers.h"

#include <algorithm>
#include <cstdlib>
#include <thread>
#include <utility>

#include "anygin/base/env_real.h"
#include "anygin/base/options.h"
#include "anygin/base/world.h"
#include "anygin/simt/host_share.h"

namespace anygin::simt {

SimtWorkers::SimtWorkers(size_t workers) : world_(world()) {
  const size_t stacks = std::max(kStackBudget / workers, kStacksAtLeast);
  for (size_t worker = 0; worker < workers; ++worker) {
    owned_.push_back(std::make_unique<LaneScheduler>(
        SchedulerShape{world_.next_engine_id(), worker, workers, stacks, LaneOrder::kForward}));
    schedulers_.push_back(owned_.back().get());
  }
  running_ = awake_ = workers;
  // Detached: a process that exits while lanes wait does not wait for them.
  for (LaneScheduler* scheduler : schedulers_) std::thread([this, scheduler] { work(*scheduler); }).detach();
}

void SimtWorkers::place(Grid& grid) {
  // The grid lives until every worker with a share has run it: ask nothing of it once the last one has its own.
  const size_t workers = schedulers_.size();
  const size_t shares = std::min<uint64_t>(workers, grid.blocks);
  const size_t first = worker_of_block(grid, 0, workers);
  for (size_t share = 0; share < shares; ++share) schedulers_[(first + share) % workers]->place(grid);
  ring_workers();
}

void SimtWorkers::ring_workers() {
  ring(world_.executor.wake_word());
  ring(idle_word_);
}

void SimtWorkers::work(LaneScheduler& scheduler) {
  uint64_t idle_since_ns = 0, idle_ns = 0, engines_seen = 0, yielded_ns = 0;
  while (!stopping_.load(std::memory_order_relaxed)) {
    const uint64_t begin_ns = scheduler.spinning() ? monotonic_ns() : 0;
    if (turn(scheduler, idle_ns >= kIdleSpinNs, engines_seen)) {
      idle_since_ns = idle_ns = 0;
      scheduler.spin_briefly();
      continue;
    }
    const uint64_t now_ns = monotonic_ns();
    if (begin_ns != 0) scheduler.pace_spins(now_ns - begin_ns, idle_ns < kLaneSpinNs ? kSpinPassNs : kSleepySpinPassNs);
    if (idle_since_ns == 0) idle_since_ns = now_ns;
    idle_ns = now_ns - idle_since_ns;
    if (idle_ns < kIdleSpinNs) {
      pause_cpu();
    } else if (scheduler.spinning() && idle_ns < kLaneSpinNs) {
      if (now_ns - yielded_ns < kSpinYieldNs) continue;
      yield_thread();
      yielded_ns = monotonic_ns();
    } else {
      sleep(scheduler, engines_seen);
    }
  }
  running_.fetch_sub(1);
}

// One pass over everything. True if lanes or engines got further, or a block was admitted because nothing did. A lane
// in a loop of its own may be computing as well as spinning: then only a `patient` worker takes it for a stall.
// `engines_seen`: the engines' progress when this worker last considered to admit one.
bool SimtWorkers::turn(LaneScheduler& scheduler, bool patient, uint64_t& engines_seen) {
  Executor& executor = world_.executor;
  if (scheduler.pass(executor) || executor.poll_nearby()) return true;
  if (!scheduler.pending() || (scheduler.spinning() && !patient)) return false;
  const uint64_t engines_before = std::exchange(engines_seen, executor.progress());
  if (engines_seen != engines_before) return true;
  return scheduler.admit_on_stall();
}

void SimtWorkers::sleep(LaneScheduler& scheduler, uint64_t& engines_seen) {
  WakeWord& word = world_.executor.wake_word();
  const uint32_t seen = word.value.load(), idle_seen = idle_word_.value.load();
  if (turn(scheduler, true, engines_seen)) return;
  uint64_t limit_ns = kNever;
  if (!scheduler.idle()) {
    const bool others = awake_.load(std::memory_order_relaxed) > 1;
    limit_ns = others || scheduler.spinning() ? kBusyBackstopNs : kBackstopNs;
    const Time deadline = scheduler.earliest_deadline();
    if (deadline != kNever) {
      const Time now = world_.clock.now();
      limit_ns = std::min(limit_ns, deadline > now ? (deadline - now) / kNanosecond + 1 : 0);
    }
  }
  awake_.fetch_sub(1, std::memory_order_relaxed);
  if (scheduler.idle()) {
    sleep_on(idle_word_, idle_seen, kNever);
  } else if (limit_ns > 0) {
    sleep_on(word, seen, limit_ns);
  }
  awake_.fetch_add(1, std::memory_order_relaxed);
}

void SimtWorkers::stop() {
  constexpr uint64_t kPatienceNs = 20'000'000;
  stopping_ = true;
  ring_workers();
  const uint64_t begin_ns = monotonic_ns();
  while (running_.load() != 0 && monotonic_ns() - begin_ns < kPatienceNs) yield_thread();
}

namespace {

std::atomic<LaneMachine*> replacement{nullptr};

SimtWorkers& started_workers() {
  static SimtWorkers& workers = []() -> SimtWorkers& {
    const int wanted = options().workers;
    auto* started =
        new SimtWorkers(static_cast<size_t>(wanted > 0 ? wanted : std::max(1, cpu_count() / processes_of_host())));
    std::atexit([] { started_workers().stop(); });
    return *started;
  }();
  return workers;
}

}  // namespace

LaneMachine& lane_machine() {
  (void)world();  // it may bring a machine of its own
  if (LaneMachine* other = replacement.load(std::memory_order_acquire)) return *other;
  return started_workers();
}

void use_lane_machine(LaneMachine* machine) {
  replacement.store(machine, std::memory_order_release);
}

}  // namespace anygin::simt
