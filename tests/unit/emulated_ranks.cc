// SPDX-License-Identifier: Apache-2.0
#include "unit/emulated_ranks.h"

#include <cerrno>
#include <stdexcept>

namespace anygin::testing {
namespace {

constexpr int kAllRights =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;

void must(bool good, const char* what) {
  if (!good) throw std::runtime_error(what);
}

void open_rank(VerbsRank& rank, Bootstrap& bootstrap, const RanksOptions& options) {
  Options nic_options;
  nic_options.profile = options.profile;
  auto nic = emulated::EmulatedNic::open(bootstrap, nic_options);
  must(nic.ok(), "EmulatedNic::open");
  rank.nic = std::move(*nic);
  rank.context = emu().open_device(rank.nic->device());
  rank.pd = emu().alloc_pd(rank.context);
  rank.cq = emu().create_cq(rank.context, options.completions, nullptr, nullptr, 0);
  auto memory = world().heap.allocate(VerbsRank::kHeapBytes, 0);
  must(memory.ok(), "heap");
  rank.memory = *memory;
  rank.mr = emu().reg_mr(rank.pd, rank.memory, VerbsRank::kHeapBytes, kAllRights);
  must(rank.mr != nullptr, "reg_mr");
}

ibv_qp* create_pair(VerbsRank& rank, uint32_t depth) {
  ibv_qp_init_attr wanted{};
  wanted.send_cq = wanted.recv_cq = rank.cq;
  wanted.qp_type = IBV_QPT_RC;
  wanted.cap.max_send_wr = depth;
  wanted.cap.max_send_sge = 1;
  ibv_qp* qp = emu().create_qp(rank.pd, &wanted);
  must(qp != nullptr, "create_qp");
  return qp;
}

}  // namespace

int connect_pair(ibv_qp* qp, const ibv_gid& gid, uint32_t number, uint32_t packet) {
  ibv_qp_attr init{};
  init.qp_state = IBV_QPS_INIT;
  init.port_num = 1;
  init.qp_access_flags = kAllRights;
  int error = emu().modify_qp(qp, &init, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
  if (error) return error;
  ibv_qp_attr receive{};
  receive.qp_state = IBV_QPS_RTR;
  receive.path_mtu = IBV_MTU_4096;
  receive.dest_qp_num = number;
  receive.rq_psn = packet;
  receive.ah_attr.is_global = 1;
  receive.ah_attr.grh.dgid = gid;
  receive.ah_attr.port_num = 1;
  error = emu().modify_qp(qp, &receive,
                          IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                              IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (error) return error;
  ibv_qp_attr send{};
  send.qp_state = IBV_QPS_RTS;
  send.sq_psn = packet;
  return emu().modify_qp(
      qp, &send,
      IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

EmulatedRanks::EmulatedRanks(const RanksOptions& options)
    : options_(options), group_(options.ranks), ranks_(static_cast<size_t>(options.ranks)) {
  group_.run_on_all([&](int rank) { open_rank((*this)[rank], group_.rank(rank), options); });
  for (VerbsRank& rank : ranks_) {
    for (int peer = 0; peer < options.ranks; ++peer) rank.qps.push_back(create_pair(rank, options.depth));
  }
  for (int from = 0; from < options.ranks; ++from) {
    for (int to = 0; to < options.ranks; ++to) {
      ibv_gid gid;
      must(emu().query_gid((*this)[to].context, 1, 0, &gid) == 0, "query_gid");
      const uint32_t number = (*this)[to].qps[static_cast<size_t>(from)]->qp_num;
      must(connect_pair((*this)[from].qps[static_cast<size_t>(to)], gid, number, options.first_packet) == 0,
           "modify_qp");
    }
  }
}

EmulatedRanks::~EmulatedRanks() {
  for (VerbsRank& rank : ranks_) {
    for (ibv_qp* qp : rank.qps) EXPECT_EQ(emu().destroy_qp(qp), 0);
    if (rank.mr) {
      EXPECT_EQ(emu().dereg_mr(rank.mr), 0);
    }
    EXPECT_EQ(emu().destroy_cq(rank.cq), 0);
    EXPECT_EQ(emu().dealloc_pd(rank.pd), 0);
    EXPECT_EQ(emu().close_device(rank.context), 0);
    EXPECT_TRUE(world().heap.free(rank.memory).ok());
  }
}

Request::Request(ibv_wr_opcode opcode, const VerbsRank& from, uint64_t local_offset, uint32_t bytes,
                 const VerbsRank& to, uint64_t remote_offset, uint64_t id, unsigned flags) {
  sge = {from.address(local_offset), bytes, from.mr->lkey};
  wr.wr_id = id;
  wr.sg_list = &sge;
  wr.num_sge = bytes > 0 ? 1 : 0;
  wr.opcode = opcode;
  wr.send_flags = flags;
  if (opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    wr.wr.atomic.remote_addr = to.address(remote_offset);
    wr.wr.atomic.rkey = to.mr->rkey;
  } else {
    wr.wr.rdma.remote_addr = to.address(remote_offset);
    wr.wr.rdma.rkey = to.mr->rkey;
  }
}

std::vector<ibv_wc> wait_completions(TestWorld& world, VerbsRank& rank, size_t count) {
  std::vector<ibv_wc> all;
  ibv_wc batch[16];
  world.run_until([&] {
    const int got = emu().poll_cq(rank.cq, 16, batch);
    if (got > 0) all.insert(all.end(), batch, batch + got);
    return all.size() >= count || got < 0;
  });
  EXPECT_EQ(all.size(), count) << "completions; pending:\n" << world.test_executor().pending();
  return all;
}

}  // namespace anygin::testing
