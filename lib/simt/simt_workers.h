// SPDX-License-Identifier: Apache-2.0
// The worker threads of production: each loops over one scheduler, polls engines between blocks and when idle, spins
// kIdleSpinNs without progress, then sleeps on the executor's wake word.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "anygin/base/world.h"
#include "anygin/simt/lane_machine.h"

namespace anygin::simt {

class SimtWorkers final : public LaneMachine {
 public:
  static constexpr size_t kStackBudget = 160 * 1024;  // of all workers; where there are few of them
  // However many workers: a full block of each of 64 devices must find room on one of them.
  static constexpr size_t kStacksAtLeast = 64 * 1024;
  static constexpr uint64_t kIdleSpinNs = 20'000;
  // While lanes spin in raw loops, only polling them tells whether they got further.
  static constexpr uint64_t kLaneSpinNs = 100'000'000;
  // Passes over lanes that spin take about so long, and so long when the worker sleeps between them.
  static constexpr uint64_t kSpinPassNs = 8'000;
  static constexpr uint64_t kSleepySpinPassNs = 20'000;
  // Between two offers of the processor to other threads while lanes spin: where it is taken, it is gone for long.
  static constexpr uint64_t kSpinYieldNs = 20'000;
  // While lanes wait, a store may come that nobody rings for: look again after this long ...
  static constexpr uint64_t kBackstopNs = 1'000'000;
  // ... or this long, while other workers run lanes or own lanes spin.
  static constexpr uint64_t kBusyBackstopNs = 100'000;

  explicit SimtWorkers(size_t workers);

  void place(Grid& grid) override;
  const std::vector<LaneScheduler*>& schedulers() const override { return schedulers_; }
  // The process exits: workers stop between blocks. Waits for them, but not for long.
  void stop();

 private:
  void ring_workers();
  void work(LaneScheduler& scheduler);
  bool turn(LaneScheduler& scheduler, bool patient, uint64_t& engines_seen);
  void sleep(LaneScheduler& scheduler, uint64_t& engines_seen);

  // The one they started in. They outlive a test's world: a worker that looked at one could sleep for ever on its word.
  World& world_;
  std::vector<std::unique_ptr<LaneScheduler>> owned_;
  std::vector<LaneScheduler*> schedulers_;
  WakeWord idle_word_;  // workers without any block sleep on it: nothing but a new grid concerns them
  std::atomic<bool> stopping_{false};
  std::atomic<size_t> running_{0};  // threads that have not stopped
  std::atomic<size_t> awake_{0};    // and of them, those that do not sleep
};

}  // namespace anygin::simt
