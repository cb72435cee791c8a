// SPDX-License-Identifier: Apache-2.0
// The events of the SIMT engine: what stands in a trace of a kernel, exactly.
#include <algorithm>
#include <string>
#include <vector>

#include "anygin/base/trace_file.h"
#include "anygin/simt/stream.h"
#include "unit/simt_kernels.h"

namespace anygin::simt {
namespace {

// The world as it is, but for its trace.
class TracedWorld final : public World {
 public:
  explicit TracedWorld(World& real)
      : World(real.clock, real.choices, real.executor, recorder_, real.memory, real.heap, real.page),
        real_(real),
        recorder_(real.clock) {
    set_world_for_test(this);
  }
  ~TracedWorld() override { set_world_for_test(nullptr); }
  EngineId next_engine_id() override { return real_.next_engine_id(); }
  TraceRecorder& recorder() { return recorder_; }

 private:
  World& real_;
  TraceRecorder recorder_;
};

class SimtTrace : public SimtTest {
 protected:
  SimtTrace() : traced_(world()) {}
  std::vector<TraceEvent> events(TraceKind kind) { return traced_.recorder().events_of(kind); }
  // "kind lane value" of each event, the grid's first; events of one lane in order, lanes one after the other.
  std::vector<std::string> by_lane() {
    std::vector<TraceEvent> all;
    for (const auto& stamped : traced_.recorder().events()) all.push_back(stamped.event);
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.lane < b.lane; });
    std::vector<std::string> lines;
    for (const TraceEvent& event : all) {
      lines.push_back(std::string(name_of(event.kind)) + " " + std::to_string(event.lane) + " " +
                      std::to_string(event.value));
    }
    return lines;
  }

  TracedWorld traced_;
};

TEST_F(SimtTrace, AKernelIsItsLaunchItsLanesAndTheirBarriers) {
  ASSERT_EQ(0, set_current_device(2));
  ASSERT_EQ(0, run(blocks_of(2, 2), [] { anygin_syncthreads(); }));
  const std::vector<TraceEvent> launches = events(TraceKind::kLaunch);
  ASSERT_EQ(1u, launches.size());
  EXPECT_EQ(2u, launches[0].context);  // the device
  EXPECT_EQ(2u, launches[0].value);    // blocks
  EXPECT_GE(launches[0].grid, 1u);
  for (const auto& stamped : traced_.recorder().events()) {
    EXPECT_EQ(launches[0].grid, stamped.event.grid) << name_of(stamped.event.kind);
    EXPECT_EQ(2u, stamped.event.context) << name_of(stamped.event.kind);
  }
  EXPECT_EQ(by_lane(),
            (std::vector<std::string>{"launch 0 2", "lane_start 0 0", "lane_exit 0 0", "lane_start 1 0",
                                      "block_barrier 1 0", "lane_exit 1 0", "lane_start 2 1", "lane_exit 2 0",
                                      "lane_start 3 1", "block_barrier 3 1", "lane_exit 3 0"}));
}

TEST_F(SimtTrace, AWaitSaysWhatItWantsWhereAndWhatItSaw) {
  Result<char*> allocated = world().heap.allocate(64, 0);
  ASSERT_TRUE(allocated.ok()) << allocated.status().message();
  auto* cell = reinterpret_cast<uint64_t*>(*allocated + 8);
  __atomic_store_n(cell, 40, __ATOMIC_RELEASE);
  const char site = 0;
  const char* from = &site;
  ASSERT_EQ(0, launch_callable(blocks_of(1, 3), [=] {
              if (anygin_thread_idx.x != 1) return;
              WaitReason reason{WaitKind::kSignal, 5, 6, 7, 9};
              reason.cell = cell;
              reason.offset = 30;
              reason.want = 12;
              reason.call_site = from;
              wait_until([=] { return __atomic_load_n(cell, __ATOMIC_ACQUIRE) >= 42; }, nullptr, reason);
            }));
  EXPECT_TRUE(eventually([&] { return !events(TraceKind::kWaitBegin).empty(); })) << "the lane to begin its wait";
  EXPECT_TRUE(events(TraceKind::kWaitEnd).empty());
  __atomic_store_n(cell, 43, __ATOMIC_RELEASE);
  ASSERT_EQ(0, synchronize_stream(resolve_stream(nullptr)));
  for (const auto& [kind, value] : {std::pair{TraceKind::kWaitBegin, 12u}, std::pair{TraceKind::kWaitEnd, 13u}}) {
    const std::vector<TraceEvent> found = events(kind);
    ASSERT_EQ(1u, found.size()) << name_of(kind);
    EXPECT_EQ(1u, found[0].lane);
    EXPECT_EQ(5, found[0].rank);
    EXPECT_EQ(6, found[0].peer);
    EXPECT_EQ(7u, found[0].context);
    EXPECT_EQ(9u, found[0].bytes);
    EXPECT_EQ(static_cast<uint64_t>(WaitKind::kSignal), found[0].operation);
    EXPECT_EQ(world().memory.name_of(cell), found[0].at);
    EXPECT_EQ(value, found[0].value) << name_of(kind);
    EXPECT_EQ(from, found[0].call_site);
  }
  EXPECT_EQ(by_lane(), (std::vector<std::string>{"launch 0 1", "lane_start 0 0", "lane_exit 0 0", "lane_start 1 0",
                                                 "wait_begin 1 12", "wait_end 1 13", "lane_exit 1 0", "lane_start 2 0",
                                                 "lane_exit 2 0"}));
  EXPECT_TRUE(world().heap.free(*allocated).ok());
}

TEST_F(SimtTrace, LanesThatLeaveSayWhy) {
  uint32_t abort_word = static_cast<uint32_t>(AbortCause::kPeerDied), never = 0;
  const uint32_t* abort = &abort_word;
  const uint32_t* word = &never;
  testing::internal::CaptureStderr();
  EXPECT_EQ(kCudaLaunchFailure, run(blocks_of(1, 3), [=] {
              if (anygin_thread_idx.x == 0) anygin_lane_exit();
              if (anygin_thread_idx.x == 1) wait_at_least(word, 1, abort);
              anygin_syncthreads();
            }));
  testing::internal::GetCapturedStderr();
  const std::string died = std::to_string(static_cast<int>(AbortCause::kPeerDied));
  EXPECT_EQ(by_lane(), (std::vector<std::string>{"launch 0 1", "lane_start 0 0", "lane_exit 0 0", "lane_start 1 0",
                                                 "wait_begin 1 0", "lane_exit 1 " + died, "lane_start 2 0",
                                                 "lane_exit 2 " + died}));
}

TEST_F(SimtTrace, ATrapIsAMisuseAndEndsTheOthersOfItsGrid) {
  testing::internal::CaptureStderr();
  EXPECT_EQ(kCudaLaunchFailure, run(blocks_of(1, 2), [] {
              if (anygin_thread_idx.x == 1) anygin_trap("for the test");
              anygin_syncthreads();
              anygin_syncthreads();
            }));
  testing::internal::GetCapturedStderr();
  const std::string misuse = std::to_string(static_cast<int>(AbortCause::kMisuse));
  const std::vector<std::string> lines = by_lane();
  EXPECT_EQ(1, std::count(lines.begin(), lines.end(), "lane_exit 1 " + misuse));
  EXPECT_EQ(1, std::count(lines.begin(), lines.end(), "lane_start 0 0"));
  EXPECT_EQ(
      2, std::count_if(lines.begin(), lines.end(), [](const auto& line) { return line.rfind("lane_exit", 0) == 0; }));
}

TEST_F(SimtTrace, AnEdgeNamesTheOperationThatTheOtherStreamMustReach) {
  Stream* first = create_stream(1, true);
  Stream* second = create_stream(1, true);
  Event* event = create_event(false);
  EXPECT_EQ(0, stream_wait_event(second, event));  // never recorded: orders nothing
  EXPECT_TRUE(events(TraceKind::kStreamEdge).empty());
  EXPECT_EQ(0, enqueue_host_work(first, [] { return 0; }));
  EXPECT_EQ(0, enqueue_host_work(first, [] { return 0; }));
  EXPECT_EQ(0, record_event(event, first));  // the third
  EXPECT_EQ(0, stream_wait_event(second, event));
  const std::vector<TraceEvent> edges = events(TraceKind::kStreamEdge);
  ASSERT_EQ(1u, edges.size());
  EXPECT_EQ(1u, edges[0].context);
  EXPECT_EQ(second->id(), edges[0].operation);
  EXPECT_EQ(first->id(), edges[0].bytes);
  EXPECT_EQ(3u, edges[0].value);
  LaunchShape shape = blocks_of(1, 1);
  shape.stream = second;
  ASSERT_EQ(0, set_current_device(1));
  EXPECT_EQ(0, run(shape, [] {}));
  const std::vector<TraceEvent> launches = events(TraceKind::kLaunch);
  ASSERT_EQ(1u, launches.size());
  EXPECT_EQ(second->id(), launches[0].operation);
  EXPECT_EQ(second->ticket(), launches[0].bytes);
  EXPECT_EQ(0, destroy_stream(first));
  EXPECT_EQ(0, destroy_stream(second));
  destroy_event(event);
}

TEST_F(SimtTrace, TheDefaultStreamWaitsForTheOthersAndTheyForIt) {
  Stream* other = create_stream(3, false);
  ASSERT_EQ(0, set_current_device(3));
  Stream* standard = resolve_stream(nullptr);
  EXPECT_EQ(0, enqueue_host_work(other, [] { return 0; }));
  EXPECT_EQ(0, synchronize_stream(other));
  const uint64_t before = standard->ticket();
  EXPECT_EQ(0, enqueue_host_work(standard, [] { return 0; }));
  EXPECT_EQ(0, synchronize_stream(standard));
  EXPECT_EQ(0, enqueue_host_work(other, [] { return 0; }));
  EXPECT_EQ(0, synchronize_stream(other));
  std::vector<TraceEvent> edges = events(TraceKind::kStreamEdge);
  // Not those of streams of other tests, nor what the first work on `other` had to wait for.
  std::erase_if(edges, [&](const TraceEvent& edge) {
    return edge.operation == other->id() ? edge.value == before : edge.bytes != other->id();
  });
  ASSERT_EQ(2u, edges.size());
  EXPECT_EQ(standard->id(), edges[0].operation);
  EXPECT_EQ(other->id(), edges[0].bytes);
  EXPECT_EQ(1u, edges[0].value);
  EXPECT_EQ(other->id(), edges[1].operation);
  EXPECT_EQ(standard->id(), edges[1].bytes);
  EXPECT_EQ(before + 1, edges[1].value);
  EXPECT_EQ(0, destroy_stream(other));
}

}  // namespace
}  // namespace anygin::simt
