// SPDX-License-Identifier: Apache-2.0
// GIN barriers: which signals go out, what is waited for, what is flushed (contract 8.2; P18-P21, F8).
#include "unit/nccl_gin_rig.h"

namespace anygin::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class NcclGinBarrierRig : public NcclGinRig {
 protected:
  // As the other ranks' barriers would: one for every context in [first, end).
  void others_arrive(uint32_t index, uint32_t first = 0, uint32_t end = 1) {
    for (uint32_t context = first; context < end; ++context) {
      for (uint32_t peer = 1; peer < 4; ++peer) add_signal(base(index) + peer, 1, context);
    }
  }
  uint32_t base(uint32_t index) const { return comm_.worldGinBarrier.signal0 + index * 4; }
  std::vector<int> peers_of(const std::vector<Op>& ops) {
    std::vector<int> peers;
    for (const Op& op : ops) peers.push_back(op.peer);
    std::sort(peers.begin(), peers.end());
    return peers;
  }
};

TEST_F(NcclGinBarrierRig, F8_without_a_fence_others_get_a_weak_signal_at_my_place) {
  const ncclGin gin(comm_, 0);
  others_arrive(1);
  // covers: ncclGinBarrier(ncclTeamTagWorld)
  ncclGinBarrier(ncclCoopThread{}, gin, ncclTeamTagWorld{}, 1, cuda::memory_order_acq_rel, ncclGinFenceLevel::None);
  const auto ops = posted();
  EXPECT_THAT(peers_of(ops), ElementsAre(1, 2, 3));
  for (const Op& op : ops) {
    EXPECT_EQ(op.bytes, 0u);
    EXPECT_EQ(op.signal.strength, Strength::kWeak);
    EXPECT_EQ(op.signal.add, 1u);
    EXPECT_EQ(op.signal.cell.offset, 8u * (base(1) + 0)) << "the caller's team rank";
  }
}

TEST_F(NcclGinBarrierRig, P18_the_put_fence_signals_strongly_and_covers_myself) {
  for (const bool granted : {true, false}) {
    comm_.ginStrongLegacySignals = granted;
    const ncclGin gin(comm_, 0);
    others_arrive(0);
    add_signal(base(0), 1);
    ncclGinBarrier(ncclCoopThread{}, gin, ncclTeamTagWorld{}, 0, cuda::memory_order_acq_rel, ncclGinFenceLevel::Put);
    const auto ops = posted();
    EXPECT_THAT(peers_of(ops), ElementsAre(0, 1, 2, 3));
    for (const Op& op : ops) EXPECT_EQ(op.signal.strength, Strength::kStrong);
  }
}

TEST_F(NcclGinBarrierRig, P17_P21_a_missing_member_holds_the_barrier) {
  const ncclGin gin(comm_, 0);
  // covers: ncclGinBarrierSession.ncclGinBarrierSession(ncclTeamTagWorld)
  ncclGinBarrierSession<ncclCoopThread> session(ncclCoopThread{}, gin, ncclTeamTagWorld{}, 0);
  add_signal(base(0) + 1, 1);
  add_signal(base(0) + 3, 1);
  // covers: ncclGinBarrierSession.sync(timed)
  EXPECT_EQ(session.sync(ncclCoopThread{}, cuda::memory_order_acq_rel, ncclGinFenceLevel::None, 0), ncclTimeout);
}

TEST_F(NcclGinBarrierRig, P17_a_later_session_goes_on_where_the_last_one_ended) {
  for (int round = 0; round < 3; ++round) {
    const ncclGin gin(comm_, 0);
    {
      ncclGinBarrierSession<ncclCoopThread> session(ncclCoopThread{}, gin, ncclTeamTagWorld{}, 0);
      others_arrive(0);
      EXPECT_EQ(session.sync(ncclCoopThread{}, cuda::memory_order_acq_rel, ncclGinFenceLevel::None, 0), ncclSuccess);
    }
    EXPECT_EQ(gin._signalShadows[base(0) + 1], static_cast<uint64_t>(round + 1));
  }
  const ncclGin gin(comm_, 0);
  ncclGinBarrierSession<ncclCoopThread> other(ncclCoopThread{}, gin, ncclTeamTagWorld{}, 1);
  EXPECT_EQ(other.sync(ncclCoopThread{}, cuda::memory_order_acq_rel, ncclGinFenceLevel::None, 0), ncclTimeout)
      << "indices are independent";
}

// The count of barriers is kept in the low 32 bits of the shadow.
TEST_F(NcclGinBarrierRig, P17_counts_roll_over_at_32_bits) {
  const ncclGin gin(comm_, 0);
  for (uint32_t peer = 1; peer < 4; ++peer) {
    gin._signalShadows[base(0) + peer] = 0xffffffffu;
    add_signal(base(0) + peer, 0xffffffffu);
  }
  ncclGinBarrierSession<ncclCoopThread> session(ncclCoopThread{}, gin, ncclTeamTagWorld{}, 0);
  EXPECT_EQ(session.sync(ncclCoopThread{}, cuda::memory_order_acq_rel, ncclGinFenceLevel::None, 0), ncclTimeout);
  for (uint32_t peer = 1; peer < 4; ++peer) {
    EXPECT_EQ(gin._signalShadows[base(0) + peer], 0u);
    add_signal(base(0) + peer, 2);
  }
  EXPECT_EQ(session.sync(ncclCoopThread{}, cuda::memory_order_acq_rel, ncclGinFenceLevel::None, 0), ncclSuccess);
}

TEST_F(NcclGinBarrierRig, P19_the_get_fence_waits_for_my_gets) {
  const ncclGin gin(comm_, 0);
  gin.get(ncclTeamWorld(comm_), 1, window_, 0, window_, 64, 8);
  settle();
  ncclGinBarrierSession<ncclCoopThread> session(ncclCoopThread{}, gin, ncclTeamTagWorld{}, 0);
  others_arrive(0);
  EXPECT_EQ(session.sync(ncclCoopThread{}, cuda::memory_order_acq_rel, ncclGinFenceLevel::Get, 0), ncclTimeout);
  others_arrive(0);
  EXPECT_EQ(session.sync(ncclCoopThread{}, cuda::memory_order_acq_rel, ncclGinFenceLevel::None, 0), ncclSuccess);
  rig_.transport.auto_complete = true;
  settle();
  while (rig_.transport.flying() > 0) rig_.transport.complete();
  settle();
  others_arrive(0);
  gin.flush(ncclCoopThread{});
  // covers: ncclGinBarrierSession.ncclGinBarrierSession(handle)
  ncclGinBarrierSession<ncclCoopThread> drained(ncclCoopThread{}, gin, ncclTeam{1, 0, 1}, comm_.worldGinBarrier, 0);
  EXPECT_EQ(drained.sync(ncclCoopThread{}, cuda::memory_order_acq_rel, ncclGinFenceLevel::Get, 0), ncclSuccess);
}

TEST_F(NcclGinBarrierRig, P20_all_contexts_signal_and_wait_on_each) {
  others_arrive(0, 0, 1);  // of two contexts, one
  // covers: ncclGinBarrierSession.ncclGinBarrierSession(all contexts, ncclTeamTagWorld)
  ncclGinBarrierSession<ncclCoopThread> session(ncclCoopThread{}, ncclGinAllContexts(comm_), ncclTeamTagWorld{}, 0);
  EXPECT_EQ(session.sync(ncclCoopThread{}, cuda::memory_order_acq_rel, ncclGinFenceLevel::None, 0), ncclTimeout);
  std::vector<uint32_t> contexts;
  for (const Op& op : posted()) contexts.push_back(op.context - ProxyRig::kFirstContext);
  std::sort(contexts.begin(), contexts.end());
  EXPECT_THAT(contexts, ElementsAre(0, 0, 0, 1, 1, 1));
  others_arrive(0, 0, 1);
  others_arrive(0, 1, 2);
  others_arrive(0, 1, 2);
  EXPECT_EQ(session.sync(ncclCoopThread{}, cuda::memory_order_acq_rel, ncclGinFenceLevel::None, 0), ncclSuccess);
}

TEST_F(NcclGinBarrierRig, P23_a_hybrid_world_barrier_covers_puts_over_the_network_alone) {
  comm_.hybridWorldGinBarrier = comm_.worldGinBarrier;
  comm_.hybridRailGinBarrier = comm_.railGinBarrier;
  const ncclGin gin(comm_, 0);
  others_arrive(0);
  add_signal(base(0), 1);
  // covers: ncclBarrierSession.ncclBarrierSession(ncclTeamTagWorld)
  ncclBarrierSession<ncclCoopThread> session(ncclCoopThread{}, ncclTeamTagWorld{}, gin, 0);
  // covers: ncclBarrierSession.sync(untimed)
  session.sync(ncclCoopThread{}, cuda::memory_order_acq_rel, ncclGinFenceLevel::Put);
  EXPECT_THAT(peers_of(posted()), ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(session.lsaBarrier().epoch, 0u);
}

TEST_F(NcclGinBarrierRig, P23_without_the_put_fence_it_goes_by_node_and_rail) {
  comm_.hybridWorldGinBarrier = comm_.worldGinBarrier;
  comm_.hybridRailGinBarrier = comm_.railGinBarrier;
  const ncclGin gin(comm_, 0);
  ncclBarrierSession<ncclCoopThread> session(ncclCoopThread{}, ncclTeamTagWorld{}, gin, 0);
  EXPECT_EQ(session.sync(ncclCoopThread{}, cuda::memory_order_acq_rel, ncclGinFenceLevel::None, 0), ncclTimeout);
  const auto ops = posted();
  EXPECT_THAT(peers_of(ops), ElementsAre(2)) << "the other rank of the rail";
  *session.lsaBarrier().inbox(0, 1) = 1;  // the node's other rank arrives
  add_signal(comm_.railGinBarrier.signal0 + 1, 2);
  EXPECT_EQ(session.sync(ncclCoopThread{}, cuda::memory_order_acq_rel, ncclGinFenceLevel::None, 0), ncclSuccess);
  EXPECT_EQ(session.lsaBarrier().epoch, 1u);
  EXPECT_EQ(session.ginBarrier().team.nRanks, 2);
}

}  // namespace
}  // namespace anygin::testing
