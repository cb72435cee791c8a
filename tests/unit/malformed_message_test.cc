// SPDX-License-Identifier: Apache-2.0
// A malformed message, from a rank's NIC through the fabric to another's: it closes the connection that it names, on
// both ends, and nothing else.
#include <functional>
#include <utility>

#include "anygin/emulated/fabric/fabric.h"
#include "unit/emulated_ranks.h"

namespace anygin::testing {
namespace {

using emulated::FabricProvider;
using emulated::kWireHeaderBytes;
using emulated::MappedPeer;
using emulated::Message;
using emulated::MessageHandler;
using emulated::MrTableMemory;
using emulated::Port;
using emulated::PortAddress;

// What spoils messages on their way in: `spoil` is called for the next one to `to` from `from`, once.
struct Spoiler {
  int from = -1, to = -1;
  std::function<void(std::vector<char>&)> spoil;
};

class SpoilingHandler final : public MessageHandler {
 public:
  SpoilingHandler(MessageHandler& inner, int rank, Spoiler& spoiler) : inner_(inner), rank_(rank), spoiler_(spoiler) {}
  void on_message(Rank from, const char* data, size_t bytes) override {
    if (!spoiler_.spoil || from != spoiler_.from || rank_ != spoiler_.to) return inner_.on_message(from, data, bytes);
    std::vector<char> copy(data, data + bytes);
    std::exchange(spoiler_.spoil, nullptr)(copy);
    inner_.on_message(from, copy.data(), copy.size());
  }
  void on_broken_peer(Rank from) override { inner_.on_broken_peer(from); }

 private:
  MessageHandler& inner_;
  const int rank_;
  Spoiler& spoiler_;
};

class SpoilingPort final : public Port {
 public:
  SpoilingPort(std::unique_ptr<Port> inner, Spoiler& spoiler) : inner_(std::move(inner)), spoiler_(spoiler) {}
  Rank rank() const override { return inner_->rank(); }
  int size() const override { return inner_->size(); }
  PortAddress address() const override { return inner_->address(); }
  std::optional<Rank> find(const PortAddress& address) const override { return inner_->find(address); }
  bool send(Rank to, const Message& header, const char* payload) override { return inner_->send(to, header, payload); }
  bool has_room(Rank to) const override { return inner_->has_room(to); }
  bool has_inbound() const override { return inner_->has_inbound(); }
  bool receive(MessageHandler& handler, int budget) override {
    SpoilingHandler between(handler, rank(), spoiler_);
    return inner_->receive(between, budget);
  }
  MrTableMemory& regions() override { return inner_->regions(); }
  const MappedPeer* mapped(Rank peer) const override { return inner_->mapped(peer); }
  void wake(Rank peer) override { inner_->wake(peer); }
  void fail_peer(Rank peer) override { inner_->fail_peer(peer); }

 private:
  std::unique_ptr<Port> inner_;
  Spoiler& spoiler_;
};

class SpoilingFabric final : public FabricProvider {
 public:
  Result<std::unique_ptr<Port>> open_port(World& world, Bootstrap& bootstrap, const Options& options) override {
    Result<std::unique_ptr<Port>> inner = emulated::direct_fabric().open_port(world, bootstrap, options);
    if (!inner.ok()) return inner.status();
    return std::unique_ptr<Port>(new SpoilingPort(std::move(*inner), spoiler));
  }
  Spoiler spoiler;
};

ibv_qp_state state_of(ibv_qp* qp) {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr init{};
  EXPECT_EQ(emu().query_qp(qp, &attributes, IBV_QP_STATE, &init), 0);
  return attributes.qp_state;
}

struct Spoil {
  const char* name;
  std::function<void(std::vector<char>&)> how;
};
std::ostream& operator<<(std::ostream& out, const Spoil& spoil) {
  return out << spoil.name;
}

// Places as the table of wire.h has them.
const Spoil kSpoils[] = {
    {"unknown_kind", [](std::vector<char>& m) { m[0] = 99; }},
    {"kind_0", [](std::vector<char>& m) { m[0] = 0; }},
    {"unknown_flag", [](std::vector<char>& m) { m[1] = static_cast<char>(0x80); }},
    {"unknown_status", [](std::vector<char>& m) { m[2] = 77; }},
    {"cut_payload", [](std::vector<char>& m) { m.resize(m.size() - 1); }},
    {"cut_header", [](std::vector<char>& m) { m.resize(kWireHeaderBytes); }},
    {"more_bytes_than_it_says", [](std::vector<char>& m) { m.push_back(0); }},
    {"bytes_beyond_the_operation", [](std::vector<char>& m) { m[20] = 1, m[21] = m[22] = m[23] = 0; }},
    {"sequence_of_another", [](std::vector<char>& m) { m[0] = 99, m[8] = static_cast<char>(m[8] + 40); }},
};

class MalformedMessage : public WorldFixture, public ::testing::WithParamInterface<Spoil> {
 protected:
  MalformedMessage() { world_.fabrics = &fabric_; }
  SpoilingFabric fabric_;
};

constexpr unsigned kHinted = IBV_SEND_SIGNALED | verbs::kSendMayPass;  // goes by message
constexpr uint64_t kTarget = 4096;

ibv_wc_status put(TestWorld& world, EmulatedRanks& ranks, int from, int to, uint64_t id) {
  Request write = Request::write(ranks[from], 0, 64, ranks[to], kTarget, id, kHinted);
  EXPECT_EQ(write.post(ranks[from].qps[static_cast<size_t>(to)]), 0);
  const auto done = wait_completions(world, ranks[from], 1);
  return done.empty() ? IBV_WC_GENERAL_ERR : done[0].status;
}

TEST_P(MalformedMessage, closes_its_connection_and_nothing_else) {
  EmulatedRanks ranks({.ranks = 3, .profile = Profile::kRelaxed});
  std::memset(ranks[0].memory, 0x11, 64);
  std::memset(ranks[2].memory, 0x22, 64);
  fabric_.spoiler = {0, 1, GetParam().how};
  EXPECT_NE(put(world_, ranks, 0, 1, 1), IBV_WC_SUCCESS) << "the initiator hears of it";
  world_.test_executor().run_until_idle();
  EXPECT_EQ(fabric_.spoiler.spoil, nullptr) << "the put went by message";
  EXPECT_EQ(state_of(ranks[0].qps[1]), IBV_QPS_ERR);
  EXPECT_EQ(state_of(ranks[1].qps[0]), IBV_QPS_ERR);
  EXPECT_EQ(ranks[1].word(kTarget), 0u) << "nothing was written";
  for (int from = 0; from < 3; ++from) {
    for (int to = 0; to < 3; ++to) {
      if ((from == 0 && to == 1) || (from == 1 && to == 0)) continue;
      EXPECT_EQ(state_of(ranks[from].qps[static_cast<size_t>(to)]), IBV_QPS_RTS) << from << " to " << to;
    }
  }
  EXPECT_EQ(put(world_, ranks, 2, 1, 2), IBV_WC_SUCCESS) << "the same target, another source";
  EXPECT_EQ(put(world_, ranks, 0, 2, 3), IBV_WC_SUCCESS) << "the same source, another target";
  world_.test_executor().run_until_idle();
  EXPECT_EQ(ranks[1].word(kTarget), 0x2222222222222222u);
  EXPECT_EQ(ranks[2].word(kTarget), 0x1111111111111111u);
}

INSTANTIATE_TEST_SUITE_P(All, MalformedMessage, ::testing::ValuesIn(kSpoils),
                         [](const auto& instance) { return std::string(instance.param.name); });

// Looked at and not spoilt, it succeeds.
class SoundMessage : public WorldFixture {
 protected:
  SoundMessage() { world_.fabrics = &fabric_; }
  SpoilingFabric fabric_;
};

TEST_F(SoundMessage, the_message_as_it_was_sent_arrives) {
  EmulatedRanks ranks({.ranks = 2, .profile = Profile::kRelaxed});
  int seen = 0;
  fabric_.spoiler = {0, 1, [&](std::vector<char>&) { ++seen; }};
  EXPECT_EQ(put(world_, ranks, 0, 1, 1), IBV_WC_SUCCESS);
  EXPECT_EQ(seen, 1);
}

}  // namespace
}  // namespace anygin::testing
