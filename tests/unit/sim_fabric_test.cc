// SPDX-License-Identifier: Apache-2.0
// Wires of the simulated fabric keep their order, arrive one by one, and suffer what the fault plan says.
#include "anygin/sim/sim_fabric.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "anygin/sim/sim_world.h"

namespace anygin::sim {
namespace {

using emulated::Message;
using emulated::MessageKind;
using ::testing::ElementsAre;

TEST(FaultPlan, IsReadAndWrongOnesAreNamed) {
  EXPECT_FALSE(FaultPlan::parse("none")->any());
  EXPECT_TRUE(FaultPlan::parse("draw")->any());
  EXPECT_FALSE(FaultPlan::parse("draw")->has_errors());
  EXPECT_TRUE(FaultPlan::parse("lost-ack@3+error:remote-access@2")->has_errors());
  for (const char* wrong : {"lost", "lost-ack", "lost-ack@0", "lost-ack@x", "lost-ack:late@1", "error@1", "error:ok@1",
                            "error:odd@1", "full@1,full@2", "death@3", "death:x@3", "death:-1@3"}) {
    const Result<FaultPlan> plan = FaultPlan::parse(wrong);
    ASSERT_FALSE(plan.ok()) << wrong;
    EXPECT_THAT(plan.status().message(), ::testing::HasSubstr("KIND one of lost-ack")) << wrong;
  }
}

TEST(FaultPlan, FiresAtTheOpportunityItNames) {
  FaultPlan plan = *FaultPlan::parse("duplicate@2+error:remote-invalid@1");
  SeededChoices choices(1);
  std::vector<bool> duplicates;
  for (int i = 0; i < 4; ++i) duplicates.push_back(plan.happens(FaultKind::kDuplicate, choices));
  EXPECT_THAT(duplicates, ElementsAre(false, true, false, false));
  emulated::WireStatus code{};
  EXPECT_TRUE(plan.happens(FaultKind::kError, choices, &code));
  EXPECT_EQ(code, emulated::WireStatus::kRemoteInvalid);
  EXPECT_EQ(plan.happened(), 2u);
}

TEST(FaultPlan, ADeathIsToldOnceFromItsStepOn) {
  FaultPlan plan = *FaultPlan::parse("death:2@100");
  EXPECT_TRUE(plan.has_errors());
  EXPECT_EQ(plan.death_at(99), -1);
  EXPECT_EQ(plan.death_at(103), 2);
  EXPECT_EQ(plan.death_at(104), -1);
}

// All-gathers addresses before they exist: ports are numbered from 1.
class KnownAddresses final : public Bootstrap {
 public:
  explicit KnownAddresses(Rank rank) : rank_(rank) {}
  Rank rank() const override { return rank_; }
  int size() const override { return 2; }
  Result<std::vector<Gift>> all_gather(const char*, const Gift& mine) override {
    std::vector<Gift> gifts;
    for (uint32_t number : {1u, 2u}) {
      emulated::PortAddress address;
      std::memcpy(&address, mine.bytes.data(), sizeof(address));
      address.port = number;
      gifts.push_back({std::string(reinterpret_cast<const char*>(&address), sizeof(address)), -1});
    }
    return gifts;
  }

 private:
  const Rank rank_;
};

// Two NICs of a fabric, canonical choices: nothing is late by chance.
class SimFabricTest : public ::testing::Test, public emulated::MessageHandler {
 protected:
  void open(const char* faults) {
    plan_ = *FaultPlan::parse(faults);
    world_ = std::make_unique<SimWorld>(
        SimWorld::Ingredients{clock_, scheduler_, choices_, nullptr, plan_, nullptr, nullptr, size_t{16} << 20});
    for (const Rank rank : {0, 1}) {
      KnownAddresses bootstrap(rank);
      Result<std::unique_ptr<emulated::Port>> port = world_->fabrics->open_port(*world_, bootstrap, Options{});
      ASSERT_TRUE(port.ok()) << port.status().message();
      ports_[rank] = std::move(*port);
    }
  }
  void send(uint32_t sequence, MessageKind kind = MessageKind::kFetchAdd) {
    Message message;
    message.kind = kind;
    message.sequence = sequence;
    message.total = kind == MessageKind::kFetchAdd ? 8 : 0;
    message.last = kind == MessageKind::kFetchAdd;
    message.queue_pair = 1;
    message.source_pair = 2;
    ASSERT_TRUE(ports_[0]->send(1, message, nullptr));
  }
  void run_all() {
    while (scheduler_.step() == Scheduler::Moved::kRan) ports_[1]->receive(*this, 100), ports_[0]->receive(*this, 100);
  }
  void on_message(Rank from, const char* data, size_t bytes) override {
    Message message;
    ASSERT_TRUE(emulated::decode_message(data, bytes, &message));
    heard_.push_back(message.sequence + (from == 1 ? 1000 : 0));
    at_.push_back(clock_.now());
  }
  void on_broken_peer(Rank) override { FAIL(); }

  VirtualClock clock_;
  SimChoices choices_{std::make_unique<CanonicalStrategy>()};
  Scheduler scheduler_{clock_, choices_};
  FaultPlan plan_;
  std::unique_ptr<SimWorld> world_;
  std::unique_ptr<emulated::Port> ports_[2];
  std::vector<uint32_t> heard_;
  std::vector<Time> at_;
};

TEST_F(SimFabricTest, AWireKeepsItsOrder) {
  open("none");
  for (uint32_t i = 1; i <= 3; ++i) send(i);
  EXPECT_FALSE(ports_[1]->has_inbound());
  run_all();
  EXPECT_THAT(heard_, ElementsAre(1, 2, 3));
  EXPECT_EQ(ports_[0]->mapped(1), nullptr);
}

TEST_F(SimFabricTest, ARequestMayComeTwice) {
  open("duplicate@2");
  for (uint32_t i = 1; i <= 3; ++i) send(i);
  run_all();
  EXPECT_THAT(heard_, ElementsAre(1, 2, 2, 3));
}

TEST_F(SimFabricTest, ALostAcknowledgementComesLateAndHoldsUpWhatIsBehindIt) {
  open("lost-ack@1");
  send(1, MessageKind::kVisible);
  send(2, MessageKind::kVisible);
  run_all();
  EXPECT_THAT(heard_, ElementsAre(1, 2));
  EXPECT_GE(at_[0], SimFabric::kRetransmission);
}

TEST_F(SimFabricTest, AnErrorComesBackInsteadOfTheRequestArriving) {
  open("error:remote-operation@2");
  send(1);
  send(2);
  run_all();
  std::sort(heard_.begin(), heard_.end());
  EXPECT_THAT(heard_, ElementsAre(1, 1002));
}

TEST_F(SimFabricTest, NothingReachesARankThatIsLost) {
  open("none");
  send(1);
  world_->lose(1);
  send(2);
  run_all();
  EXPECT_TRUE(heard_.empty());
}

TEST_F(SimFabricTest, AFullWireHasRoomAgainLater) {
  open("full@1");
  send(1);
  EXPECT_FALSE(ports_[0]->has_room(1));
  EXPECT_TRUE(ports_[1]->has_room(0));
  run_all();
  clock_.advance_to(std::max(clock_.now(), SimFabric::kFullFor));
  EXPECT_TRUE(ports_[0]->has_room(1));
}

}  // namespace
}  // namespace anygin::sim
