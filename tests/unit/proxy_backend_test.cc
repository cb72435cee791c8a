// SPDX-License-Identifier: Apache-2.0
// Windows, contexts and aborts of the host half, over a scripted transport.
#include "anygin/proxy/proxy_backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/world_fixture.h"
#include "unit/proxy_rig.h"

namespace anygin::testing {
namespace {

using proxy::ProxyBackend;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ProxyBackendTest : public WorldFixture {
 protected:
  // A communicator of one rank.
  std::unique_ptr<ProxyBackend> open() {
    auto scripted = std::make_unique<ScriptedTransport>(1);
    transport_ = scripted.get();
    return std::make_unique<ProxyBackend>(std::move(scripted),
                                          BackendOpening{group_.rank(0), listener_, &abort_word_, options_});
  }
  DeviceContext device(const ContextSet& contexts, uint32_t index) {
    return {0, 1, contexts.handle(), index, &abort_word_};
  }
  static ContextRequest request(uint32_t contexts, uint32_t signals, uint32_t counters, uint32_t depth) {
    return {contexts, signals, counters, depth, 0};
  }

  LocalBootstrapGroup group_{1};
  RecordingListener listener_;
  uint32_t abort_word_ = 0;
  Options options_;
  ScriptedTransport* transport_ = nullptr;
};

TEST_F(ProxyBackendTest, contexts_reach_the_transport_and_go_with_their_owner) {
  auto backend = open();
  ASSERT_TRUE(backend->register_window(WindowId(1), nullptr, 4096, false).ok());
  const size_t heap_before = world_.heap.allocated();
  auto first = backend->create_contexts(request(2, 10, 4, 8));
  auto second = backend->create_contexts(request(1, 3, 0, 8));
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_GE(world_.heap.allocated(), heap_before + (2 * 10 + 3) * 8);
  proxy_put(device(**first, 1), with_counter(with_signal(put_request(0, 0, 64, 8), 9, 1, true), 3));
  proxy_put(device(**second, 0), with_signal(put_request(0, 0, 64, 8), 2, 1, true));
  world_.test_executor().run_until_idle();
  ASSERT_THAT(transport_->posted, SizeIs(2));
  EXPECT_EQ(transport_->posted[0].context, 1u);
  EXPECT_EQ(transport_->posted[0].signal.cell.offset, (10u + 9u) * 8);
  EXPECT_EQ(transport_->posted[1].context, 2u);
  EXPECT_NE(transport_->posted[0].signal.cell.region, transport_->posted[1].signal.cell.region);
  EXPECT_TRUE(backend->busy());
  transport_->complete(2);
  world_.test_executor().run_until_idle();
  EXPECT_FALSE(backend->busy());
  const CellRef counter = proxy_counter_cell(device(**first, 1), 3);
  EXPECT_EQ(*counter.cell - *counter.base, 1u);

  *first = nullptr;
  EXPECT_THAT(transport_->open, ElementsAre(2));
  *second = nullptr;
  EXPECT_THAT(transport_->open, IsEmpty());
  EXPECT_EQ(world_.heap.allocated(), heap_before);
  EXPECT_THAT(transport_->regions, SizeIs(1));
  // The engine has forgotten them: their slots serve others.
  auto third = backend->create_contexts(request(3, 1, 1, 8));
  ASSERT_TRUE(third.ok());
  proxy_put(device(**third, 0), put_request(0, 0, 0, 8));
  world_.test_executor().run_until_idle();
  EXPECT_THAT(transport_->posted, SizeIs(3));
  transport_->complete(1);
  world_.test_executor().run_until_idle();
}

TEST_F(ProxyBackendTest, all_cells_are_zero_also_the_second_time) {
  auto backend = open();
  for (int round = 0; round < 2; ++round) {
    auto contexts = backend->create_contexts(request(1, 4, 1, 8));
    ASSERT_TRUE(contexts.ok());
    for (uint32_t id = 0; id < 4; ++id) {
      const CellRef cell = proxy_signal_cell(device(**contexts, 0), id);
      EXPECT_EQ(*cell.cell, 0u);
      EXPECT_EQ(*cell.base, 0u);
      *cell.cell = 99;
    }
  }
}

TEST_F(ProxyBackendTest, a_window_is_a_region_until_it_is_deregistered) {
  auto backend = open();
  ASSERT_TRUE(backend->register_window(WindowId(5), nullptr, 100, true).ok());
  auto contexts = backend->create_contexts(request(1, 1, 1, 8));
  ASSERT_TRUE(contexts.ok());
  PutRequest put = put_request(0, 0, 0, 8);
  put.source_window = put.destination_window = WindowId(5);
  proxy_put(device(**contexts, 0), put);
  world_.test_executor().run_until_idle();
  EXPECT_THAT(transport_->posted, SizeIs(1));
  transport_->complete(1);
  backend->deregister_window(WindowId(5));
  proxy_put(device(**contexts, 0), put);
  world_.test_executor().run_until_idle();
  EXPECT_THAT(transport_->posted, SizeIs(1));
  ASSERT_THAT(listener_.errors, SizeIs(1));
  EXPECT_THAT(listener_.errors[0].message, HasSubstr("window 5 is not registered"));
}

TEST_F(ProxyBackendTest, R3_P15_what_cannot_be_granted_is_refused_with_the_limit) {
  auto backend = open();
  const auto refusal = [&](const ContextRequest& asked) {
    auto contexts = backend->create_contexts(asked);
    return contexts.ok() ? std::string("granted") : contexts.status().detail();
  };
  EXPECT_EQ(refusal(request(1, proxy::kSignalsMax, 0, 8)), "granted");
  EXPECT_EQ(refusal(request(1, proxy::kSignalsMax + 1, 0, 8)),
            "signals per GIN context: 16777217 asked for, the proxy backend has at most 16777216");
  EXPECT_EQ(refusal(request(1, 0, proxy::kCountersMax, 8)), "granted");
  EXPECT_EQ(refusal(request(1, 0, proxy::kCountersMax + 1, 8)),
            "counters per GIN context: 16777217 asked for, the proxy backend has at most 16777216");
  EXPECT_EQ(refusal(request(1024, 1, 1, 1)), "granted");
  EXPECT_EQ(refusal(request(1025, 1, 1, 1)), "GIN contexts: 1025 asked for, the proxy backend has at most 1024");
  EXPECT_EQ(refusal(request(0, 1, 1, 1)), "GIN contexts: 0 asked for, at least 1 is needed");
  auto most = backend->create_contexts(request(1000, 1, 1, 1));
  ASSERT_TRUE(most.ok());
  EXPECT_EQ(refusal(request(25, 1, 1, 1)),
            "GIN contexts: 25 contexts asked for, but only 24 of the communicator's 1024 are free");
}

TEST_F(ProxyBackendTest, depth_is_a_power_of_two_that_the_NIC_can_and_the_queue_size_lowers) {
  const auto depth_of = [&](uint32_t asked) {
    auto backend = open();
    auto contexts = backend->create_contexts(request(1, 0, 0, asked));
    return 1u << static_cast<proxy::ContextView*>((*contexts)->handle())->depth_log2;
  };
  EXPECT_EQ(depth_of(0), 512u);
  EXPECT_EQ(depth_of(1), 1u);
  EXPECT_EQ(depth_of(100), 128u);
  options_.nccl_gin_proxy_queue_size = 64;
  EXPECT_EQ(depth_of(0), 64u);
  options_.nccl_gin_proxy_queue_size = 4096;
  EXPECT_EQ(depth_of(0), 512u);
  auto scripted = std::make_unique<ScriptedTransport>(1);
  scripted->depth_limit = 48;
  ProxyBackend backend(std::move(scripted), {group_.rank(0), listener_, &abort_word_, options_});
  EXPECT_EQ(backend.capabilities().depth_default, 32u);
}

TEST_F(ProxyBackendTest, P32_an_abort_fails_all_peers_and_the_first_reason_stays) {
  auto backend = open();
  auto contexts = backend->create_contexts(request(1, 1, 1, 8));
  ASSERT_TRUE(contexts.ok());
  EXPECT_TRUE(backend->last_error(nullptr).ok());
  backend->abort(AbortCause::kPeerDied, 0);
  backend->abort(AbortCause::kAborted, -1);
  Rank peer = -1;
  const Status error = backend->last_error(&peer);
  EXPECT_EQ(error.code(), Code::kRemoteError);
  EXPECT_EQ(error.message(), "GIN_ERR_PEER_DIED: GIN: rank 0: the rank died");
  EXPECT_EQ(peer, 0);
  EXPECT_THAT(transport_->failed_peers, ElementsAre(0));
  proxy_put(device(**contexts, 0), with_signal(put_request(0, 0, 0, 0), 0, 1, true));
  world_.test_executor().run_until_idle();
  EXPECT_THAT(transport_->posted, IsEmpty());
  EXPECT_FALSE(backend->busy());
}

TEST_F(ProxyBackendTest, capabilities_say_what_the_proxy_can) {
  auto backend = open();
  const BackendCapabilities capabilities = backend->capabilities();
  EXPECT_TRUE(capabilities.strong_signals && capabilities.va_signals && capabilities.get && capabilities.hints);
  EXPECT_FALSE(capabilities.flushes_all_puts_on_any_signal);
  EXPECT_EQ(capabilities.signals_max, 1u << 24);
  EXPECT_EQ(capabilities.counters_max, 1u << 24);
  EXPECT_EQ(capabilities.contexts_max, 1024u);
}

}  // namespace
}  // namespace anygin::testing
