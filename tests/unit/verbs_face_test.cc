// SPDX-License-Identifier: Apache-2.0
// The software HCA through its verbs face: one operation of each kind, states, limits, errors.
#include <cerrno>

#include "unit/emulated_ranks.h"

namespace anygin::testing {
namespace {

class VerbsFace : public WorldFixture {
 protected:
  std::vector<ibv_wc> wait(VerbsRank& rank, size_t count) { return wait_completions(world_, rank, count); }
};

TEST_F(VerbsFace, WriteReadAndAddReachThePeer) {
  EmulatedRanks ranks({});
  VerbsRank &a = ranks[0], &b = ranks[1];
  std::memcpy(a.memory, "0123456789abcdef", 16);
  Request write = Request::write(a, 0, 16, b, 100, 7);
  ASSERT_EQ(write.post(a.qps[1]), 0);
  const auto wrote = wait(a, 1);
  EXPECT_EQ(wrote[0].wr_id, 7u);
  EXPECT_EQ(wrote[0].status, IBV_WC_SUCCESS);
  EXPECT_EQ(wrote[0].opcode, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(std::string(b.memory + 100, 16), "0123456789abcdef");
  EXPECT_EQ(b.memory[116], 0);

  std::memcpy(b.memory + 200, "peer's bytes", 12);
  Request read = Request::read(a, 300, 12, b, 200, 8);
  ASSERT_EQ(read.post(a.qps[1]), 0);
  EXPECT_EQ(wait(a, 1)[0].opcode, IBV_WC_RDMA_READ);
  EXPECT_EQ(std::string(a.memory + 300, 12), "peer's bytes");

  const uint64_t start = ~uint64_t{0} - 1;
  std::memcpy(b.memory + 400, &start, 8);
  Request add = Request::add(a, 500, b, 400, 5, 9);
  ASSERT_EQ(add.post(a.qps[1]), 0);
  EXPECT_EQ(wait(a, 1)[0].opcode, IBV_WC_FETCH_ADD);
  EXPECT_EQ(b.word(400), 3u);
  EXPECT_EQ(a.word(500), start);
}

}  // namespace
}  // namespace anygin::testing
