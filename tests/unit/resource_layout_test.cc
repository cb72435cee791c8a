// SPDX-License-Identifier: Apache-2.0
// Where the resources of a device communicator lie (contract 2.8.3, rules 14, 17, 18).
#include "anygin/comm/resource_layout.h"

#include <gtest/gtest.h>

namespace anygin::comm {
namespace {

TEST(ResourceLayout, NothingAskedForNeedsNoWindow) {
  const ResourceLayout layout = plan_resources({}, 0, 0, 16);
  EXPECT_EQ(layout.bytes, 0u);
  EXPECT_EQ(layout.signals, 0u);
  EXPECT_EQ(layout.counters, 0u);
  EXPECT_TRUE(layout.places.empty());
}

TEST(ResourceLayout, UserIdsComeFirstThenNodesInOrder) {
  const std::vector<ResourceNode> nodes = {{0, 1, 8, 0}, {100, 4, 0, 0}, {1, 256, 2, 3}, {0, 1, 0, 1}};
  const ResourceLayout layout = plan_resources(nodes, 5, 7, 4);
  ASSERT_EQ(layout.places.size(), 4u);
  EXPECT_EQ(layout.places[0].first_signal, 5u);
  EXPECT_EQ(layout.places[1].first_signal, 13u);
  EXPECT_EQ(layout.places[2].first_signal, 13u);
  EXPECT_EQ(layout.signals, 15u);
  EXPECT_EQ(layout.places[2].first_counter, 7u);
  EXPECT_EQ(layout.places[3].first_counter, 10u);
  EXPECT_EQ(layout.counters, 11u);
}

TEST(ResourceLayout, HandlesCountUnitsOf128Bytes) {
  const std::vector<ResourceNode> nodes = {{1, 1, 0, 0}, {128, 4, 0, 0}, {1, 1024, 0, 0}, {1, 16, 0, 0}};
  const ResourceLayout layout = plan_resources(nodes, 0, 0, 4);
  EXPECT_EQ(layout.places[0].handle, 0u);
  EXPECT_EQ(layout.places[1].handle, 1u);
  EXPECT_EQ(layout.places[2].handle, 8u);
  EXPECT_EQ(layout.places[3].handle, 9u);
  EXPECT_EQ(layout.bytes, 9u * 128 + 1);
}

TEST(ResourceLayout, OneShadowForEachContextAndSignal) {
  const ResourceLayout layout = plan_resources({{1, 1, 0, 0}}, 3, 0, 16);
  EXPECT_EQ(layout.shadows_offset, 128u);
  EXPECT_EQ(layout.bytes, 128u + 8 * 16 * 3);
}

TEST(ResourceLayout, LsaBarrierState) {
  EXPECT_EQ(lsa_barrier_bytes(0, 8), 0u);
  EXPECT_EQ(lsa_barrier_bytes(1, 1), 16u);
  EXPECT_EQ(lsa_barrier_bytes(16, 4), 16u * 7 * 4);
}

}  // namespace
}  // namespace anygin::comm
