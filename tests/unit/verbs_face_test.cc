// SPDX-License-Identifier: Apache-2.0
// The software HCA through its verbs face: one operation of each kind, states, limits, errors.
#include <cerrno>
#include <string>

#include "anygin/emulated/fabric/mr_table.h"
#include "anygin/emulated/flow.h"
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

TEST_F(VerbsFace, ChainsCompleteInPostOrderAndOnlyWhereSignaled) {
  EmulatedRanks ranks({});
  VerbsRank &a = ranks[0], &b = ranks[1];
  Request first = Request::write(a, 0, 8, b, 0, 1, 0);
  Request second = Request::add(a, 64, b, 128, 1, 2);
  Request third = Request::write(a, 0, 200'000, b, 4096, 3);  // more than is done at once
  Request fourth = Request::add(a, 64, b, 128, 1, 4);
  first.wr.next = &second.wr;
  second.wr.next = &third.wr;
  third.wr.next = &fourth.wr;
  ASSERT_EQ(first.post(a.qps[1]), 0);
  const auto done = wait(a, 3);
  EXPECT_EQ(done[0].wr_id, 2u);
  EXPECT_EQ(done[1].wr_id, 3u);
  EXPECT_EQ(done[2].wr_id, 4u);
  EXPECT_EQ(done[1].byte_len, 200'000u);
  EXPECT_EQ(b.word(128), 2u);
}

TEST_F(VerbsFace, InlineTakesThePayloadAtThePost) {
  EmulatedRanks ranks({.profile = Profile::kRelaxed});
  VerbsRank &a = ranks[0], &b = ranks[1];
  std::memcpy(a.memory, "first...", 8);
  Request write = Request::write(a, 0, 8, b, 0, 1, IBV_SEND_SIGNALED | IBV_SEND_INLINE | verbs::kSendMayPass);
  write.sge.lkey = 0;  // no key needed
  ASSERT_EQ(write.post(a.qps[1]), 0);
  std::memcpy(a.memory, "second..", 8);
  EXPECT_EQ(wait(a, 1)[0].status, IBV_WC_SUCCESS);
  world_.test_executor().run_until_idle();
  EXPECT_EQ(std::string(b.memory, 8), "first...");
  Request large = Request::write(a, 0, emulated::kInlineMax + 1, b, 0, 2, IBV_SEND_INLINE);
  EXPECT_EQ(large.post(a.qps[1]), EINVAL);
  Request read = Request::read(a, 0, 8, b, 0, 3, IBV_SEND_INLINE);
  EXPECT_EQ(read.post(a.qps[1]), EINVAL);
}

TEST_F(VerbsFace, TheSendQueueIsFullUntilItsCompletionsArePolled) {
  EmulatedRanks ranks({.depth = 4});
  VerbsRank &a = ranks[0], &b = ranks[1];
  for (uint64_t i = 0; i < 3; ++i) ASSERT_EQ(Request::write(a, 0, 8, b, 0, i, 0).post(a.qps[1]), 0);
  ASSERT_EQ(Request::write(a, 0, 8, b, 0, 3).post(a.qps[1]), 0);
  EXPECT_EQ(Request::write(a, 0, 8, b, 0, 4).post(a.qps[1]), ENOMEM);
  EXPECT_EQ(wait(a, 1)[0].wr_id, 3u);
  for (uint64_t i = 5; i < 9; ++i) EXPECT_EQ(Request::write(a, 0, 8, b, 0, i).post(a.qps[1]), 0);
  EXPECT_EQ(Request::write(a, 0, 8, b, 0, 9).post(a.qps[1]), ENOMEM);
}

TEST_F(VerbsFace, ABadChainSaysWhereItStopped) {
  EmulatedRanks ranks({});
  VerbsRank &a = ranks[0], &b = ranks[1];
  Request good = Request::write(a, 0, 8, b, 0, 1);
  Request bad = Request::write(a, 0, 8, b, 0, 2);
  bad.wr.opcode = IBV_WR_SEND;
  good.wr.next = &bad.wr;
  ibv_send_wr* stopped_at = nullptr;
  EXPECT_EQ(emu().post_send(a.qps[1], &good.wr, &stopped_at), EINVAL);
  EXPECT_EQ(stopped_at, &bad.wr);
  EXPECT_EQ(wait(a, 1)[0].wr_id, 1u);
}

// Each wrong request, and the same with that one field right.
TEST_F(VerbsFace, ErrorsNameTheirCauseAndFlushTheRest) {
  struct Case {
    const char* what;
    ibv_wc_status status;
    void (*spoil)(Request&, VerbsRank& a, VerbsRank& b);
  };
  const Case cases[] = {
      {"unknown rkey", IBV_WC_REM_ACCESS_ERR, [](Request& r, VerbsRank&, VerbsRank&) { r.wr.wr.rdma.rkey += 1; }},
      {"behind the end", IBV_WC_REM_ACCESS_ERR,
       [](Request& r, VerbsRank&, VerbsRank& b) { r.wr.wr.rdma.remote_addr = b.address(VerbsRank::kHeapBytes - 7); }},
      {"before the start", IBV_WC_REM_ACCESS_ERR,
       [](Request& r, VerbsRank&, VerbsRank& b) { r.wr.wr.rdma.remote_addr = b.address(0) - 1; }},
      {"unknown lkey", IBV_WC_LOC_PROT_ERR, [](Request& r, VerbsRank&, VerbsRank&) { r.sge.lkey += 1; }},
      {"local end", IBV_WC_LOC_PROT_ERR,
       [](Request& r, VerbsRank& a, VerbsRank&) { r.sge.addr = a.address(VerbsRank::kHeapBytes - 7); }},
  };
  for (Profile profile : {Profile::kInorder, Profile::kRelaxed}) {
    for (const Case& wrong : cases) {
      SCOPED_TRACE(wrong.what);
      EmulatedRanks ranks({.profile = profile});
      VerbsRank &a = ranks[0], &b = ranks[1];
      const unsigned flags = IBV_SEND_SIGNALED | verbs::kSendMayPass;
      ASSERT_EQ(Request::write(a, 0, 8, b, 0, 1, flags).post(a.qps[1]), 0);
      EXPECT_EQ(wait(a, 1)[0].status, IBV_WC_SUCCESS);
      Request request = Request::write(a, 0, 8, b, 64, 2, 0);
      wrong.spoil(request, a, b);
      Request signal = Request::add(a, 512, b, 1024, 1, 3, IBV_SEND_SIGNALED);
      request.wr.next = &signal.wr;
      ASSERT_EQ(request.post(a.qps[1]), 0);
      const auto failed = wait(a, 2);
      EXPECT_EQ(failed[0].wr_id, 2u);
      EXPECT_EQ(failed[0].status, wrong.status) << emu().wc_status_str(failed[0].status);
      EXPECT_EQ(failed[1].wr_id, 3u);
      EXPECT_EQ(failed[1].status, IBV_WC_WR_FLUSH_ERR);
      ASSERT_EQ(Request::write(a, 0, 8, b, 0, 4).post(a.qps[1]), 0) << "a pair in error still takes requests";
      EXPECT_EQ(wait(a, 1)[0].status, IBV_WC_WR_FLUSH_ERR);
      EXPECT_EQ(b.word(64), 0u);
      EXPECT_EQ(b.word(1024), 0u) << "P31";
      ibv_qp_attr attributes;
      ASSERT_EQ(emu().query_qp(a.qps[1], &attributes, IBV_QP_STATE, nullptr), 0);
      EXPECT_EQ(attributes.qp_state, IBV_QPS_ERR);
    }
  }
}

TEST_F(VerbsFace, ARegionsRightsAreChecked) {
  EmulatedRanks ranks({});
  VerbsRank &a = ranks[0], &b = ranks[1];
  ibv_mr* read_only = emu().reg_mr(b.pd, b.memory, 4096, IBV_ACCESS_REMOTE_READ);
  ASSERT_NE(read_only, nullptr);
  EXPECT_EQ(emu().reg_mr(b.pd, b.memory, 4096, IBV_ACCESS_REMOTE_WRITE), nullptr) << "needs local write";
  Request read = Request::read(a, 0, 8, b, 0, 1);
  read.wr.wr.rdma.rkey = read_only->rkey;
  ASSERT_EQ(read.post(a.qps[1]), 0);
  EXPECT_EQ(wait(a, 1)[0].status, IBV_WC_SUCCESS);
  Request write = Request::write(a, 0, 8, b, 0, 2);
  write.wr.wr.rdma.rkey = read_only->rkey;
  ASSERT_EQ(write.post(a.qps[1]), 0);
  EXPECT_EQ(wait(a, 1)[0].status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(emu().dereg_mr(read_only), 0);
}

TEST_F(VerbsFace, AMisalignedAtomicIsRefused) {
  EmulatedRanks ranks({});
  VerbsRank &a = ranks[0], &b = ranks[1];
  ASSERT_EQ(Request::add(a, 0, b, 12, 1, 1).post(a.qps[1]), 0);
  EXPECT_EQ(wait(a, 1)[0].status, IBV_WC_REM_INV_REQ_ERR);
  EXPECT_EQ(b.word(8), 0u);
  EXPECT_EQ(b.word(16), 0u);
}

TEST_F(VerbsFace, AKeyOfAWithdrawnRegionReachesNothing) {
  EmulatedRanks ranks({});
  VerbsRank &a = ranks[0], &b = ranks[1];
  const uint32_t stale = b.mr->rkey;
  ASSERT_EQ(emu().dereg_mr(b.mr), 0);
  b.mr = nullptr;
  for (uint32_t i = 0; i < emulated::kMrSlots; ++i) {  // until the slot is in use again
    b.mr = emu().reg_mr(b.pd, b.memory, VerbsRank::kHeapBytes, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
    ASSERT_NE(b.mr, nullptr);
    if (emulated::key_slot(b.mr->rkey) == emulated::key_slot(stale)) break;
    ASSERT_EQ(emu().dereg_mr(b.mr), 0);
  }
  ASSERT_EQ(emulated::key_slot(b.mr->rkey), emulated::key_slot(stale));
  std::memcpy(a.memory, "12345678", 8);
  Request write = Request::write(a, 0, 8, b, 0, 1);
  write.wr.wr.rdma.rkey = stale;
  ASSERT_EQ(write.post(a.qps[1]), 0);
  EXPECT_EQ(wait(a, 1)[0].status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(b.word(0), 0u);
}

TEST_F(VerbsFace, HostMemoryOutsideTheHeapGoesByMessages) {
  EmulatedRanks ranks({});
  VerbsRank &a = ranks[0], &b = ranks[1];
  alignas(8) char host[64] = {};
  ibv_mr* mr = emu().reg_mr(b.pd, host, sizeof(host),
                            IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
  ASSERT_NE(mr, nullptr);
  std::memcpy(a.memory, "to the host", 11);
  Request write = Request::write(a, 0, 11, b, 0, 1);
  write.wr.wr.rdma = {reinterpret_cast<uint64_t>(host), mr->rkey};
  Request add = Request::add(a, 64, b, 0, 5, 2);
  add.wr.wr.atomic.remote_addr = reinterpret_cast<uint64_t>(host + 32);
  add.wr.wr.atomic.rkey = mr->rkey;
  ASSERT_EQ(write.post(a.qps[1]), 0);
  ASSERT_EQ(add.post(a.qps[1]), 0);
  wait(a, 2);
  EXPECT_EQ(std::string(host, 11), "to the host");
  uint64_t cell;
  std::memcpy(&cell, host + 32, 8);
  EXPECT_EQ(cell, 5u);
  EXPECT_EQ(emu().dereg_mr(mr), 0);
}

TEST_F(VerbsFace, P32_ADeadPeerEndsWhatIsInFlightAndAllThatFollows) {
  EmulatedRanks ranks({.ranks = 3, .profile = Profile::kRelaxed});
  VerbsRank &a = ranks[0], &b = ranks[1], &c = ranks[2];
  const unsigned flags = IBV_SEND_SIGNALED | verbs::kSendMayPass;
  for (uint64_t i = 0; i < 3; ++i) ASSERT_EQ(Request::write(a, 0, 8, b, 0, i, flags).post(a.qps[1]), 0);
  a.nic->fail_peer(1);
  a.nic->fail_peer(1);
  ASSERT_EQ(Request::write(a, 0, 8, b, 0, 3, flags).post(a.qps[1]), 0);
  const auto done = wait(a, 4);
  EXPECT_EQ(done[0].status, IBV_WC_RETRY_EXC_ERR);
  for (size_t i = 1; i < 4; ++i) EXPECT_EQ(done[i].status, IBV_WC_WR_FLUSH_ERR);
  world_.test_executor().run_until_idle();
  EXPECT_FALSE(a.nic->busy());
  ASSERT_EQ(Request::write(a, 0, 8, c, 0, 9, flags).post(a.qps[2]), 0);
  EXPECT_EQ(wait(a, 1)[0].status, IBV_WC_SUCCESS) << "other peers are not touched";
}

TEST_F(VerbsFace, StatesAreCheckedAsByHardware) {
  EmulatedRanks ranks({});
  VerbsRank& a = ranks[0];
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = a.cq;
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap.max_send_wr = 4;
  ibv_qp* qp = emu().create_qp(a.pd, &wanted);
  ASSERT_NE(qp, nullptr);
  EXPECT_GE(wanted.cap.max_inline_data, 8u);
  Request write = Request::write(a, 0, 8, ranks[1], 0, 1);
  EXPECT_EQ(write.post(qp), EINVAL) << "not ready to send";
  ibv_qp_attr send{};
  send.qp_state = IBV_QPS_RTS;
  EXPECT_EQ(emu().modify_qp(qp, &send,
                            IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
                                IBV_QP_MAX_QP_RD_ATOMIC),
            EINVAL)
      << "RESET to RTS";
  ibv_gid nobody{};
  EXPECT_EQ(connect_pair(qp, nobody, 1, 0), EINVAL) << "a GID that is not in the fabric";
  EXPECT_EQ(emu().destroy_cq(a.cq), EBUSY);
  EXPECT_EQ(emu().dealloc_pd(a.pd), EBUSY);
  EXPECT_EQ(emu().close_device(a.context), EBUSY);
  EXPECT_EQ(emu().destroy_qp(qp), 0);
  wanted.qp_type = IBV_QPT_UD;
  EXPECT_EQ(emu().create_qp(a.pd, &wanted), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
}

TEST_F(VerbsFace, ACompletionQueueThatOverrunsIsDead) {
  EmulatedRanks ranks({.completions = 2});
  VerbsRank &a = ranks[0], &b = ranks[1];
  for (uint64_t i = 0; i < 3; ++i) ASSERT_EQ(Request::write(a, 0, 8, b, 0, i).post(a.qps[1]), 0);
  ibv_wc wc;
  EXPECT_EQ(emu().poll_cq(a.cq, 1, &wc), -1);
}

TEST_F(VerbsFace, RanksOfDifferentProfilesDoNotJoin) {
  LocalBootstrapGroup group(2);
  Status status[2];
  group.run_on_all([&](int rank) {
    Options options;
    options.profile = rank == 0 ? Profile::kInorder : Profile::kSrd;
    status[rank] = emulated::EmulatedNic::open(group.rank(rank), options).status();
  });
  EXPECT_NE(status[0].text().find("ANYGIN_PROFILE is srd there and inorder here"), std::string::npos)
      << status[0].message();
  EXPECT_FALSE(status[1].ok());
}

}  // namespace
}  // namespace anygin::testing
