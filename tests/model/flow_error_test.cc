// SPDX-License-Identifier: Apache-2.0
// What a flow does when an operation fails, when the peer is gone, and when the other side talks nonsense.
#include <cstring>

#include "model/flow_script.h"

namespace anygin::testing {
namespace {

using namespace emulated;

constexpr uint64_t kCell = FlowPair::kTargetBase + FlowScript::kCells;

class FlowError : public ::testing::TestWithParam<Profile> {
 protected:
  Work put(FlowPair& pair, uint64_t slot, uint32_t bytes) {
    Work work;
    work.bytes = bytes;
    work.rkey = FlowPair::kKey;
    work.may_pass = true;
    work.remote_address = FlowPair::kTargetBase + slot * FlowScript::kSlot;
    work.local = pair.source_place(slot * FlowScript::kSlot);
    return work;
  }
  Work add(FlowPair& pair, bool weak, bool grouped) {
    Work work;
    work.kind = WorkKind::kFetchAdd;
    work.bytes = 8;
    work.rkey = FlowPair::kKey;
    work.may_pass = weak;
    work.grouped = grouped;
    work.add = 1;
    work.remote_address = kCell;
    work.local = pair.source_place(FlowPair::kBytes - 8);
    return work;
  }
  uint64_t cell(FlowPair& pair) {
    uint64_t value;
    std::memcpy(&value, pair.target() + FlowScript::kCells, 8);
    return value;
  }
  std::vector<WorkStatus> statuses(FlowPair& pair) {
    std::vector<WorkStatus> all;
    for (const WorkDone& done : pair.completions()) all.push_back(done.status);
    return all;
  }
  FlowPairOptions options(bool shortcut) { return {GetParam(), shortcut, 0xfffffffe, 0}; }

  TestWorld world_;
};

// P31: the failed operation, its own signal and later strong ones never happen; what came before does.
TEST_P(FlowError, P31_AFailedPutTakesItsSignalAndAllLaterWithIt) {
  for (bool shortcut : {false, true}) {
    for (uint64_t seed = 1; seed <= 40; ++seed) {
      SeededChoices choices(seed), pick(seed + 100);
      FlowPair pair(world_, choices, options(shortcut));
      std::memset(pair.source(), 'x', FlowPair::kBytes);
      pair.post(put(pair, 0, 40));
      Work bad = put(pair, 1, 40);
      bad.rkey = FlowPair::kKey + 1;
      pair.post(bad);
      pair.post(add(pair, true, true));
      pair.post(put(pair, 2, 40));
      pair.post(add(pair, false, false));
      pair.run(pick);
      const std::vector<WorkStatus> expected = {WorkStatus::kOk, WorkStatus::kRemoteAccess, WorkStatus::kFlushed,
                                                WorkStatus::kFlushed, WorkStatus::kFlushed};
      EXPECT_EQ(statuses(pair), expected) << "seed " << seed;
      EXPECT_EQ(cell(pair), 0u) << "seed " << seed;
      EXPECT_EQ(std::string(pair.target(), 41), std::string(40, 'x') + '\0');
      EXPECT_EQ(pair.target()[FlowScript::kSlot], 0) << "nothing of the failed put";
      EXPECT_TRUE(pair.sender().idle());
      EXPECT_TRUE(pair.receiver().idle());
    }
  }
}

TEST_P(FlowError, OutOfBoundsWritesNothingAtAll) {
  for (bool shortcut : {false, true}) {
    SeededChoices choices(3), pick(4);
    FlowPair pair(world_, choices, options(shortcut));
    std::memset(pair.source(), 'x', FlowPair::kBytes);
    Work over = put(pair, 0, 200);
    over.remote_address = FlowPair::kTargetBase + 900;
    pair.limit_target(1000);
    pair.post(over);
    pair.run(pick);
    EXPECT_EQ(statuses(pair), std::vector<WorkStatus>{WorkStatus::kRemoteAccess});
    for (uint64_t i = 0; i < 2000; ++i) ASSERT_EQ(pair.target()[i], 0) << "byte " << i;
  }
}

TEST_P(FlowError, ARegionThatGoesWhileAPutIsHeldIsNotWritten) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SeededChoices choices(seed), pick(seed);
    FlowPair pair(world_, choices, options(false));
    std::memset(pair.source(), 'x', FlowPair::kBytes);
    pair.post(put(pair, 0, 64));
    for (int i = 0; i < 3; ++i) pair.step(pick);
    std::string before(pair.target(), 64);
    pair.limit_target(0);
    pair.run(pick);
    EXPECT_EQ(std::string(pair.target(), 64), before);
    ASSERT_EQ(pair.completions().size(), 1u);
  }
}

TEST_P(FlowError, AMisalignedAddIsRefused) {
  for (bool shortcut : {false, true}) {
    SeededChoices choices(3), pick(4);
    FlowPair pair(world_, choices, options(shortcut));
    Work work = add(pair, false, false);
    work.remote_address += 4;
    pair.post(work);
    pair.run(pick);
    EXPECT_EQ(statuses(pair), std::vector<WorkStatus>{WorkStatus::kRemoteInvalid});
    EXPECT_EQ(cell(pair), 0u);
  }
}

TEST_P(FlowError, APeerThatGoesMidFlightFailsTheOldestAndFlushesTheRest) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SeededChoices choices(seed), pick(seed);
    FlowPair pair(world_, choices, options(false));
    for (uint64_t slot = 0; slot < 6; ++slot) {
      pair.post(put(pair, slot, 100));
      pair.post(add(pair, slot % 2 == 0, true));
    }
    for (uint64_t i = 0; i < seed; ++i) pair.step(pick);
    const size_t done_before = pair.completions().size();
    const uint64_t cell_before = cell(pair);
    pair.sender().stop(WorkStatus::kPeerGone);
    pair.receiver().stop();
    pair.post(add(pair, false, false));  // after it was seen: never succeeds
    pair.run(pick);
    ASSERT_EQ(pair.completions().size(), 13u);
    const size_t oldest = done_before < 12 ? done_before : 13;  // 13: nothing was in flight
    for (size_t i = 0; i < 13; ++i) {
      const WorkStatus status = pair.completions()[i].status;
      EXPECT_EQ(status, i < done_before ? WorkStatus::kOk : i == oldest ? WorkStatus::kPeerGone : WorkStatus::kFlushed);
    }
    EXPECT_EQ(cell(pair), cell_before) << "nothing takes effect afterwards";
    EXPECT_TRUE(pair.sender().idle());
  }
}

// P4: exactly once, also if a message comes twice.
TEST_P(FlowError, P4_DuplicatesOfEveryMessageChangeNothing) {
  SeededChoices choices(5), pick(6);
  FlowPair pair(world_, choices, options(false));
  pair.post(add(pair, false, false));
  pair.post(add(pair, true, false));
  pair.run(pick);
  ASSERT_EQ(cell(pair), 2u);
  Message again;
  again.kind = MessageKind::kFetchAdd;
  again.sequence = 0xfffffffe;
  again.total = 8;
  again.rkey = FlowPair::kKey;
  again.address = kCell;
  again.value = 1;
  EXPECT_TRUE(pair.inject_at_target(again, nullptr));
  Message ack;
  ack.kind = MessageKind::kVisible;
  ack.sequence = 0xfffffffe;
  EXPECT_TRUE(pair.inject_at_initiator(ack, nullptr));
  pair.run(pick);
  EXPECT_EQ(cell(pair), 2u);
  EXPECT_EQ(pair.completions().size(), 2u);
}

TEST_P(FlowError, NonsenseIsRefusedByBothHalves) {
  SeededChoices choices(5), pick(6);
  FlowPair pair(world_, choices, options(false));
  pair.post(put(pair, 0, 8));
  Message answer;
  answer.sequence = 0xfffffffe;
  for (MessageKind kind :
       {MessageKind::kVisible, MessageKind::kAccepted, MessageKind::kCredit, MessageKind::kReadResponse}) {
    answer.kind = kind;
    EXPECT_FALSE(pair.inject_at_initiator(answer, nullptr)) << "an answer to what was not yet sent";
  }
  answer.kind = MessageKind::kVisible;
  answer.sequence = 3;
  EXPECT_FALSE(pair.inject_at_initiator(answer, nullptr)) << "an answer to what was not posted";
  Message far;
  far.kind = MessageKind::kFetchAdd;
  far.total = 8;
  far.sequence = 0xfffffffe + kFlowOpsMax;
  far.unsettled = kFlowOpsMax;
  EXPECT_FALSE(pair.inject_at_target(far, nullptr)) << "beyond the window";
  Message hole;
  hole.kind = MessageKind::kWrite;
  hole.sequence = 0xfffffffe;
  hole.rkey = FlowPair::kKey;
  hole.address = FlowPair::kTargetBase;
  hole.total = 16;
  hole.offset = 8;
  hole.bytes = 8;
  hole.last = true;
  EXPECT_FALSE(pair.inject_at_target(hole, "12345678")) << "a chunk without the one before it";
  EXPECT_TRUE(pair.completions().empty());
}

// More than the window: chunks and operations wait for credit, nothing is lost or doubled.
TEST_P(FlowError, LargeAndManyWaitForCredit) {
  for (bool shortcut : {false, true}) {
    SeededChoices choices(8), pick(9);
    FlowPair pair(world_, choices, options(shortcut));
    constexpr uint32_t kLarge = 1'700'003;
    for (uint32_t i = 0; i < kLarge; ++i) pair.source()[i] = static_cast<char>(i % 251 + 1);
    Work large = put(pair, 0, kLarge);
    large.remote_address += 5;
    pair.post(large);
    for (int i = 0; i < 300; ++i) pair.post(add(pair, i % 3 != 0, false));
    pair.run(pick);
    ASSERT_EQ(pair.completions().size(), 301u) << pair.pending();
    EXPECT_EQ(std::memcmp(pair.target() + 5, pair.source(), kLarge), 0);
    EXPECT_EQ(pair.target()[4], 0);
    EXPECT_EQ(pair.target()[5 + kLarge], 0);
    EXPECT_EQ(cell(pair), 300u);
  }
}

INSTANTIATE_TEST_SUITE_P(Profiles, FlowError,
                         ::testing::Values(Profile::kInorder, Profile::kCx7, Profile::kRelaxed, Profile::kSrd),
                         [](const auto& instance) { return std::string(anygin::name_of(instance.param)); });

}  // namespace
}  // namespace anygin::testing
