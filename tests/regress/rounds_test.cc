// SPDX-License-Identifier: Apache-2.0
// A process that makes and destroys communicators for ever holds no more than after the first ones.
#include <gtest/gtest.h>

#include <sstream>
#include <string>
#include <vector>

#include "compile/command_runner.h"

namespace anygin {
namespace {

struct Held {
  long descriptors = 0, threads = 0, mappings = 0, heap_bytes = 0;
};

std::vector<Held> rounds(const std::string& environment, int count) {
  const CommandResult run = run_command("env " + environment + " " ANYGIN_ROUNDS " " + std::to_string(count), 18);
  EXPECT_EQ(run.code, 0) << run.output;
  std::vector<Held> all;
  std::istringstream lines(run.output);
  for (Held one; lines >> one.descriptors >> one.threads >> one.mappings >> one.heap_bytes;) all.push_back(one);
  return all;
}

class Rounds : public ::testing::TestWithParam<const char*> {};

TEST_P(Rounds, leave_nothing_behind) {
  constexpr size_t kWarm = 40, kAll = 140;
  constexpr long kLeastLeak = 96;  // bytes a round; tables that grow to their size are below it
  const std::vector<Held> held = rounds(GetParam(), kAll);
  ASSERT_EQ(held.size(), kAll);
  const Held &warm = held[kWarm - 1], &end = held.back();
  EXPECT_EQ(end.descriptors, warm.descriptors);
  EXPECT_EQ(end.threads, warm.threads);
  EXPECT_LT(end.mappings - warm.mappings, static_cast<long>(kAll - kWarm) / 10);  // the allocator's arenas may grow
  EXPECT_LT((end.heap_bytes - warm.heap_bytes) / static_cast<long>(kAll - kWarm), kLeastLeak);
}

INSTANTIATE_TEST_SUITE_P(Topologies, Rounds,
                         ::testing::Values("ANYGIN_TOPOLOGY=1x3", "ANYGIN_TOPOLOGY=3x1", "ANYGIN_PROFILE=inorder"));

}  // namespace
}  // namespace anygin
