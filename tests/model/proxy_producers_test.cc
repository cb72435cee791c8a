// SPDX-License-Identifier: Apache-2.0
// B7 of the scenarios: more producers than slots, as real threads over the real executor.
#include <gtest/gtest.h>

#include <map>
#include <thread>
#include <vector>

#include "unit/proxy_rig.h"

namespace anygin::testing {
namespace {

// Ends a wait that nothing can end, so that the test fails instead of hanging.
WaitOutcome flush_within(const DeviceContext& context, int peer, Time limit) {
  FlushRequest request;
  proxy_flush_async(context, peer, &request);
  return proxy_wait(context, request, world().clock.now() + limit);
}

TEST(ProxyProducers, B7_more_producers_than_slots_lose_and_repeat_nothing) {
  constexpr uint64_t kEach = 2000;
  for (const uint32_t depth_log2 : {0u, 1u, 2u}) {
    for (const size_t factor : {1u, 2u, 8u}) {
      SCOPED_TRACE(::testing::Message() << "depth " << (1u << depth_log2) << ", producers per slot " << factor);
      const size_t producers = factor << depth_log2;
      ProxyRig rig({2, 1, depth_log2});
      rig.transport.auto_complete = true;
      std::vector<std::thread> threads;
      const uint64_t each = kEach / producers;
      for (size_t producer = 0; producer < producers; ++producer) {
        threads.emplace_back([&rig, producer, each] {
          for (uint64_t i = 0; i < each; ++i) {
            PutRequest request = with_counter(put_request(1, 0, 0, 8), 0);
            request.is_inline = true;
            request.inline_value = (static_cast<uint64_t>(producer) << 32) | i;
            proxy_put(rig.context(), request);
          }
        });
      }
      for (std::thread& thread : threads) thread.join();
      ASSERT_EQ(flush_within(rig.context(), 1, 5 * kSecond), WaitOutcome::kSatisfied) << "flush of all producers";
      EXPECT_EQ(rig.counter(0), each * producers);
      ASSERT_EQ(rig.transport.posted.size(), each * producers);
      std::map<uint64_t, uint64_t> next;  // by producer: its own order is kept
      for (const Op& op : rig.transport.posted) {
        ASSERT_EQ(op.inline_value & 0xFFFFFFFF, next[op.inline_value >> 32]++)
            << "producer " << (op.inline_value >> 32);
      }
    }
  }
}

}  // namespace
}  // namespace anygin::testing
