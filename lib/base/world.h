// SPDX-License-Identifier: Apache-2.0
// The outside world is a parameter: real time here, the simulator's when ANYGIN_WORLD names its library.
// Nowhere in the code stands "are we simulated?".
#pragma once

#include "anygin/base/choices.h"
#include "anygin/base/executor.h"
#include "anygin/base/heap.h"
#include "anygin/base/memory_map.h"
#include "anygin/base/process_page.h"
#include "anygin/base/time.h"
#include "anygin/base/trace.h"

namespace anygin {

namespace emulated {
class FabricProvider;
}
namespace comm {
class ControlCarrier;
}

// What takes time in the simulator; free in the real world.
enum class Step : uint8_t { kPost, kDecode, kSourceRead, kDeliver, kComplete, kPoll };

class World {
 public:
  World(Clock& clock_in, ChoiceSource& choices_in, Executor& executor_in, TraceSink& trace_in, MemoryMap& memory_in,
        DeviceHeap& heap_in, ProcessPage& page_in)
      : clock(clock_in),
        choices(choices_in),
        executor(executor_in),
        trace(trace_in),
        memory(memory_in),
        heap(heap_in),
        page(page_in) {}
  virtual ~World() = default;

  Clock& clock;
  ChoiceSource& choices;
  Executor& executor;
  TraceSink& trace;
  MemoryMap& memory;
  DeviceHeap& heap;
  ProcessPage& page;
  emulated::FabricProvider* fabrics = nullptr;  // null: the fabrics of backends/emulated
  comm::ControlCarrier* control = nullptr;      // null: the sockets of lib/comm

  virtual void charge(Step step, uint64_t bytes) { (void)step, (void)bytes; }
  // Fresh ids, unique in this world. Any thread.
  virtual EngineId next_engine_id() = 0;
};

// Resolved once: the real world, or the one of the library that ANYGIN_WORLD names.
World& world();
// Tests put a world of their own in place; null restores the resolved one. Not while engines run.
void set_world_for_test(World* replacement);

}  // namespace anygin
