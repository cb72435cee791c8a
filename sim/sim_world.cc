// SPDX-License-Identifier: Apache-2.0
#include "anygin/sim/sim_world.h"

namespace anygin::sim {

SimWorldParts::SimWorldParts(VirtualClock& clock_in, Scheduler& scheduler, SimChoices& choices_in,
                             ProgramThreads* threads, std::unique_ptr<TraceSink> trace_file, size_t heap_bytes)
    : executor(scheduler, clock_in, threads),
      trace(std::move(trace_file)),
      heap(memory, heap_bytes),
      choices(choices_in),
      clock(clock_in) {}

SimWorld::SimWorld(Ingredients in)
    : SimWorldParts(in.clock, in.scheduler, in.choices, in.threads, std::move(in.trace_file), in.heap_bytes),
      World(SimWorldParts::clock, SimWorldParts::choices, SimWorldParts::executor, SimWorldParts::trace,
            SimWorldParts::memory, SimWorldParts::heap, SimWorldParts::page),
      control_(next_engine_id()),
      fabric_(next_engine_id(), in.faults, in.checkers),
      lanes_(next_engine_id()) {
  SimWorldParts::executor.use_wake_word(SimWorldParts::page.control().wake);
  World::control = &control_;
  World::fabrics = &fabric_;
  if (in.checkers != nullptr) {
    in.checkers->set_world(*this);
    SimWorldParts::trace.add(*in.checkers);
  }
  World::executor.add(fabric_);
  World::executor.add(control_);
  World::executor.add(lanes_.scheduler());
  simt::use_lane_machine(&lanes_);
}

SimWorld::~SimWorld() {
  simt::use_lane_machine(nullptr);
  World::executor.remove(lanes_.scheduler());
  World::executor.remove(control_);
  World::executor.remove(fabric_);
}

}  // namespace anygin::sim
