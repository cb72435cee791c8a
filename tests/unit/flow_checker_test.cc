// SPDX-License-Identifier: Apache-2.0
// Each promise that the flow checker knows, kept and broken, by hand-made messages and events.
#include "anygin/sim/flow_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anygin::sim {
namespace {

using emulated::Message;
using emulated::MessageKind;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class FlowCheckerTest : public ::testing::Test {
 protected:
  FlowCheckerTest() {
    checker_.on_port_opened(0);
    checker_.on_port_opened(1);
    Options relaxed;
    relaxed.profile = Profile::kRelaxed;
    set_options_for_test(relaxed);
  }
  ~FlowCheckerTest() override { set_options_for_test(Options{}); }

  // Rank 0 sends to queue pair 7 of rank 1. `unsettled`: how many before it may not be visible yet.
  void put(uint32_t sequence, uint32_t bytes, uint8_t unsettled) {
    Message message;
    message.may_pass = true;
    message.total = bytes;
    send(message, sequence, unsettled);
  }
  void signal(uint32_t sequence, uint64_t add, uint8_t unsettled, bool strong, bool grouped) {
    Message message;
    message.kind = MessageKind::kFetchAdd;
    message.may_pass = !strong;
    message.grouped = grouped;
    message.total = 8;
    message.value = add;
    send(message, sequence, unsettled);
  }
  void send(Message message, uint32_t sequence, uint8_t unsettled) {
    message.queue_pair = 7;
    message.sequence = sequence;
    message.unsettled = unsettled;
    checker_.on_sent(0, 1, message);
  }
  void acknowledge(uint32_t sequence) {
    Message message;
    message.kind = MessageKind::kVisible;
    message.source_pair = 7;
    message.sequence = sequence;
    checker_.on_sent(1, 0, message);
  }
  void visible(uint32_t sequence, uint64_t bytes) { happens(TraceKind::kVisible, sequence, bytes, 0, 4096); }
  void applied(uint32_t sequence, uint64_t value, uint64_t cell = 64) {
    happens(TraceKind::kSignal, sequence, 8, value, cell);
  }
  void happens(TraceKind kind, uint32_t sequence, uint64_t bytes, uint64_t value, uint64_t offset) {
    happens_at(kind, sequence, bytes, value, {HeapId(1), offset});
  }
  void happens_at(TraceKind kind, uint32_t sequence, uint64_t bytes, uint64_t value, MemName at) {
    TraceEvent event;
    event.kind = kind;
    event.rank = 1;
    event.peer = 0;
    event.context = 7;
    event.operation = sequence;
    event.at = at;
    event.bytes = bytes;
    event.value = value;
    checker_.on_event(event);
  }

  std::vector<std::string> complaints_;
  FlowChecker checker_{[this](std::string text) { complaints_.push_back(std::move(text)); }};
};

TEST_F(FlowCheckerTest, AllThatThePromisesAllowIsQuiet) {
  put(10, 16, 0);
  put(11, 8, 1);
  signal(12, 1, 2, false, true);
  signal(13, 5, 3, true, false);
  visible(11, 8);
  applied(12, 1);  // weak: its own payload is visible, the other put is not
  visible(10, 8);
  visible(10, 8);
  applied(13, 6);
  for (const uint32_t sequence : {10, 11, 12, 13}) acknowledge(sequence);
  checker_.on_port_closed(1);
  EXPECT_THAT(complaints_, IsEmpty());
}

TEST_F(FlowCheckerTest, AStrongSignalComesAfterAllBeforeIt) {
  put(10, 16, 0);
  signal(11, 1, 1, true, false);
  visible(10, 8);
  applied(11, 1);
  EXPECT_THAT(complaints_, ElementsAre("promise broken: operation 11 from rank 0 to rank 1 (queue pair 7): its signal "
                                       "was applied before operation 10 was visible"));
}

TEST_F(FlowCheckerTest, WhatTheInitiatorKnowsToBeVisibleIsNotAskedFor) {
  put(10, 8, 0);
  visible(10, 8);
  acknowledge(10);
  signal(11, 1, 0, true, false);
  applied(11, 1);
  EXPECT_THAT(complaints_, IsEmpty());
}

TEST_F(FlowCheckerTest, AWeakSignalComesAfterItsPayload) {
  put(10, 8, 0);
  signal(11, 1, 1, false, true);
  applied(11, 1);
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("before its own payload was visible")));
}

TEST_F(FlowCheckerTest, InorderNothingPasses) {
  set_options_for_test(Options{});
  put(10, 8, 0);
  put(11, 8, 1);
  visible(11, 8);
  EXPECT_THAT(complaints_,
              ElementsAre(HasSubstr("operation 11 from rank 0 to rank 1 (queue pair 7): visible before operation 10")));
}

TEST_F(FlowCheckerTest, BytesBecomeVisibleOnceAndSignalsAreAppliedOnce) {
  put(10, 8, 0);
  visible(10, 8);
  visible(10, 8);
  signal(11, 3, 1, false, false);
  applied(11, 3);
  applied(11, 6);
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("more bytes became visible than it has"),
                                       HasSubstr("the signal was applied twice")));
}

TEST_F(FlowCheckerTest, CellsChangeByWhatWasAdded) {
  signal(10, 3, 0, false, false);
  signal(11, 4, 1, false, false);
  applied(10, 3);
  applied(11, 11);  // 3 + 4 + 4
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("a signal of 4 found its cell at 3, and left it at 11")));
}

TEST_F(FlowCheckerTest, AProgramMayResetACell) {
  signal(10, 3, 0, false, false);
  signal(11, 4, 1, false, false);
  applied(10, 3);
  applied(11, 4);
  EXPECT_THAT(complaints_, IsEmpty());
}

TEST_F(FlowCheckerTest, CellsOfMemoryThatIsGivenOutAgainBeginAnew) {
  checker_.set_world(&world());
  const auto cell_of_new_memory = [] {
    const Result<char*> memory = world().heap.allocate(8, 0);
    EXPECT_TRUE(memory.ok());
    return *memory;
  };
  char* const first = cell_of_new_memory();
  const MemName cell = *world().memory.name_of(first);
  signal(10, 3, 0, false, false);
  happens_at(TraceKind::kSignal, 10, 8, 3, cell);
  EXPECT_TRUE(world().heap.free(first).ok());
  char* const second = cell_of_new_memory();
  ASSERT_EQ(second, first);
  signal(11, 4, 1, false, false);
  happens_at(TraceKind::kSignal, 11, 8, 4, cell);
  EXPECT_THAT(complaints_, IsEmpty());
  signal(12, 4, 1, false, false);
  happens_at(TraceKind::kSignal, 12, 8, 9, cell);
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("a signal of 4 found its cell at 4, and left it at 9")));
  EXPECT_TRUE(world().heap.free(second).ok());
}

TEST_F(FlowCheckerTest, AnAcknowledgementMeansVisibleAndComesOnce) {
  put(10, 16, 0);
  visible(10, 8);
  acknowledge(10);
  visible(10, 8);
  acknowledge(10);
  EXPECT_THAT(complaints_,
              ElementsAre(HasSubstr("acknowledged with 8 of 16 bytes visible"), HasSubstr("acknowledged twice")));
}

TEST_F(FlowCheckerTest, NothingComesFromNowhereAndNothingIsLeft) {
  visible(10, 8);
  put(11, 8, 0);
  checker_.on_port_closed(1);
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("came about without having been sent"),
                                       HasSubstr("in flight when the communicator ended")));
}

TEST_F(FlowCheckerTest, TwoPortsOfOneRankCannotBeToldApart) {
  checker_.on_port_opened(1);
  visible(10, 8);
  EXPECT_THAT(complaints_, IsEmpty());
}

}  // namespace
}  // namespace anygin::sim
