// SPDX-License-Identifier: Apache-2.0
// Who waits for whom, from hand-made events.
#include "anygin/sim/wait_graph.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anygin::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const char kFirst = 0, kSecond = 0;  // kernels

class WaitGraphTest : public ::testing::Test {
 protected:
  // A grid of one lane a block on device and stream `rank`.
  void launch(uint64_t grid, Rank rank, const char& kernel, uint64_t blocks = 1) {
    TraceEvent event;
    event.kind = TraceKind::kLaunch;
    event.grid = grid;
    event.context = static_cast<uint32_t>(rank);
    event.operation = static_cast<uint64_t>(rank) + 10;
    event.value = blocks;
    event.call_site = &kernel;
    graph_.on_event(event);
  }
  void lane(TraceKind kind, uint64_t grid, uint64_t block = 0) {
    TraceEvent event;
    event.kind = kind;
    event.grid = grid;
    event.lane = block;
    event.value = kind == TraceKind::kLaneStart ? block : 0;
    graph_.on_event(event);
  }
  void start(uint64_t grid, uint64_t block = 0) { lane(TraceKind::kLaneStart, grid, block); }
  void exit(uint64_t grid, uint64_t block = 0) { lane(TraceKind::kLaneExit, grid, block); }
  void wait(TraceKind kind, uint64_t grid, Rank rank, WaitKind what, Rank peer, uint64_t block = 0) {
    TraceEvent event;
    event.kind = kind;
    event.grid = grid;
    event.lane = block;
    event.rank = rank;
    event.peer = peer;
    event.operation = static_cast<uint64_t>(what);
    event.bytes = 3;
    graph_.on_event(event);
  }
  void waits(uint64_t grid, Rank rank, WaitKind what, Rank peer, uint64_t block = 0) {
    wait(TraceKind::kWaitBegin, grid, rank, what, peer, block);
  }

  WaitGraph graph_{[](const void* kernel) { return kernel == &kFirst ? "first" : "second"; }};
};

TEST_F(WaitGraphTest, WhoGoesOnOrIsOverIsNotInIt) {
  launch(1, 0, kFirst);
  start(1);
  waits(1, 0, WaitKind::kSignal, -1);
  wait(TraceKind::kWaitEnd, 1, 0, WaitKind::kSignal, -1);
  EXPECT_THAT(graph_.describe().edges, IsEmpty());
  waits(1, 0, WaitKind::kSignal, -1);
  exit(1);
  EXPECT_THAT(graph_.describe().edges, IsEmpty());
}

TEST_F(WaitGraphTest, ASignalMayComeFromAnyOtherRankThatIsNotOver) {
  launch(1, 0, kFirst);
  launch(2, 1, kFirst);
  launch(3, 2, kFirst);
  for (const uint64_t grid : {1, 2, 3}) start(grid);
  waits(1, 0, WaitKind::kSignal, -1);
  waits(2, 1, WaitKind::kFlush, 0);
  waits(3, 2, WaitKind::kSignal, -1);
  wait(TraceKind::kWaitEnd, 3, 2, WaitKind::kSignal, -1);
  exit(3);
  const WaitGraph::Report report = graph_.describe();
  EXPECT_THAT(
      report.edges,
      ElementsAre("rank 0 kernel first (launch 1) waits for a signal (context 0 index 3): rank 1 kernel first "
                  "(launch 2), which runs",
                  "rank 1 kernel first (launch 2) waits for a flush towards rank 0: what is in flight decides"));
  EXPECT_EQ(report.circle, "");
  exit(2);
  EXPECT_THAT(graph_.describe().edges, ElementsAre("rank 0 kernel first (launch 1) waits for a signal (context 0 index "
                                                   "3): no kernel that could send it is left"));
}

TEST_F(WaitGraphTest, KernelsInCrossedOrdersAreACircleAndNamed) {
  launch(1, 0, kFirst);
  launch(2, 0, kSecond);
  launch(3, 1, kSecond);
  launch(4, 1, kFirst);
  start(1);
  start(3);
  waits(1, 0, WaitKind::kGinBarrier, 1);
  waits(3, 1, WaitKind::kGinBarrier, 0);
  EXPECT_EQ(
      graph_.describe().circle,
      "circle: rank 0 kernel first (launch 1) -> rank 1 kernel second (launch 3) -> rank 0; crossed kernels: ranks "
      "launch kernels that wait for each other in different orders");
}

TEST_F(WaitGraphTest, ACircleOfOneKernelIsNotCrossed) {
  launch(1, 0, kFirst);
  launch(2, 1, kFirst);
  start(1);
  start(2);
  waits(1, 0, WaitKind::kGinBarrier, 1);
  waits(2, 1, WaitKind::kGinBarrier, 0);
  EXPECT_EQ(graph_.describe().circle,
            "circle: rank 0 kernel first (launch 1) -> rank 1 kernel first (launch 2) -> rank 0");
}

TEST_F(WaitGraphTest, BlocksThatFoundNoRoomAreTold) {
  launch(1, 0, kFirst, 4);
  start(1, 0);
  start(1, 1);
  waits(1, 0, WaitKind::kLsaBarrier, 1, 0);
  const WaitGraph::Report report = graph_.describe();
  ASSERT_EQ(report.edges.size(), 2u);
  EXPECT_EQ(
      report.edges[0],
      "rank 0 kernel first (launch 1) waits for LSA barrier (index 3) of rank 1: no kernel that could come is left");
  EXPECT_EQ(report.edges[1],
            "kernel first (launch 1): 2 of 4 blocks have not started, as there is no room beside those that wait");
}

}  // namespace
}  // namespace anygin::sim
