// SPDX-License-Identifier: Apache-2.0
// From a kernel's request to the peer's memory in one process: device half, engine, verbs, software HCA.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "anygin/proxy/proxy_backend.h"
#include "support/world_fixture.h"
#include "unit/proxy_rig.h"

namespace anygin::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Arm {
  Profile profile;
  int ranks;
  uint64_t seed;
};

constexpr uint64_t kBytes = 64 * 1024;
constexpr WindowId kWindow(1), kStrict(2);

class ProxyStack : public ::testing::TestWithParam<Arm> {
 protected:
  void SetUp() override {
    ranks_ = GetParam().ranks;
    options_.profile = GetParam().profile;
    group_ = std::make_unique<LocalBootstrapGroup>(ranks_);
    members_.resize(static_cast<size_t>(ranks_));
    group_->run_on_all([&](int rank) { set_up(rank); });
  }
  void TearDown() override {
    for (Member& member : members_) member.contexts.reset();
    for (Member& member : members_) {
      if (member.backend) member.backend->deregister_window(kWindow);
      if (member.backend) member.backend->deregister_window(kStrict);
    }
    group_->run_on_all([&](int rank) { at(rank).backend.reset(); });
  }

  struct Member {
    std::unique_ptr<Backend> backend;
    std::unique_ptr<ContextSet> contexts;
    char* memory = nullptr;
    uint64_t* strict = nullptr;
    uint32_t abort_word = 0;
    RecordingListener listener;
  };

  void set_up(int rank) {
    Member& mine = at(rank);
    auto backend = open_proxy_backend({group_->rank(rank), mine.listener, &mine.abort_word, options_});
    ASSERT_TRUE(backend.ok()) << backend.status().message();
    mine.backend = std::move(*backend);
    mine.memory = *world().heap.allocate(kBytes, 0);
    mine.strict = reinterpret_cast<uint64_t*>(*world().heap.allocate(4096, 0));
    ASSERT_TRUE(mine.backend->register_window(kWindow, mine.memory, kBytes, false).ok());
    ASSERT_TRUE(mine.backend->register_window(kStrict, reinterpret_cast<char*>(mine.strict), 4096, true).ok());
    auto contexts = mine.backend->create_contexts({2, 16, 16, 8, 0});
    ASSERT_TRUE(contexts.ok()) << contexts.status().message();
    mine.contexts = std::move(*contexts);
  }
  Member& at(int rank) { return members_[static_cast<size_t>(rank)]; }
  DeviceContext device(int rank, uint32_t index = 0) {
    return {rank, ranks_, at(rank).contexts->handle(), index, &at(rank).abort_word};
  }
  static uint64_t value_of(const CellRef& cell) { return *cell.cell - *cell.base; }
  bool wait_signal(int rank, uint32_t id, uint64_t least, uint32_t index = 0) {
    const CellRef cell = proxy_signal_cell(device(rank, index), id);
    return world_.run_until([cell, least] { return value_of(cell) >= least; });
  }
  bool flush(int rank, int peer, uint32_t index = 0) {
    FlushRequest request;
    proxy_flush_async(device(rank, index), peer, &request);
    return proxy_wait(device(rank, index), request, kNever) == WaitOutcome::kSatisfied;
  }

  TestWorld world_{GetParam().seed};
  Options options_;
  int ranks_ = 0;
  std::unique_ptr<LocalBootstrapGroup> group_;
  std::vector<Member> members_;
};

TEST_P(ProxyStack, P1_P4_P5_everybody_puts_to_everybody) {
  constexpr int kRounds = 20;  // more than the queues hold
  for (int rank = 0; rank < ranks_; ++rank) {
    for (uint64_t i = 0; i < kBytes / 2; ++i)
      at(rank).memory[i] = static_cast<char>(rank * 31 + static_cast<int>(i % 97));
  }
  const uint64_t piece = 3001;  // unaligned, more than a cache line
  for (int round = 0; round < kRounds; ++round) {
    for (int rank = 0; rank < ranks_; ++rank) {
      for (int peer = 0; peer < ranks_; ++peer) {
        const uint64_t to = kBytes / 2 + static_cast<uint64_t>(rank) * piece;
        proxy_put(device(rank), with_counter(with_signal(put_request(peer, 17, to, piece), 5, 2, round % 2 == 0), 3));
      }
    }
  }
  for (int rank = 0; rank < ranks_; ++rank) {
    const auto puts = static_cast<uint64_t>(ranks_ * kRounds);
    ASSERT_TRUE(wait_signal(rank, 5, 2 * puts))
        << "signal 5 of rank " << rank << ": " << world_.test_executor().pending();
    EXPECT_EQ(value_of(proxy_signal_cell(device(rank), 5)), 2 * puts);
    for (int source = 0; source < ranks_; ++source) {
      EXPECT_EQ(std::memcmp(at(rank).memory + kBytes / 2 + static_cast<uint64_t>(source) * piece,
                            at(source).memory + 17, piece),
                0)
          << "from " << source << " to " << rank;
    }
  }
  world_.test_executor().run_until_idle();
  for (int rank = 0; rank < ranks_; ++rank) {
    EXPECT_EQ(value_of(proxy_counter_cell(device(rank), 3)), static_cast<uint64_t>(ranks_ * kRounds));
    EXPECT_EQ(value_of(proxy_signal_cell(device(rank, 1), 5)), 0u) << "another context";
    EXPECT_THAT(at(rank).listener.errors, IsEmpty());
    EXPECT_FALSE(at(rank).backend->busy());
  }
}

TEST_P(ProxyStack, P2_P3_a_strong_signal_covers_earlier_puts) {
  const int peer = ranks_ - 1;
  for (uint64_t round = 1; round <= 50; ++round) {
    std::memset(at(0).memory, static_cast<int>(round), 4096);
    proxy_put(device(0), put_request(peer, 0, 8192, 4096));
    proxy_put(device(0), put_request(peer, 0, 16384, 8));
    proxy_put(device(0), with_signal(put_request(peer, 0, 0, 0), 1, 1, true));
    ASSERT_TRUE(wait_signal(peer, 1, round)) << world_.test_executor().pending();
    for (uint64_t i = 0; i < 4096; ++i) ASSERT_EQ(at(peer).memory[8192 + i], static_cast<char>(round)) << i;
    ASSERT_EQ(at(peer).memory[16384], static_cast<char>(round));
    ASSERT_TRUE(flush(0, peer));
  }
}

TEST_P(ProxyStack, P6_P7_P9_values_nothings_and_window_signals) {
  const int peer = ranks_ - 1;
  PutRequest value = with_signal(put_request(peer, 0, 24, 4), 2, 1, true);
  value.is_inline = true;
  value.inline_value = 0xCAFEBABE;
  proxy_put(device(0, 1), value);
  ASSERT_TRUE(wait_signal(peer, 2, 1, 1)) << world_.test_executor().pending();
  uint32_t seen[2];
  std::memcpy(seen, at(peer).memory + 24, 8);
  EXPECT_EQ(seen[0], 0xCAFEBABEu);
  EXPECT_EQ(seen[1], 0u) << "4 bytes were put";
  PutRequest window = with_counter(put_request(peer, 0, 0, 0), 1);
  window.signal = {SignalTarget::kWindow, true, 0, kStrict, 80, ~uint64_t{0}};
  proxy_put(device(0, 1), window);
  PutRequest nothing = with_counter(put_request(peer, 0, 0, 0), 1);
  proxy_put(device(0, 1), nothing);
  world_.test_executor().run_until_idle();
  EXPECT_EQ(at(peer).strict[10], ~uint64_t{0});
  EXPECT_EQ(value_of(proxy_counter_cell(device(0, 1), 1)), 2u);
}

TEST_P(ProxyStack, P10_a_flushed_get_has_landed) {
  const int peer = ranks_ - 1;
  for (int i = 0; i < 1024; ++i) at(peer).memory[i] = static_cast<char>(i * 7);
  for (int round = 0; round < 30; ++round) {
    std::memset(at(0).memory + 4096, 0, 1024);
    proxy_get(device(0), get_request(peer, 0, 4096, 1024));
    ASSERT_TRUE(flush(0, peer));
    ASSERT_EQ(std::memcmp(at(0).memory + 4096, at(peer).memory, 1024), 0);
  }
}

TEST_P(ProxyStack, M6_out_of_range_is_named_and_writes_nothing) {
  const int peer = ranks_ - 1;
  std::memset(at(0).memory, 0x5A, 64);
  proxy_put(device(0), put_request(peer, 0, kBytes - 32, 33));
  world_.test_executor().run_until_idle();
  ASSERT_THAT(at(0).listener.errors, SizeIs(1));
  EXPECT_EQ(at(0).listener.errors[0].cause, AbortCause::kMisuse);
  EXPECT_THAT(at(0).listener.errors[0].message, HasSubstr("destination of 33 bytes at offset 65504 of window 1"));
  for (uint64_t i = kBytes - 32; i < kBytes; ++i) ASSERT_EQ(at(peer).memory[i], 0);
}

TEST_P(ProxyStack, P31_P32_nothing_to_a_failed_peer_completes) {
  const int peer = ranks_ - 1;
  at(0).backend->abort(AbortCause::kPeerDied, peer);
  proxy_put(device(0), with_counter(with_signal(put_request(peer, 0, 0, 8), 0, 1, true), 0));
  world_.test_executor().run_until_idle();
  EXPECT_EQ(value_of(proxy_counter_cell(device(0), 0)), 0u);
  EXPECT_EQ(value_of(proxy_signal_cell(device(peer), 0)), 0u);
  Rank named = -1;
  EXPECT_EQ(at(0).backend->last_error(&named).code(), Code::kRemoteError);
  EXPECT_EQ(named, peer);
}

std::vector<Arm> arms() {
  std::vector<Arm> all = {{Profile::kInorder, 1, 1},
                          {Profile::kInorder, 3, 1},
                          {Profile::kCx7, 3, 1},
                          {Profile::kSrd, 3, 1},
                          {Profile::kRelaxed, 1, 1}};
  for (uint64_t seed = 1; seed <= 8; ++seed) all.push_back({Profile::kRelaxed, 3, seed});
  return all;
}

INSTANTIATE_TEST_SUITE_P(Arms, ProxyStack, ::testing::ValuesIn(arms()), [](const auto& arm) {
  return std::string(name_of(arm.param.profile)) + "_ranks_" + std::to_string(arm.param.ranks) + "_seed_" +
         std::to_string(arm.param.seed);
});

}  // namespace
}  // namespace anygin::testing
