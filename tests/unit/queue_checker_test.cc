// SPDX-License-Identifier: Apache-2.0
// Each promise about queues, counters and credits, kept and broken, by hand-made events and words.
#include "anygin/sim/queue_checker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace anygin::sim {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr uint32_t kFirst = 0xFFFFFFFE;  // so that three operations wrap

class QueueCheckerTest : public ::testing::Test {
 protected:
  QueueCheckerTest() {
    checker_.set_words([this](MemName name) { return name.heap == HeapId(1) ? &words_[name.offset / 8] : nullptr; });
    words_[kCredit] = kFirst;
    words_[kCounter] = 40;
  }

  void decode(uint32_t operation) { happens(TraceKind::kDecode, operation, kCredit); }
  void post(uint32_t operation, bool counted = false) { happens(TraceKind::kPost, operation, counted ? kCounter : 0); }
  // As the engine does it: the counter, the event, the credit.
  void done(uint32_t operation, uint64_t counts = 0, uint32_t credits = 1) {
    words_[kCounter] += counts;
    happens(TraceKind::kLocalDone, operation, kCredit);
    words_[kCredit] = static_cast<uint32_t>(words_[kCredit] + credits);
  }
  void take(uint32_t operation, bool counted = false) {
    decode(operation);
    post(operation, counted);
  }
  void happens(TraceKind kind, uint32_t operation, uint64_t word) {
    TraceEvent event;
    event.kind = kind;
    event.rank = 2;
    event.peer = 5;
    event.context = 3;
    event.operation = operation;
    if (word != 0) event.at = {HeapId(1), word * 8};
    checker_.on_event(event);
  }

  static constexpr uint64_t kCredit = 8, kCounter = 16;
  uint64_t words_[32] = {};
  std::vector<std::string> complaints_;
  QueueChecker checker_{[this](std::string text) { complaints_.push_back(std::move(text)); }};
};

TEST_F(QueueCheckerTest, WhatThePromisesAllowIsQuiet) {
  take(kFirst, true);
  take(kFirst + 1);
  done(kFirst, 1);
  take(kFirst + 2, true);  // wraps
  done(kFirst + 1);
  done(kFirst + 2, 1);
  checker_.on_port_closed(2);
  EXPECT_THAT(complaints_, IsEmpty());
}

TEST_F(QueueCheckerTest, ACallInPiecesHasOneNumber) {
  take(kFirst);
  take(kFirst);
  take(kFirst);
  take(kFirst + 3);
  for (int piece = 0; piece < 3; ++piece) done(kFirst);
  done(kFirst + 3);
  EXPECT_THAT(complaints_, IsEmpty());
  take(kFirst + 5);
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("operation 0x3 is taken, 0x2 is next")));
}

TEST_F(QueueCheckerTest, NothingIsSkippedOrTakenTwice) {
  take(kFirst);
  take(kFirst + 2);
  EXPECT_THAT(complaints_, ElementsAre("promise broken: queue of rank 2 to rank 5, context 3: operation 0x0 is taken, "
                                       "0xffffffff is next"));
  take(kFirst + 1);
  EXPECT_EQ(complaints_.size(), 2u);
}

TEST_F(QueueCheckerTest, WhatCompletesIsTheOldest) {
  take(kFirst);
  take(kFirst + 1);
  done(kFirst + 1);
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("operation 0xffffffff completes, 0xfffffffe is the oldest")));
  done(kFirst + 1);
  done(kFirst + 1);
  EXPECT_THAT(complaints_.back(), HasSubstr("operation 0xffffffff completes and is not there"));
}

TEST_F(QueueCheckerTest, ACounterCountsEachPutOnceWhenItIsComplete) {
  take(kFirst, true);
  done(kFirst, 2);
  EXPECT_THAT(complaints_,
              ElementsAre(HasSubstr("a counter is 42 after a put that names it completed, and must be 41")));
  take(kFirst + 1, true);
  done(kFirst + 1, 0);
  EXPECT_EQ(complaints_.size(), 2u);
  decode(kFirst + 2);
  ++words_[kCounter];  // early
  post(kFirst + 2, true);
  EXPECT_THAT(complaints_.back(), HasSubstr("a counter is 43 when a put that names it is posted, and must be 42"));
}

TEST_F(QueueCheckerTest, CreditComesBackWithTheCompletionAndOnce) {
  take(kFirst);
  words_[kCredit] = kFirst + 1;  // early
  take(kFirst + 1);
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("credit is given back to 0xffffffff when a descriptor is taken, "
                                                 "operations are complete to 0xfffffffe")));
  words_[kCredit] = kFirst;
  done(kFirst, 0, 2);
  done(kFirst + 1);
  EXPECT_THAT(complaints_.back(), HasSubstr("credit is given back to 0x0 when an operation completes"));
}

// The rings may be the other one's, which was aborted.
TEST_F(QueueCheckerTest, OfTwoCommunicatorsItIsNotKnownWhoseQueuesEnd) {
  checker_.on_port_opened(2);
  checker_.on_port_opened(2);
  take(kFirst);
  checker_.on_port_closed(2);
  EXPECT_THAT(complaints_, IsEmpty());
  done(kFirst);  // it went on
  checker_.on_port_closed(2);
  EXPECT_THAT(complaints_, IsEmpty());
  checker_.on_port_opened(2);
  take(kFirst + 1);
  checker_.on_port_closed(2);
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("1 operations were not complete when the communicator ended")));
}

TEST_F(QueueCheckerTest, ACommunicatorThatEndsHasEmptyQueues) {
  take(kFirst);
  checker_.on_port_closed(1);
  EXPECT_THAT(complaints_, IsEmpty());
  checker_.on_port_closed(2);
  EXPECT_THAT(complaints_, ElementsAre(HasSubstr("1 operations were not complete when the communicator ended")));
}

TEST_F(QueueCheckerTest, MemoryThatIsGivenOutAgainBeginsAnew) {
  take(kFirst, true);
  done(kFirst, 1);
  words_[kCredit] = kFirst;
  words_[kCounter] = 0;
  take(kFirst, true);
  done(kFirst, 1);
  EXPECT_THAT(complaints_, IsEmpty());
}

TEST_F(QueueCheckerTest, EnginesThatNameNoWordsAreLeftAlone) {
  happens(TraceKind::kDecode, 7, 0);
  happens(TraceKind::kPost, 7, kCounter);
  happens(TraceKind::kLocalDone, 9, 0);
  EXPECT_THAT(complaints_, IsEmpty());
}

}  // namespace
}  // namespace anygin::sim
