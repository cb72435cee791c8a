// SPDX-License-Identifier: Apache-2.0
// Rings against a queue of the standard library: random producers, decodes and completions, across the wrap of the
// index, at tiny depths.
#include <gtest/gtest.h>

#include <deque>

#include "support/world_fixture.h"
#include "unit/proxy_rig.h"

namespace anygin::testing {
namespace {

// What the reference knows of one (context, peer): values posted and not yet at the NIC, and how many are there.
struct Reference {
  std::deque<uint64_t> in_ring;
  size_t at_nic = 0;
};

class ProxyRingModel : public ::testing::TestWithParam<uint32_t> {};

constexpr int kRanks = 3;
constexpr uint32_t kContexts = 2;

// Puts `value` into ring `ring`, waiting for credit if it must.
void produce(ProxyRig& rig, size_t ring, uint64_t value) {
  PutRequest request = with_counter(put_request(static_cast<int>(ring % kRanks), 0, 0, 8), 0);
  request.is_inline = true;
  request.inline_value = value;
  proxy_put(rig.context(static_cast<uint32_t>(ring / kRanks)), request);
}

TEST_P(ProxyRingModel, what_goes_in_comes_out_once_and_in_order) {
  const uint32_t depth = 1u << GetParam();
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed << " depth " << depth);
    TestWorld world(seed);
    ProxyRig rig({kRanks, kContexts, GetParam()});
    rig.transport.room = 1 + static_cast<uint32_t>(world.choices.pick_below(ChoiceKind::kDelay, depth));
    Reference reference[kRanks * kContexts];
    uint64_t next_value = 1;
    size_t seen = 0, completed = 0;
    const auto check_posted = [&] {
      for (; seen < rig.transport.posted.size(); ++seen) {
        const Op& op = rig.transport.posted[seen];
        const size_t ring = size_t{op.context - ProxyRig::kFirstContext} * kRanks + static_cast<size_t>(op.peer);
        ASSERT_LT(ring, std::size(reference));
        ASSERT_FALSE(reference[ring].in_ring.empty()) << "an operation that nobody posted";
        ASSERT_EQ(op.inline_value, reference[ring].in_ring.front());
        reference[ring].in_ring.pop_front();
        ++reference[ring].at_nic;
      }
    };
    for (int turn = 0; turn < 600; ++turn) {
      const size_t ring = world.choices.pick_below(ChoiceKind::kEngineOrder, std::size(reference));
      switch (world.choices.pick_below(ChoiceKind::kLaneOrder, 4)) {
        case 0:
        case 1:
          if (reference[ring].in_ring.size() + reference[ring].at_nic < depth) {
            reference[ring].in_ring.push_back(next_value);
            produce(rig, ring, next_value++);
          }
          break;
        case 2:
          world.step_once();
          break;
        case 3:
          if (reference[ring].at_nic > 0) {
            rig.transport.complete_queue(ProxyRig::kFirstContext + static_cast<uint32_t>(ring / kRanks),
                                         static_cast<Rank>(ring % kRanks));
            --reference[ring].at_nic;
            ++completed;
            world.test_executor().run_until_idle();
          }
          break;
      }
      check_posted();
      if (HasFatalFailure()) return;
    }
    rig.transport.auto_complete = true;
    while (rig.transport.flying() > 0) {
      rig.transport.complete(rig.transport.flying());
      world.test_executor().run_until_idle();
    }
    check_posted();
    for (const Reference& left : reference) EXPECT_TRUE(left.in_ring.empty());
    EXPECT_EQ(rig.transport.posted.size(), next_value - 1);
    EXPECT_EQ(rig.counter(0, 0) + rig.counter(0, 1), next_value - 1);
  }
}

// As many laps as a tag can tell apart, and more: a slot's old tag is never taken for a new one.
TEST_P(ProxyRingModel, many_laps) {
  TestWorld world;
  ProxyRig rig({2, 1, GetParam()});
  rig.transport.auto_complete = true;
  const uint64_t count = (uint64_t{300} << GetParam()) + 40;
  for (uint64_t value = 0; value < count; ++value) {
    PutRequest request = put_request(1, 0, 0, 8);
    request.is_inline = true;
    request.inline_value = value;
    proxy_put(rig.context(), request);
    if (value % 7 == 0) world.test_executor().run_until_idle();
  }
  world.test_executor().run_until_idle();
  ASSERT_EQ(rig.transport.posted.size(), count);
  for (uint64_t value = 0; value < count; ++value) ASSERT_EQ(rig.transport.posted[value].inline_value, value);
  EXPECT_EQ(rig.consumed(1), count);
  EXPECT_FALSE(rig.engine->has_work());
}

INSTANTIATE_TEST_SUITE_P(Depths, ProxyRingModel, ::testing::Values(0u, 1u, 2u, 3u));

}  // namespace
}  // namespace anygin::testing
