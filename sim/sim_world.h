// SPDX-License-Identifier: Apache-2.0
// The simulated world: virtual time, choices from a strategy or a trace, one action at a time. Everything else of
// libanygin runs in it unchanged. With program threads it is the world of a program under `anygin check`; without, of a
// test that drives it itself.
#pragma once

#include <memory>
#include <string>

#include "anygin/base/options.h"
#include "anygin/base/world.h"
#include "anygin/sim/promise_checkers.h"
#include "anygin/sim/run_result.h"
#include "anygin/sim/sim_control.h"
#include "anygin/sim/sim_executor.h"
#include "anygin/sim/sim_fabric.h"
#include "anygin/sim/sim_trace.h"
#include "anygin/simt/lane_machine.h"

namespace anygin::sim {

// One scheduler for all lanes of the process, driven as an engine.
class SimLanes final : public simt::LaneMachine {
 public:
  static constexpr size_t kStacks = 160 * 1024;
  // Blocks of more lanes mostly move as a whole: each lane by itself would cost too much time in kernels of many
  // threads.
  static constexpr uint32_t kSingleLanes = 32;
  static constexpr uint32_t kWholeBlocks = 7;  // of eight

  explicit SimLanes(EngineId id)
      : scheduler_({id, 0, 1, kStacks, simt::LaneOrder::kForward, kSingleLanes, kWholeBlocks}),
        schedulers_{&scheduler_} {}
  void place(simt::Grid& grid) override { scheduler_.place(grid); }
  const std::vector<simt::LaneScheduler*>& schedulers() const override { return schedulers_; }
  simt::LaneScheduler& scheduler() { return scheduler_; }

 private:
  simt::LaneScheduler scheduler_;
  std::vector<simt::LaneScheduler*> schedulers_;
};

struct SimWorldParts {
  SimWorldParts(VirtualClock& clock, Scheduler& scheduler, SimChoices& choices, ProgramThreads* threads,
                std::unique_ptr<TraceSink> trace_file, size_t heap_bytes);

  SimExecutor executor;
  SimTrace trace;
  MemoryMap memory;
  DeviceHeap heap;
  ProcessPage page;
  SimChoices& choices;
  VirtualClock& clock;
};

class SimWorld final : private SimWorldParts, public World {
 public:
  // All outlive it. `threads` may be null.
  struct Ingredients {
    VirtualClock& clock;
    Scheduler& scheduler;
    SimChoices& choices;
    ProgramThreads* threads = nullptr;
    FaultPlan& faults;
    PromiseCheckers* checkers = nullptr;  // null: promises are not checked
    std::unique_ptr<TraceSink> trace_file{};
    size_t heap_bytes = size_t{1} << 32;  // sparse
  };
  explicit SimWorld(Ingredients ingredients);
  ~SimWorld() override;

  using World::executor;
  using World::heap;
  using World::memory;
  using World::trace;
  EngineId next_engine_id() override { return EngineId(++last_engine_id_); }
  // A rank is lost: the others hear that its connections ended, and nothing goes to or from it.
  bool lose(Rank rank) {
    const bool known = control_.lose(rank);
    fabric_.lose(rank);
    return known;
  }
  SimTrace& sim_trace() { return SimWorldParts::trace; }

 private:
  uint32_t last_engine_id_ = 0;
  SimControl control_;
  SimFabric fabric_;
  SimLanes lanes_;
};

}  // namespace anygin::sim
