// SPDX-License-Identifier: Apache-2.0
// The real world, and which world it is. Never destroyed: threads of the program may use it while the process exits.
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "anygin/base/choices_seeded.h"
#include "anygin/base/env_real.h"
#include "anygin/base/options.h"
#include "anygin/base/thread_executor.h"
#include "anygin/base/trace_file.h"
#include "anygin/base/world.h"

namespace anygin {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  std::fprintf(stderr, "anygin: %s\n", why.c_str());
  std::exit(3);
}

std::unique_ptr<TraceSink> open_trace(Clock& clock) {
  if (options().trace_file.empty()) return std::make_unique<NullTrace>();
  Result<std::unique_ptr<TraceFile>> file = TraceFile::open(options().trace_file, clock);
  if (!file.ok()) refuse(file.status().message());
  return std::move(*file);
}

ThreadExecutor::Helping helping() {
  using Helping = ThreadExecutor::Helping;
  return kernel_side().calls_us() ? Helping::kWhenLeftAlone : Helping::kAlways;
}

// In the order they are built.
struct RealParts {
  RealClock clock;
  SeededChoices choices{options().seed};
  std::unique_ptr<TraceSink> trace = open_trace(clock);
  MemoryMap memory;
  DeviceHeap heap{memory, physical_memory_bytes()};
  ProcessPage page;
  ThreadExecutor executor{clock, options().engine_threads, helping()};
};

class RealWorld final : private RealParts, public World {
 public:
  RealWorld()
      : World(RealParts::clock, RealParts::choices, RealParts::executor, *RealParts::trace, RealParts::memory,
              RealParts::heap, RealParts::page) {
    RealParts::executor.use_wake_word(RealParts::page.control().wake);
  }
  EngineId next_engine_id() override { return EngineId(last_engine_id_.fetch_add(1) + 1); }

 private:
  std::atomic<uint32_t> last_engine_id_{0};
};

World* load_world(const std::string& path) {
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (!library) refuse("ANYGIN_WORLD: " + std::string(dlerror()));
  using Create = World*();
  auto* create = reinterpret_cast<Create*>(dlsym(library, "anygin_create_world"));
  if (!create) refuse("ANYGIN_WORLD: '" + path + "' is no world: it does not define anygin_create_world");
  World* created = create();
  if (!created) refuse("ANYGIN_WORLD: '" + path + "' made no world");
  return created;
}

World& resolved_world() {
  static World* const resolved = options().world.empty() ? new RealWorld : load_world(options().world);
  return *resolved;
}

std::atomic<World*> world_for_test{nullptr};

}  // namespace

World& world() {
  World* replacement = world_for_test.load(std::memory_order_acquire);
  return replacement ? *replacement : resolved_world();
}

void set_world_for_test(World* replacement) {
  world_for_test.store(replacement, std::memory_order_release);
}

}  // namespace anygin
