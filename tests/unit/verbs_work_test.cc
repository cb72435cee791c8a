// SPDX-License-Identifier: Apache-2.0
// Which work requests an operation becomes.
#include "anygin/verbs/verbs_work.h"

#include <gtest/gtest.h>

#include <cstring>

namespace anygin::verbs {
namespace {

const WorkPlaces kPlaces{{0x1000, 11}, {0x2000, 22}, {0x3008, 33}, {0x4000, 44}};

Op put(uint64_t bytes) {
  Op op;
  op.kind = OpKind::kPut;
  op.bytes = bytes;
  return op;
}
Op with_signal(Op op, Strength strength) {
  op.signal = {true, strength, {}, 5};
  return op;
}

TEST(VerbsWork, a_put_is_a_signaled_write) {
  const WorkChain chain(put(100), kPlaces, false, 77);
  ASSERT_EQ(chain.count, 1u);
  const ibv_send_wr& write = chain.requests[0];
  EXPECT_EQ(write.opcode, IBV_WR_RDMA_WRITE);
  EXPECT_EQ(write.send_flags, unsigned{IBV_SEND_SIGNALED});
  EXPECT_EQ(write.wr_id, 77u);
  EXPECT_EQ(write.next, nullptr);
  EXPECT_EQ(write.wr.rdma.remote_addr, 0x2000u);
  EXPECT_EQ(write.wr.rdma.rkey, 22u);
  ASSERT_EQ(write.num_sge, 1);
  EXPECT_EQ(write.sg_list[0].addr, 0x1000u);
  EXPECT_EQ(write.sg_list[0].length, 100u);
  EXPECT_EQ(write.sg_list[0].lkey, 11u);
}

TEST(VerbsWork, P1_a_signal_is_chained_behind_its_payload_and_completes_for_both) {
  const WorkChain chain(with_signal(put(100), Strength::kStrong), kPlaces, false, 77);
  ASSERT_EQ(chain.count, 2u);
  EXPECT_EQ(chain.requests[0].opcode, IBV_WR_RDMA_WRITE);
  EXPECT_EQ(chain.requests[0].send_flags, 0u);
  EXPECT_EQ(chain.requests[0].next, &chain.requests[1]);
  const ibv_send_wr& add = chain.requests[1];
  EXPECT_EQ(add.opcode, IBV_WR_ATOMIC_FETCH_AND_ADD);
  EXPECT_EQ(add.send_flags, unsigned{IBV_SEND_SIGNALED});
  EXPECT_EQ(add.wr_id, 77u);
  EXPECT_EQ(add.wr.atomic.remote_addr, 0x3008u);
  EXPECT_EQ(add.wr.atomic.rkey, 33u);
  EXPECT_EQ(add.wr.atomic.compare_add, 5u);
  EXPECT_EQ(add.sg_list[0].addr, 0x4000u);
  EXPECT_EQ(add.sg_list[0].length, 8u);
  EXPECT_EQ(add.sg_list[0].lkey, 44u);
  EXPECT_EQ(add.next, nullptr);
}

TEST(VerbsWork, hints_mark_payload_and_weak_signals_and_only_where_the_NIC_takes_them) {
  const WorkChain weak(with_signal(put(8), Strength::kWeak), kPlaces, true, 0);
  EXPECT_EQ(weak.requests[0].send_flags, kSendMayPass);
  EXPECT_EQ(weak.requests[1].send_flags, kSendMayPass | IBV_SEND_SIGNALED);
  const WorkChain strong(with_signal(put(8), Strength::kStrong), kPlaces, true, 0);
  EXPECT_EQ(strong.requests[0].send_flags, kSendMayPass);
  EXPECT_EQ(strong.requests[1].send_flags, unsigned{IBV_SEND_SIGNALED});
  const WorkChain plain(with_signal(put(8), Strength::kWeak), kPlaces, false, 0);
  EXPECT_EQ(plain.requests[0].send_flags, 0u);
  EXPECT_EQ(plain.requests[1].send_flags, unsigned{IBV_SEND_SIGNALED});
}

TEST(VerbsWork, P7_a_value_travels_inline) {
  Op op = put(4);
  op.kind = OpKind::kPutInline;
  op.inline_value = 0x11223344;
  const WorkChain chain(op, kPlaces, false, 0);
  ASSERT_EQ(chain.count, 1u);
  EXPECT_EQ(chain.requests[0].send_flags, unsigned{IBV_SEND_INLINE} | IBV_SEND_SIGNALED);
  uint32_t value = 0;
  std::memcpy(&value, reinterpret_cast<const void*>(chain.requests[0].sg_list[0].addr), 4);
  EXPECT_EQ(value, 0x11223344u);
  EXPECT_EQ(chain.requests[0].sg_list[0].length, 4u);
}

TEST(VerbsWork, P6_a_put_of_no_bytes_is_its_signal_or_an_empty_write) {
  const WorkChain signal(with_signal(put(0), Strength::kStrong), kPlaces, true, 0);
  ASSERT_EQ(signal.count, 1u);
  EXPECT_EQ(signal.requests[0].opcode, IBV_WR_ATOMIC_FETCH_AND_ADD);
  const WorkChain empty(put(0), {}, true, 0);
  ASSERT_EQ(empty.count, 1u);
  EXPECT_EQ(empty.requests[0].opcode, IBV_WR_RDMA_WRITE);
  EXPECT_EQ(empty.requests[0].num_sge, 0);
  EXPECT_NE(empty.requests[0].send_flags & IBV_SEND_SIGNALED, 0u);
}

TEST(VerbsWork, a_get_reads_and_takes_no_hint) {
  Op op = put(16);
  op.kind = OpKind::kGet;
  const WorkChain chain(op, kPlaces, true, 0);
  ASSERT_EQ(chain.count, 1u);
  EXPECT_EQ(chain.requests[0].opcode, IBV_WR_RDMA_READ);
  EXPECT_EQ(chain.requests[0].send_flags, unsigned{IBV_SEND_SIGNALED});
  EXPECT_EQ(chain.requests[0].wr.rdma.remote_addr, 0x2000u);
  EXPECT_EQ(chain.requests[0].sg_list[0].addr, 0x1000u);
}

}  // namespace
}  // namespace anygin::verbs
