// SPDX-License-Identifier: Apache-2.0
// A World for tests: virtual clock, choices from a seed, engines stepped only when told, the trace kept in memory.
// While it lives it is world().
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <memory>

#include "anygin/base/choices_seeded.h"
#include "anygin/base/trace_file.h"
#include "anygin/base/world.h"
#include "support/local_bootstrap.h"
#include "support/test_executor.h"
#include "support/virtual_time.h"

namespace anygin::testing {

struct TestWorldParts {
  explicit TestWorldParts(uint64_t seed) : choices(seed) {}

  static constexpr size_t kHeapBytes = size_t{1} << 30;  // sparse

  VirtualClock clock;
  SeededChoices choices;
  TestExecutor executor{clock};
  TraceRecorder trace{clock};
  MemoryMap memory;
  DeviceHeap heap{memory, kHeapBytes};
  ProcessPage page;
};

// One at a time.
class TestWorld final : public World {
 public:
  explicit TestWorld(uint64_t seed = 1);
  ~TestWorld() override;

  EngineId next_engine_id() override { return EngineId(last_engine_id_.fetch_add(1) + 1); }

  // The parts as what they are: test_executor().step_once(), recorder().events().
  VirtualClock& virtual_clock() { return parts_->clock; }
  TestExecutor& test_executor() { return parts_->executor; }
  TraceRecorder& recorder() { return parts_->trace; }

  bool step_once() { return parts_->executor.step_once(); }
  bool run_until(const std::function<bool()>& condition, size_t budget = 100'000) {
    return parts_->executor.run_until(condition, budget);
  }

 private:
  explicit TestWorld(std::unique_ptr<TestWorldParts> parts);

  std::unique_ptr<TestWorldParts> parts_;
  std::atomic<uint32_t> last_engine_id_{0};
};

// TEST_F(WorldFixture, ...): a fresh TestWorld a case.
class WorldFixture : public ::testing::Test {
 protected:
  TestWorld world_;
};

}  // namespace anygin::testing
