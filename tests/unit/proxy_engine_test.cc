// SPDX-License-Identifier: Apache-2.0
// What the engine makes of descriptors and completions.
#include "anygin/proxy/proxy_engine.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/world_fixture.h"
#include "unit/proxy_rig.h"

namespace anygin::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class ProxyEngineTest : public WorldFixture {
 protected:
  void settle() { world_.test_executor().run_until_idle(); }
};

TEST_F(ProxyEngineTest, a_put_with_actions_becomes_one_operation) {
  ProxyRig rig({});
  PutRequest request = with_counter(with_signal(put_request(1, 64, 128, 32), 3, 7, true), 5);
  int here = 0;
  request.call_site = &here;
  proxy_put(rig.context(), request);
  settle();
  ASSERT_THAT(rig.transport.posted, SizeIs(1));
  const Op& op = rig.transport.posted[0];
  EXPECT_EQ(op.kind, OpKind::kPut);
  EXPECT_EQ(op.context, ProxyRig::kFirstContext);
  EXPECT_EQ(op.peer, 1);
  EXPECT_EQ(op.local.region, 1u);
  EXPECT_EQ(op.local.offset, 64u);
  EXPECT_EQ(op.remote.region, 1u);
  EXPECT_EQ(op.remote.offset, 128u);
  EXPECT_EQ(op.bytes, 32u);
  EXPECT_TRUE(op.signal.present);
  EXPECT_EQ(op.signal.strength, Strength::kStrong);
  EXPECT_EQ(op.signal.cell.region, ProxyRig::kSignalRegion);
  EXPECT_EQ(op.signal.cell.offset, 3u * 8);
  EXPECT_EQ(op.signal.add, 7u);
  EXPECT_EQ(op.call_site, &here);
}

TEST_F(ProxyEngineTest, weak_inline_and_window_signals_keep_what_they_are) {
  ProxyRig rig({});
  PutRequest value = with_signal(put_request(1, 0, 16, 4), 1, 1, false);
  value.is_inline = true;
  value.inline_value = 0xDEADBEEF;
  proxy_put(rig.context(), value);
  PutRequest window = put_request(0, 0, 0, 0);
  window.signal = {SignalTarget::kWindow, true, 0, WindowId(2), 4096, 9};
  proxy_put(rig.context(), window);
  settle();
  ASSERT_THAT(rig.transport.posted, SizeIs(2));
  const Op& first = rig.transport.posted[0];
  EXPECT_EQ(first.peer, 0);  // rings are read in the order of peers
  EXPECT_EQ(first.bytes, 0u);
  EXPECT_EQ(first.signal.cell.region, 2u);
  EXPECT_EQ(first.signal.cell.offset, 4096u);
  EXPECT_EQ(first.signal.add, 9u);
  const Op& second = rig.transport.posted[1];
  EXPECT_EQ(second.kind, OpKind::kPutInline);
  EXPECT_EQ(second.inline_value, 0xDEADBEEFu);
  EXPECT_EQ(second.bytes, 4u);
  EXPECT_EQ(second.remote.offset, 16u);
  EXPECT_EQ(second.signal.strength, Strength::kWeak);
}

TEST_F(ProxyEngineTest, an_engine_that_nobody_rings_looks_at_every_ring) {
  ProxyRig rig({3, 2, 2, 8, 8, false});
  EXPECT_TRUE(rig.engine->has_work()) << "it has contexts to look at";
  EXPECT_FALSE(rig.engine->busy());
  for (uint32_t lap = 0; lap < 3; ++lap) {
    for (const int peer : {2, 0}) {
      for (const uint32_t context : {1u, 0u}) {
        for (uint32_t i = 0; i < 4; ++i) proxy_put(rig.context(context), put_request(peer, i, i, 1));
      }
    }
    EXPECT_TRUE(rig.engine->busy()) << "published, though nobody says how many were claimed";
    settle();
    EXPECT_THAT(rig.transport.posted, SizeIs(16 * (lap + 1)));
    EXPECT_TRUE(rig.engine->busy()) << "at the NIC";
    rig.transport.complete(16);
    settle();
    EXPECT_FALSE(rig.engine->busy());
  }
}

TEST_F(ProxyEngineTest, a_get_reads_the_peer) {
  ProxyRig rig({});
  proxy_get(rig.context(), get_request(1, 256, 512, 8));
  proxy_get(rig.context(), get_request(1, 256, 512, 0));
  settle();
  ASSERT_THAT(rig.transport.posted, SizeIs(1));
  EXPECT_EQ(rig.transport.posted[0].kind, OpKind::kGet);
  EXPECT_EQ(rig.transport.posted[0].remote.offset, 256u);
  EXPECT_EQ(rig.transport.posted[0].local.offset, 512u);
}

// F7 of the scenarios: an encoding must not look like an empty slot.
TEST_F(ProxyEngineTest, F7_a_put_of_nothing_at_offset_0_performs_its_actions_once) {
  ProxyRig rig({});
  rig.transport.auto_complete = true;
  PutRequest nothing;
  nothing.peer = 1;
  proxy_put(rig.context(), nothing);
  settle();
  EXPECT_THAT(rig.transport.posted, IsEmpty());
  proxy_put(rig.context(), with_counter(with_signal(nothing, 0, 1, false), 0));
  settle();
  ASSERT_THAT(rig.transport.posted, SizeIs(1));
  EXPECT_TRUE(rig.transport.posted[0].signal.present);
  EXPECT_EQ(rig.counter(0), 1u);
  settle();
  EXPECT_THAT(rig.transport.posted, SizeIs(1));
}

TEST_F(ProxyEngineTest, P12_a_counter_counts_local_completions_and_nothing_else) {
  ProxyRig rig({});
  proxy_put(rig.context(), with_counter(put_request(1, 0, 0, 8), 2));
  proxy_put(rig.context(), put_request(1, 0, 0, 8));
  proxy_put(rig.context(), with_counter(put_request(1, 0, 0, 8), 2));
  settle();
  ASSERT_THAT(rig.transport.posted, SizeIs(3));
  EXPECT_EQ(rig.counter(2), 0u);
  EXPECT_EQ(rig.consumed(1), 0u);
  rig.transport.complete(1);
  settle();
  EXPECT_EQ(rig.counter(2), 1u);
  EXPECT_EQ(rig.consumed(1), 1u);
  rig.transport.complete(1);
  settle();
  EXPECT_EQ(rig.counter(2), 1u);
  rig.transport.complete(1);
  settle();
  EXPECT_EQ(rig.counter(2), 2u);
  EXPECT_EQ(rig.consumed(1), 3u);
}

TEST_F(ProxyEngineTest, P10_P11_flush_waits_for_what_was_posted_before_and_for_no_more) {
  ProxyRig rig({3});
  const auto done = [&](const FlushRequest& request) {
    return proxy_wait(rig.context(), request, world().clock.now()) == WaitOutcome::kSatisfied;
  };
  proxy_put(rig.context(), put_request(1, 0, 0, 8));
  proxy_put(rig.context(), put_request(2, 0, 0, 8));
  proxy_get(rig.context(), get_request(1, 0, 0, 8));
  FlushRequest to_1;
  proxy_flush_async(rig.context(), 1, &to_1);
  for (int i = 0; i < 5; ++i) proxy_put(rig.context(), put_request(1, 0, 0, 8));
  settle();
  EXPECT_FALSE(done(to_1));
  rig.transport.complete_queue(ProxyRig::kFirstContext, 2);
  rig.transport.complete_queue(ProxyRig::kFirstContext, 1);
  settle();
  EXPECT_FALSE(done(to_1)) << "the get is not complete";
  rig.transport.complete_queue(ProxyRig::kFirstContext, 1);
  settle();
  EXPECT_TRUE(done(to_1));
  EXPECT_TRUE(rig.flushed(2));
  EXPECT_FALSE(rig.flushed(1)) << "five puts are in flight";
}

TEST_F(ProxyEngineTest, contexts_and_peers_have_rings_of_their_own) {
  ProxyRig rig({3, 2});
  proxy_put(rig.context(1), with_counter(put_request(2, 0, 0, 8), 0));
  proxy_put(rig.context(0), with_counter(with_signal(put_request(1, 0, 0, 8), 7, 1, true), 0));
  settle();
  ASSERT_THAT(rig.transport.posted, SizeIs(2));
  EXPECT_EQ(rig.transport.posted[0].context, ProxyRig::kFirstContext);
  EXPECT_EQ(rig.transport.posted[0].peer, 1);
  EXPECT_EQ(rig.transport.posted[1].context, ProxyRig::kFirstContext + 1);
  EXPECT_EQ(rig.transport.posted[1].peer, 2);
  rig.transport.complete_queue(ProxyRig::kFirstContext + 1, 2);
  settle();
  EXPECT_EQ(rig.counter(0, 0), 0u);
  EXPECT_EQ(rig.counter(0, 1), 1u);
}

TEST_F(ProxyEngineTest, R4_ids_beyond_16_bits_are_ids) {
  ProxyRig rig({2, 2, 4, 65'537, 65'537});
  rig.transport.auto_complete = true;
  proxy_put(rig.context(1), with_counter(with_signal(put_request(1, 0, 0, 0), 65'536, 1, true), 65'536));
  settle();
  ASSERT_THAT(rig.transport.posted, SizeIs(1));
  EXPECT_EQ(rig.transport.posted[0].signal.cell.offset, (65'537u + 65'536u) * 8);
  EXPECT_EQ(rig.counter(65'536, 1), 1u);
  EXPECT_EQ(rig.counter(0, 1), 0u);
  EXPECT_EQ(rig.counter(65'536, 0), 0u);
}

TEST_F(ProxyEngineTest, P29_a_put_beyond_1_GiB_is_cut_and_only_its_last_piece_acts) {
  ProxyRig rig({2, 1, 1});
  rig.transport.auto_complete = true;
  const uint64_t bytes = 3 * proxy::kGfdBytesMax + 5;
  proxy_put(rig.context(), with_counter(with_signal(put_request(1, 1000, 2000, bytes), 1, 1, false), 1));
  settle();
  ASSERT_THAT(rig.transport.posted, SizeIs(4));
  for (size_t i = 0; i < 4; ++i) {
    const Op& op = rig.transport.posted[i];
    EXPECT_EQ(op.bytes, i < 3 ? proxy::kGfdBytesMax : 5);
    EXPECT_EQ(op.local.offset, 1000 + i * proxy::kGfdBytesMax);
    EXPECT_EQ(op.remote.offset, 2000 + i * proxy::kGfdBytesMax);
    EXPECT_EQ(op.signal.present, i == 3);
  }
  // Weak would promise the last piece only.
  EXPECT_EQ(rig.transport.posted[3].signal.strength, Strength::kStrong);
  EXPECT_EQ(rig.counter(1), 1u);
  rig.transport.posted.clear();
  proxy_get(rig.context(), get_request(1, 0, 0, proxy::kGfdBytesMax));
  proxy_get(rig.context(), get_request(1, 0, 0, proxy::kGfdBytesMax + 1));
  settle();
  ASSERT_THAT(rig.transport.posted, SizeIs(3));
  EXPECT_EQ(rig.transport.posted[2].bytes, 1u);
}

TEST_F(ProxyEngineTest, P14_reset_counts_from_zero_and_loses_nothing) {
  ProxyRig rig({});
  rig.transport.auto_complete = true;
  for (int i = 0; i < 5; ++i) proxy_put(rig.context(), with_counter(put_request(1, 0, 0, 8), 4));
  settle();
  EXPECT_EQ(rig.counter(4), 5u);
  proxy_reset_counter(rig.context(), 4);
  EXPECT_EQ(rig.counter(4), 0u);
  proxy_put(rig.context(), with_counter(put_request(1, 0, 0, 8), 4));
  settle();
  EXPECT_EQ(rig.counter(4), 1u);

  const CellRef signal = proxy_signal_cell(rig.context(), 6);
  rig.signals[6] = ~uint64_t{0} - 1;
  proxy_reset_signal(rig.context(), 6);
  EXPECT_EQ(*signal.cell - *signal.base, 0u);
  rig.signals[6] += 5;  // across the wrap
  EXPECT_EQ(*signal.cell - *signal.base, 5u);
}

// --- Backpressure
// ------------------------------------------------------------------------------------------------------

TEST_F(ProxyEngineTest, B2_B3_P33_a_full_ring_delays_and_drops_nothing) {
  for (const uint32_t depth_log2 : {0u, 1u, 2u, 3u, 7u}) {
    SCOPED_TRACE(depth_log2);
    ProxyRig rig({2, 1, depth_log2});
    const uint32_t depth = 1u << depth_log2;
    for (uint32_t i = 0; i < depth; ++i) proxy_put(rig.context(), put_request(1, i, i, 1));
    settle();
    EXPECT_EQ(rig.transport.flying(), depth);
    // The next one finds no credit until something completes: waiting for it steps the engine.
    rig.transport.complete(1);
    for (uint32_t i = depth; i < depth + 40; ++i) {
      proxy_put(rig.context(), put_request(1, i, i, 1));
      settle();
      EXPECT_EQ(rig.transport.flying(), depth);
      rig.transport.complete(1);
    }
    ASSERT_THAT(rig.transport.posted, SizeIs(depth + 40));
    for (uint32_t i = 0; i < depth + 40; ++i) EXPECT_EQ(rig.transport.posted[i].local.offset, i);
  }
}

TEST_F(ProxyEngineTest, P33_without_credit_a_producer_waits) {
  ProxyRig rig({2, 1, 1});
  proxy_put(rig.context(), put_request(1, 0, 0, 1));
  proxy_put(rig.context(), put_request(1, 1, 1, 1));
  settle();
  // Aborted while it waits: the descriptor is not written, the slots in flight are untouched.
  rig.abort_word = static_cast<uint32_t>(AbortCause::kAborted);
  proxy_put(rig.context(), put_request(1, 2, 2, 1));
  EXPECT_EQ(rig.produced(1), 3u);
  const proxy::ContextView& view = rig.memory->view(0);
  const uint32_t slot = proxy::slot_of(proxy::RingIndex(proxy::kFirstIndex) + 2, 1);
  EXPECT_EQ(proxy::decode_gfd(view.rings[(1u << 1) + slot].words).local.offset, 0u) << "an operation in flight owns it";
  rig.transport.complete(2);
  settle();
  EXPECT_THAT(rig.transport.posted, SizeIs(2));
  EXPECT_EQ(rig.consumed(1), 2u);
}

TEST_F(ProxyEngineTest, B5_a_full_window_at_the_NIC_blocks_one_peer_and_resumes) {
  ProxyRig rig({3, 1, 6});
  rig.transport.room = 2;
  for (uint64_t i = 0; i < 10; ++i) proxy_put(rig.context(), put_request(1, i, i, 1));
  settle();
  EXPECT_THAT(rig.transport.posted, SizeIs(2));
  EXPECT_FALSE(rig.engine->has_work()) << "nothing to do before a completion";
  proxy_put(rig.context(), put_request(2, 0, 0, 1));
  settle();
  EXPECT_THAT(rig.transport.posted, SizeIs(3)) << "the other peer has room";
  for (size_t done = 1; done <= 8; ++done) {
    rig.transport.complete_queue(ProxyRig::kFirstContext, 1);
    settle();
    EXPECT_THAT(rig.transport.posted, SizeIs(3 + done));
  }
}

// F10 of the scenarios: gets and puts mixed, more than the depth, then flush, many times.
TEST_F(ProxyEngineTest, F10_gets_and_puts_mixed_and_flushed_many_times) {
  ProxyRig rig({2, 1, 3});
  rig.transport.auto_complete = true;
  uint32_t submitted = 0;
  for (int round = 0; round < 100; ++round) {
    for (int i = 0; i < 20; ++i, ++submitted) {
      if (i % 3 == 0) {
        proxy_get(rig.context(), get_request(1, submitted, 0, 1));
      } else {
        proxy_put(rig.context(), put_request(1, 0, submitted, 1));
      }
    }
    FlushRequest request;
    proxy_flush_async(rig.context(), 1, &request);
    ASSERT_EQ(proxy_wait(rig.context(), request, kNever), WaitOutcome::kSatisfied);
    ASSERT_EQ(rig.consumed(1), submitted);
  }
  ASSERT_THAT(rig.transport.posted, SizeIs(submitted));
  for (uint32_t i = 0; i < submitted; ++i) {
    EXPECT_EQ(rig.transport.posted[i].remote.offset, i);
    EXPECT_EQ(rig.transport.posted[i].kind, i % 20 % 3 == 0 ? OpKind::kGet : OpKind::kPut);
  }
}

// --- Failure
// -----------------------------------------------------------------------------------------------------------

TEST_F(ProxyEngineTest, P31_a_failed_operation_is_never_reported_as_done) {
  ProxyRig rig({3});
  for (uint32_t i = 0; i < 3; ++i) proxy_put(rig.context(), with_counter(put_request(1, 0, 0, 8), i));
  proxy_put(rig.context(), with_counter(put_request(2, 0, 0, 8), 7));
  settle();
  rig.transport.complete_queue(ProxyRig::kFirstContext, 1);
  rig.transport.fail_queue(ProxyRig::kFirstContext, 1, "transport retry counter exceeded");
  rig.transport.fail_queue(ProxyRig::kFirstContext, 1, "work request flushed");
  settle();
  EXPECT_EQ(rig.counter(0), 1u);
  EXPECT_EQ(rig.counter(1), 0u);
  EXPECT_EQ(rig.counter(2), 0u);
  EXPECT_EQ(rig.consumed(1), 1u);
  EXPECT_FALSE(rig.flushed(1));
  rig.transport.fail_queue(ProxyRig::kFirstContext, 2, "work request flushed");
  settle();
  EXPECT_EQ(rig.counter(7), 0u);
  ASSERT_THAT(rig.listener.errors, SizeIs(1)) << "the first error tells why; what it flushed does not";
  EXPECT_EQ(rig.listener.errors[0].cause, AbortCause::kNicError);
  EXPECT_EQ(rig.listener.errors[0].peer, 1);
  EXPECT_THAT(rig.listener.errors[0].message, HasSubstr("transport retry counter exceeded"));
  Rank peer = -1;
  EXPECT_EQ(rig.engine->last_error(&peer).code(), Code::kRemoteError);
  EXPECT_EQ(peer, 1);
  // The context stays poisoned: nothing more is posted, to nobody.
  proxy_put(rig.context(), put_request(2, 0, 0, 8));
  settle();
  EXPECT_THAT(rig.transport.posted, SizeIs(4));
  EXPECT_FALSE(rig.engine->has_work());
  EXPECT_FALSE(rig.engine->busy());
}

TEST_F(ProxyEngineTest, M6_what_is_out_of_range_is_named_and_reaches_no_NIC) {
  struct Case {
    const char* what;
    PutRequest wrong, right;
  };
  const uint64_t size = ProxyRig::kWindowBytes;
  PutRequest no_window = put_request(1, 0, 0, 8);
  no_window.destination_window = WindowId(77);
  PutRequest relaxed = put_request(1, 0, 0, 0);
  relaxed.signal = {SignalTarget::kWindow, true, 0, WindowId(1), 0, 1};
  PutRequest strict = relaxed;
  strict.signal.window = WindowId(2);
  PutRequest odd = strict;
  odd.signal.offset = 4;
  PutRequest even = strict;
  even.signal.offset = 8;
  const Case cases[] = {
      {"destination of 32 bytes at offset 17592186044406 of window 1: rank 1 registered 17592186044416 bytes",
       put_request(1, 0, size - 10, 32), put_request(1, 0, size - 32, 32)},
      {"source of 32 bytes at offset 17592186044406 of window 1: rank 0 registered", put_request(1, size - 10, 0, 32),
       put_request(1, size - 32, 0, 32)},
      {"destination window 77 is not registered", no_window, put_request(1, 0, 0, 8)},
      {"signal 8 does not exist, there are 8", with_signal(put_request(1, 0, 0, 8), 8, 1, true),
       with_signal(put_request(1, 0, 0, 8), 7, 1, true)},
      {"counter 8 does not exist, there are 8", with_counter(put_request(1, 0, 0, 8), 8),
       with_counter(put_request(1, 0, 0, 8), 7)},
      {"window 1, which was not registered with strict ordering", relaxed, strict},
      {"signal offset 4 is not a multiple of 8 bytes", odd, even}};
  for (const Case& c : cases) {
    SCOPED_TRACE(c.what);
    ProxyRig rig({});
    proxy_put(rig.context(), c.right);
    settle();
    EXPECT_THAT(rig.transport.posted, SizeIs(1));
    EXPECT_THAT(rig.listener.errors, IsEmpty());
    proxy_put(rig.context(), c.wrong);
    settle();
    EXPECT_THAT(rig.transport.posted, SizeIs(1));
    ASSERT_THAT(rig.listener.errors, SizeIs(1));
    EXPECT_EQ(rig.listener.errors[0].cause, AbortCause::kMisuse);
    EXPECT_THAT(rig.listener.errors[0].message, HasSubstr(c.what));
  }
}

// --- The seam
// ----------------------------------------------------------------------------------------------------------

TEST_F(ProxyEngineTest, reports_and_trace_name_what_is_under_way) {
  ProxyRig rig({});
  rig.transport.room = 1;
  proxy_put(rig.context(), with_signal(put_request(1, 0, 0, 48), 2, 1, false));
  proxy_put(rig.context(), put_request(1, 0, 0, 8));
  settle();
  std::vector<std::string> lines;
  rig.engine->describe_pending(lines);
  ASSERT_THAT(lines, SizeIs(2));
  EXPECT_THAT(lines[0], HasSubstr("proxy rank 0 context 0 to rank 1: 1 at the NIC, 1 in the ring; oldest: put of 48 "
                                  "bytes, weak signal 2 += 1"));
  EXPECT_EQ(lines[1], "scripted: 48 bytes");
  rig.transport.auto_complete = true;
  rig.transport.complete(1);
  settle();
  const auto decoded = world_.recorder().events_of(TraceKind::kDecode);
  ASSERT_THAT(decoded, SizeIs(2));
  EXPECT_EQ(decoded[0].bytes, 48u);
  EXPECT_EQ(decoded[1].operation, uint64_t{proxy::kFirstIndex} + 1);
  EXPECT_THAT(world_.recorder().events_of(TraceKind::kPost), SizeIs(2));
  EXPECT_THAT(world_.recorder().events_of(TraceKind::kLocalDone), SizeIs(2));
}

TEST_F(ProxyEngineTest, each_action_is_one_descriptor_and_names_what_it_touches) {
  ProxyRig rig({3});
  for (int i = 0; i < 4; ++i) proxy_put(rig.context(), put_request(2, 0, 0, 8));
  proxy_put(rig.context(), put_request(1, 0, 0, 8));
  ActionList actions(0, true);
  rig.engine->ready(actions);
  ASSERT_EQ(actions.size(), 2u);
  EXPECT_EQ(actions[0].name, 1u);
  EXPECT_EQ(actions[1].name, 2u);
  ASSERT_THAT(actions[1].footprint, SizeIs(2));
  EXPECT_EQ(actions[1].footprint[0].bytes, 64u);
  rig.engine->run(actions[1], 0);
  EXPECT_THAT(rig.transport.posted, SizeIs(1));
}

TEST_F(ProxyEngineTest, slots_are_limited_and_come_back) {
  ProxyRig rig({});
  auto rest = rig.engine->reserve_slots(proxy::ProxyEngine::kContextsMax - 1);
  ASSERT_TRUE(rest.ok());
  EXPECT_EQ(rig.engine->reserve_slots(1).status().code(), Code::kInvalidUsage);
  rig.engine->release_slots({(*rest)[5]});
  EXPECT_THAT(*rig.engine->reserve_slots(1), ElementsAre((*rest)[5]));
}

}  // namespace
}  // namespace anygin::testing
