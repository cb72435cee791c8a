// SPDX-License-Identifier: Apache-2.0
// The transport over a device that takes notes: connections, keys, completions, failures.
#include "anygin/verbs/verbs_transport.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "anygin/verbs/rdma_core.h"
#include "support/reaches.h"
#include "support/world_fixture.h"
#include "unit/fake_verbs.h"

namespace anygin::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;
using verbs::VerbsTransport;

class FakeNic final : public verbs::Nic {
 public:
  explicit FakeNic(FakeVerbs& verbs) : verbs_(verbs) {}
  const verbs::VerbsTable& table() const override { return verbs_.table(); }

 private:
  FakeVerbs& verbs_;
};

class VerbsTransportTest : public WorldFixture {
 protected:
  // One transport a rank; every rank's call must succeed.
  void open(int ranks) {
    group_ = std::make_unique<LocalBootstrapGroup>(ranks);
    transports_.resize(static_cast<size_t>(ranks));
    group_->run_on_all([&](int rank) {
      auto opened = VerbsTransport::open(std::make_unique<FakeNic>(verbs_), group_->rank(rank));
      ASSERT_TRUE(opened.ok()) << opened.status().message();
      transports_[static_cast<size_t>(rank)] = std::move(*opened);
    });
  }
  void open_contexts(uint32_t count, uint32_t depth) {
    group_->run_on_all([&](int rank) {
      const Result<uint32_t> first = at(rank).open_contexts(count, depth, 0);
      ASSERT_TRUE(first.ok()) << first.status().message();
      ASSERT_EQ(*first, 0u);
    });
  }
  // Ranks register pieces of `memory_`, each of its own size.
  uint32_t register_region(const std::vector<uint64_t>& bytes) {
    uint32_t id = 0;
    group_->run_on_all([&](int rank) {
      const uint64_t size = bytes[static_cast<size_t>(rank)];
      const Result<uint32_t> region =
          at(rank).register_region({size == 0 ? nullptr : memory_ + rank * 1000, size, false});
      ASSERT_TRUE(region.ok()) << region.status().message();
      if (rank == 0) id = *region;
    });
    return id;
  }
  Transport& at(int rank) { return *transports_[static_cast<size_t>(rank)]; }
  Op op(uint64_t cookie, Rank peer, uint32_t region) {
    Op result;
    result.cookie = cookie;
    result.peer = peer;
    result.local = {region, 0};
    result.remote = {region, 8};
    result.bytes = 16;
    return result;
  }
  // The pair of `rank` whose request carried the rkey-address of `peer`: found by what was posted last.
  FakePair& pair_that_posted(size_t requests) {
    for (const uint32_t number : verbs_.pair_numbers()) {
      if (verbs_.pair(number).posted.size() == requests) return verbs_.pair(number);
    }
    ADD_FAILURE() << "no queue pair has " << requests << " requests";
    return verbs_.pair(verbs_.pair_numbers().front());
  }
  std::vector<OpCompletion> poll(Transport& transport) {
    std::vector<OpCompletion> all(32);
    all.resize(transport.poll(all));
    return all;
  }

  alignas(4096) char memory_[4096] = {};
  FakeVerbs verbs_;
  std::unique_ptr<LocalBootstrapGroup> group_;
  std::vector<std::unique_ptr<Transport>> transports_;
};

TEST_F(VerbsTransportTest, every_queue_pair_meets_its_other_end) {
  open(3);
  open_contexts(2, 4);
  // 3 ranks x 2 contexts x 3 peers, oneself included.
  const std::vector<uint32_t> numbers = verbs_.pair_numbers();
  ASSERT_THAT(numbers, SizeIs(18));
  size_t to_self = 0;
  for (const uint32_t number : numbers) {
    const FakePair& pair = verbs_.pair(number);
    ASSERT_THAT(pair.steps, SizeIs(3));
    EXPECT_EQ(pair.steps[0].qp_state, IBV_QPS_INIT);
    EXPECT_EQ(pair.steps[1].qp_state, IBV_QPS_RTR);
    EXPECT_EQ(pair.steps[2].qp_state, IBV_QPS_RTS);
    const FakePair& other = verbs_.pair(pair.steps[1].dest_qp_num);
    EXPECT_EQ(other.steps[1].dest_qp_num, number);
    EXPECT_EQ(pair.steps[1].rq_psn, other.steps[2].sq_psn);
    EXPECT_EQ(pair.steps[1].ah_attr.grh.dgid.raw[0], 0xAB);
    EXPECT_EQ(pair.steps[1].ah_attr.dlid, 7);
    if (other.qp.qp_num == number) ++to_self;
  }
  EXPECT_EQ(to_self, 6u);
  transports_.clear();
  EXPECT_EQ(verbs_.alive(), "");
}

TEST_F(VerbsTransportTest, regions_have_the_peers_keys_and_sizes) {
  open(2);
  open_contexts(1, 4);
  const uint32_t first = register_region({100, 200});
  const uint32_t second = register_region({64, 0});
  EXPECT_NE(first, second);
  EXPECT_EQ(at(0).region_bytes(first, 0), 100u);
  EXPECT_EQ(at(0).region_bytes(first, 1), 200u);
  EXPECT_EQ(at(1).region_bytes(second, 1), 0u);
  EXPECT_EQ(at(1).region_bytes(12345, 0), 0u);
  at(0).post(op(1, 1, first));
  const FakePair& pair = pair_that_posted(1);
  EXPECT_EQ(pair.posted[0].wr.wr.rdma.remote_addr, reinterpret_cast<uint64_t>(memory_ + 1000 + 8));
  EXPECT_EQ(pair.posted[0].scatter[0].addr, reinterpret_cast<uint64_t>(memory_));
  EXPECT_NE(pair.posted[0].wr.wr.rdma.rkey, 0u);
  at(0).deregister_region(first);
  EXPECT_EQ(at(0).region_bytes(first, 1), 0u);
  EXPECT_EQ(at(1).region_bytes(first, 1), 200u);
}

TEST_F(VerbsTransportTest, completions_come_in_post_order_with_their_cookies) {
  open(2);
  open_contexts(1, 4);
  const uint32_t region = register_region({100, 100});
  EXPECT_FALSE(at(0).busy());
  Op with_signal = op(7, 1, region);
  with_signal.signal = {true, Strength::kStrong, {region, 0}, 1};
  at(0).post(op(5, 1, region));
  at(0).post(with_signal);
  EXPECT_TRUE(at(0).busy());
  EXPECT_FALSE(at(0).has_completions());
  EXPECT_THAT(poll(at(0)), SizeIs(0));
  FakePair& pair = pair_that_posted(3);
  verbs_.complete(pair);
  verbs_.complete(pair);
  EXPECT_TRUE(at(0).has_completions());
  const auto done = poll(at(0));
  ASSERT_THAT(done, SizeIs(2));
  EXPECT_EQ(done[0].cookie, 5u);
  EXPECT_EQ(done[1].cookie, 7u);
  EXPECT_EQ(done[1].peer, 1);
  EXPECT_EQ(done[1].context, 0u);
  EXPECT_EQ(done[1].error, Cause::kNone);
  EXPECT_FALSE(at(0).busy());
}

TEST_F(VerbsTransportTest, B2_room_is_the_depth_and_the_index_wraps) {
  open(2);
  open_contexts(1, 2);
  const uint32_t region = register_region({100, 100});
  uint64_t cookie = 0;
  at(0).post(op(cookie++, 1, region));
  FakePair& pair = pair_that_posted(1);
  for (int round = 0; round < 100; ++round) {
    ASSERT_TRUE(at(0).has_room(0, 1));
    at(0).post(op(cookie++, 1, region));
    ASSERT_FALSE(at(0).has_room(0, 1));
    ASSERT_TRUE(at(0).has_room(0, 0));
    verbs_.complete(pair);
    const auto done = poll(at(0));
    ASSERT_THAT(done, SizeIs(1));
    ASSERT_EQ(done[0].cookie, cookie - 2);
  }
}

TEST_F(VerbsTransportTest, the_completion_queue_is_never_overrun) {
  verbs_.max_cqe = 8;
  open(2);
  open_contexts(2, 4);
  const uint32_t region = register_region({100, 100});
  uint32_t posted = 0;
  for (uint32_t context = 0; context < 2; ++context) {
    for (; at(0).has_room(context, 1); ++posted) {
      Op next = op(posted, 1, region);
      next.context = context;
      at(0).post(next);
    }
  }
  EXPECT_EQ(posted, 4u) << "8 entries, two requests an operation";
}

TEST_F(VerbsTransportTest, P31_a_failed_operation_is_one_error_and_so_is_each_behind_it) {
  open(2);
  open_contexts(1, 8);
  const uint32_t region = register_region({100, 100});
  for (uint64_t cookie = 0; cookie < 4; ++cookie) {
    Op next = op(cookie, 1, region);
    next.signal = {true, Strength::kWeak, {region, 0}, 1};
    at(0).post(next);
  }
  FakePair& pair = pair_that_posted(8);
  verbs_.complete(pair);
  verbs_.fail(pair, IBV_WC_RETRY_EXC_ERR);
  const auto done = poll(at(0));
  ASSERT_THAT(done, SizeIs(4));
  EXPECT_EQ(done[0].error, Cause::kNone);
  EXPECT_EQ(done[1].error, Cause::kNicOperation);
  EXPECT_STREQ(done[1].what, "transport retry counter exceeded");
  for (uint64_t cookie = 0; cookie < 4; ++cookie) EXPECT_EQ(done[cookie].cookie, cookie);
  EXPECT_EQ(done[3].error, Cause::kNicOperation);
  EXPECT_FALSE(at(0).busy());
}

TEST_F(VerbsTransportTest, P32_after_a_peer_failed_nothing_to_it_succeeds) {
  open(3);
  open_contexts(1, 8);
  const uint32_t region = register_region({100, 100, 100});
  at(0).post(op(1, 1, region));
  at(0).fail_peer(1);
  at(0).fail_peer(1);
  at(0).post(op(2, 1, region));
  at(0).post(op(3, 2, region));
  const auto done = poll(at(0));
  ASSERT_THAT(done, SizeIs(2));
  EXPECT_EQ(done[0].cookie, 1u);
  EXPECT_NE(done[0].error, Cause::kNone);
  EXPECT_EQ(done[1].cookie, 2u);
  EXPECT_NE(done[1].error, Cause::kNone);
  EXPECT_TRUE(at(0).busy()) << "the operation to rank 2 is under way";
}

TEST_F(VerbsTransportTest, what_the_device_refuses_fails_behind_what_is_in_flight) {
  open(2);
  open_contexts(1, 8);
  const uint32_t region = register_region({100, 100});
  at(0).post(op(1, 1, region));
  verbs_.failures["post_send"] = {ENOMEM};
  at(0).post(op(2, 1, region));
  at(0).post(op(3, 1, region));
  std::vector<OpCompletion> done = poll(at(0));
  while (at(0).has_completions()) {
    for (const OpCompletion& next : poll(at(0))) done.push_back(next);
  }
  ASSERT_THAT(done, SizeIs(3));
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(done[i].cookie, i + 1);
    EXPECT_NE(done[i].error, Cause::kNone);
  }
  EXPECT_STREQ(done[1].what, "the NIC refused the work request");
  REACHES(GIN_ERR_NIC_REFUSED, Status(done[1].error, "NIC", done[1].what));
  EXPECT_FALSE(at(0).busy());
}

TEST_F(VerbsTransportTest, closed_contexts_take_their_operations_along_and_give_their_numbers_back) {
  open(1);
  open_contexts(2, 4);
  const uint32_t region = register_region({100});
  at(0).post(op(1, 0, region));
  std::vector<std::string> lines;
  at(0).describe_pending(lines);
  ASSERT_THAT(lines, SizeIs(1));
  EXPECT_THAT(lines[0], HasSubstr("verbs context 0 to rank 0: put of 16 bytes in flight"));
  at(0).close_contexts(0, 2);
  EXPECT_FALSE(at(0).busy());
  EXPECT_FALSE(at(0).has_completions());
  open_contexts(3, 4);
}

// --- What goes wrong while setting up --------------------------------------------------------------------------------

TEST_F(VerbsTransportTest, a_rank_that_cannot_makes_all_fail_and_is_named) {
  open(2);
  verbs_.failures["reg_mr"] = {ENOMEM};
  std::vector<std::string> errors(2);
  group_->run_on_all([&](int rank) {
    const auto region = at(rank).register_region({rank == 1 ? memory_ : nullptr, rank == 1 ? 64u : 0u, false});
    ASSERT_FALSE(region.ok());
    errors[static_cast<size_t>(rank)] = region.status().message();
  });
  EXPECT_THAT(errors[0], HasSubstr("rank 1: memory registration: 64 bytes at"));
  EXPECT_THAT(errors[0], HasSubstr("Cannot allocate memory"));
  EXPECT_THAT(errors[1], HasSubstr("memory registration: 64 bytes at"));
  verbs_.failures["create_qp"] = {0, 0, ENOMEM};
  group_->run_on_all([&](int rank) {
    const auto contexts = at(rank).open_contexts(1, 4, 0);
    ASSERT_FALSE(contexts.ok());
    EXPECT_THAT(contexts.status().message(), HasSubstr("2 = 1 contexts x 2 ranks are needed, of depth 4"));
  });
  EXPECT_THAT(verbs_.pair_numbers(), SizeIs(0));
  register_region({100, 100});
  open_contexts(1, 4);
}

TEST_F(VerbsTransportTest, a_device_that_will_not_do_is_named_with_the_reason) {
  LocalBootstrapGroup alone(1);
  const auto why = [&] {
    auto opened = VerbsTransport::open(std::make_unique<FakeNic>(verbs_), alone.rank(0));
    return opened.ok() ? std::string("it opened") : opened.status().detail();
  };
  EXPECT_EQ(why(), "it opened");
  verbs_.port_state = IBV_PORT_DOWN;
  EXPECT_EQ(why(), "NIC: none of 1 RDMA devices is usable; fake0: port 1 is not active");
  verbs_.port_state = IBV_PORT_ACTIVE;
  verbs_.atomics = IBV_ATOMIC_NONE;
  EXPECT_THAT(why(), HasSubstr("fake0: no atomics"));
  verbs_.atomics = IBV_ATOMIC_HCA;
  verbs_.failures["open_device"] = {EACCES};
  EXPECT_THAT(why(), HasSubstr("fake0: open_device: Permission denied"));
  verbs_.devices = 0;
  EXPECT_EQ(why(), "NIC: none of 0 RDMA devices is usable");
  EXPECT_EQ(verbs_.alive(), "");
}

TEST_F(VerbsTransportTest, a_device_without_inline_data_is_refused) {
  open(1);
  verbs_.max_inline = 4;
  const auto contexts = at(0).open_contexts(1, 4, 0);
  ASSERT_FALSE(contexts.ok());
  EXPECT_THAT(contexts.status().message(), HasSubstr("the NIC takes no inline data of 8 bytes"));
  verbs_.max_inline = 8;
  open_contexts(1, 4);
}

TEST_F(VerbsTransportTest, capabilities_are_the_devices) {
  verbs_.max_qp_wr = 1000;
  open(1);
  EXPECT_TRUE(at(0).capabilities().accepts_hints);
  EXPECT_EQ(at(0).capabilities().depth, 256u) << "a power of two, two requests an operation";
}

TEST(RdmaCore, a_library_that_is_not_there_or_not_the_one_is_named) {
  verbs::VerbsTable table{};
  Status status = verbs::fill_from_library("libanygin_no_such.so.1", table);
  REACHES(GIN_ERR_NIC_UNAVAILABLE, status);
  EXPECT_THAT(status.message(), HasSubstr("no real NIC without libanygin_no_such.so.1 (Debian package libibverbs1)"));
  status = verbs::fill_from_library("libm.so.6", table);
  EXPECT_THAT(status.message(), HasSubstr("libm.so.6 has no ibv_get_device_list"));
  // Headers come with the library.
  status = verbs::fill_from_library("libibverbs.so.1", table);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_NE(table.create_qp, nullptr);
  EXPECT_EQ(table.accepts_hints, nullptr);
}

}  // namespace
}  // namespace anygin::testing
