// SPDX-License-Identifier: Apache-2.0
// What ncclGin's operations ask of the NIC.
#include "unit/nccl_gin_rig.h"

namespace anygin::testing {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class NcclGinOps : public NcclGinRig {};

TEST_F(NcclGinOps, a_put_names_peer_windows_offsets_and_actions) {
  const ncclGin gin(comm_, 1);
  // covers: ncclGin.put(ncclWindow_t)
  gin.put(ncclTeamWorld(comm_), 3, window_, 128, ordered_, 64, 32, ncclGin_StrongSignalAdd{5, 9},
          ncclGin_WeakCounterInc{2});
  const auto ops = posted();
  ASSERT_THAT(ops, SizeIs(1));
  EXPECT_EQ(ops[0].kind, OpKind::kPut);
  EXPECT_EQ(ops[0].context, ProxyRig::kFirstContext + 1);
  EXPECT_EQ(ops[0].peer, 3);
  EXPECT_EQ(ops[0].remote.region, 1u);
  EXPECT_EQ(ops[0].remote.offset, 128u);
  EXPECT_EQ(ops[0].local.region, 2u);
  EXPECT_EQ(ops[0].local.offset, 64u);
  EXPECT_EQ(ops[0].bytes, 32u);
  ASSERT_TRUE(ops[0].signal.present);
  EXPECT_EQ(ops[0].signal.strength, Strength::kStrong);
  EXPECT_EQ(ops[0].signal.add, 9u);
  EXPECT_EQ(ops[0].signal.cell.region, ProxyRig::kSignalRegion);
  EXPECT_EQ(ops[0].signal.cell.offset, 8u * static_cast<uint64_t>(ranks_.total_signals() + 5));
  EXPECT_NE(ops[0].call_site, nullptr);
  rig_.transport.complete();
  settle();
  EXPECT_EQ(gin.readCounter(2), 1u);
  EXPECT_EQ(gin.readCounter(1), 0u);
}

TEST_F(NcclGinOps, peers_are_ranks_of_the_team) {
  comm_ = ranks_.comm(2, rig_.memory->kernel_views());  // lsaRank 0 of node 1
  const ncclWindow_t window = ranks_.window(2);
  const ncclGin gin(comm_, 0);
  gin.put(ncclTeamLsa(comm_), 1, window, 0, window, 0, 8);
  gin.put(ncclTeamRail(comm_), 0, window, 0, window, 0, 8);
  gin.put(ncclTeamWorld(comm_), 1, window, 0, window, 0, 8);
  std::vector<int> peers;
  for (const Op& op : posted()) peers.push_back(op.peer);
  EXPECT_THAT(peers, ::testing::UnorderedElementsAre(3, 0, 1));
}

TEST_F(NcclGinOps, symmetric_pointers_count_elements) {
  const ncclGin gin(comm_, 0);
  // covers: ncclGin.put(ncclSymPtr)
  gin.put(ncclTeamWorld(comm_), 1, ncclSymPtr<double>(window_, 16), ncclSymPtr<double>(window_, 8), 5);
  const auto ops = posted();
  ASSERT_THAT(ops, SizeIs(1));
  EXPECT_EQ(ops[0].bytes, 40u);
  EXPECT_EQ(ops[0].remote.offset, 16u);
  EXPECT_EQ(ops[0].local.offset, 8u);
}

TEST_F(NcclGinOps, P6_no_bytes_the_actions_alone) {
  const ncclGin gin(comm_, 0);
  gin.put(ncclTeamWorld(comm_), 1, window_, 0, window_, 0, 0);
  EXPECT_THAT(posted(), IsEmpty());
  gin.put(ncclTeamWorld(comm_), 1, nullptr, 0, nullptr, 0, 0, ncclGin_WeakSignalInc{3}, ncclGin_CounterInc{0});
  auto ops = posted();
  ASSERT_THAT(ops, SizeIs(1));
  EXPECT_EQ(ops[0].bytes, 0u);
  EXPECT_EQ(ops[0].signal.strength, Strength::kWeak);
  EXPECT_EQ(ops[0].signal.add, 1u);
  gin.signal(ncclTeamWorld(comm_), 2, ncclGin_StrongSignalInc{0});
  ops = posted();
  ASSERT_THAT(ops, SizeIs(1));
  EXPECT_EQ(ops[0].bytes, 0u);
  EXPECT_EQ(ops[0].peer, 2);
  EXPECT_EQ(ops[0].signal.strength, Strength::kStrong);
}

TEST_F(NcclGinOps, P8_deprecated_signals_take_their_strength_from_the_requirement) {
  for (const bool strong : {true, false}) {
    comm_.ginStrongLegacySignals = strong;
    const ncclGin gin(comm_, 0);
    gin.signal(ncclTeamWorld(comm_), 1, ncclGin_SignalInc{1});
    gin.signal(ncclTeamWorld(comm_), 1, ncclGin_SignalAdd{1, 4});
    gin.signal(ncclTeamWorld(comm_), 1, ncclGin_VASignalInc{ordered_, 64});
    const auto ops = posted();
    ASSERT_THAT(ops, SizeIs(3));
    for (const Op& op : ops) EXPECT_EQ(op.signal.strength, strong ? Strength::kStrong : Strength::kWeak);
    EXPECT_EQ(ops[1].signal.add, 4u);
  }
}

TEST_F(NcclGinOps, P9_signals_by_address) {
  const ncclGin gin(comm_, 0);
  gin.put(ncclTeamWorld(comm_), 1, window_, 0, window_, 8, 16, ncclGin_WeakVASignalAdd{ordered_, 4088, 6});
  const auto ops = posted();
  ASSERT_THAT(ops, SizeIs(1));
  EXPECT_EQ(ops[0].signal.cell.region, 2u);
  EXPECT_EQ(ops[0].signal.cell.offset, 4088u);
  EXPECT_EQ(ops[0].signal.add, 6u);
  EXPECT_EQ(ops[0].signal.strength, Strength::kWeak);
  auto* const cell = reinterpret_cast<uint64_t*>(ranks_.buffer(0) + 4088);
  *cell = 6;
  // covers: ncclGin.readSignal(ncclWindow_t); ncclGin.waitSignal(ncclWindow_t); ncclGin.resetSignal(ncclWindow_t)
  EXPECT_EQ(gin.readSignal(ordered_, 4088), 6u);
  gin.waitSignal(ncclCoopThread{}, ordered_, 4088, 6);
  gin.resetSignal(ordered_, 4088);
  EXPECT_EQ(*cell, 0u);
}

TEST_F(NcclGinOps, P7_a_value_goes_with_the_request) {
  const ncclGin gin(comm_, 0);
  const ncclTeam world = ncclTeamWorld(comm_);
  // covers: ncclGin.putValue(ncclWindow_t); ncclGin.putValue(ncclSymPtr)
  gin.putValue(world, 1, window_, 8, uint64_t{0x1122334455667788}, ncclGin_WeakSignalInc{1});
  gin.putValue(world, 1, ncclSymPtr<uint16_t>(window_, 2), uint16_t{0xabcd});
  const auto ops = posted();
  ASSERT_THAT(ops, SizeIs(2));
  EXPECT_EQ(ops[0].kind, OpKind::kPutInline);
  EXPECT_EQ(ops[0].bytes, 8u);
  EXPECT_EQ(ops[0].inline_value, 0x1122334455667788u);
  EXPECT_TRUE(ops[0].signal.present);
  EXPECT_EQ(ops[1].bytes, 2u);
  EXPECT_EQ(ops[1].inline_value & 0xffff, 0xabcdu);
  EXPECT_EQ(ops[1].remote.offset, 2u);
}

struct Odd {
  char bytes[7];
};

// Sizes that are no power of two: several writes, and a signal that covers them all.
TEST_F(NcclGinOps, P1_a_value_of_seven_bytes_is_covered_by_its_signal) {
  const ncclGin gin(comm_, 0);
  const Odd value = {{1, 2, 3, 4, 5, 6, 7}};
  gin.putValue(ncclTeamWorld(comm_), 1, window_, 16, value, ncclGin_WeakSignalInc{1});
  const auto ops = posted();
  ASSERT_THAT(ops, SizeIs(3));
  std::vector<char> written(7, 0);
  for (const Op& op : ops) {
    for (uint64_t i = 0; i < op.bytes; ++i) {
      written[op.remote.offset - 16 + i] = static_cast<char>(op.inline_value >> (8 * i));
    }
  }
  EXPECT_EQ(written, std::vector<char>({1, 2, 3, 4, 5, 6, 7}));
  EXPECT_FALSE(ops[0].signal.present);
  EXPECT_FALSE(ops[1].signal.present);
  EXPECT_EQ(ops[2].signal.strength, Strength::kStrong);
}

TEST_F(NcclGinOps, a_get_reads_there_and_writes_here) {
  const ncclGin gin(comm_, 0);
  gin.get(ncclTeamWorld(comm_), 2, window_, 256, ordered_, 512, 24);
  const auto ops = posted();
  ASSERT_THAT(ops, SizeIs(1));
  EXPECT_EQ(ops[0].kind, OpKind::kGet);
  EXPECT_EQ(ops[0].peer, 2);
  EXPECT_EQ(ops[0].remote.region, 1u);
  EXPECT_EQ(ops[0].remote.offset, 256u);
  EXPECT_EQ(ops[0].local.region, 2u);
  EXPECT_EQ(ops[0].local.offset, 512u);
  EXPECT_EQ(ops[0].bytes, 24u);
}

TEST_F(NcclGinOps, offsets_are_checked_against_the_targets_size) {
  ranks_.set_size(1, 8192);
  const ncclGin gin(comm_, 0);
  gin.put(ncclTeamWorld(comm_), 1, window_, 8128, window_, 4032, 64);
  EXPECT_THAT(posted(), SizeIs(1));
}

TEST_F(NcclGinOps, contexts_beyond_the_grant_are_taken_modulo) {
  ::testing::internal::CaptureStderr();
  const ncclGin gin(comm_, 7);
  const ncclGin again(comm_, 5);
  const std::string text = ::testing::internal::GetCapturedStderr();
  EXPECT_EQ(gin.contextId, 1u);
  EXPECT_EQ(gin._signalShadows, comm_.ginSignalShadows + ranks_.total_signals());
  EXPECT_EQ(again.contextId, 1u);
  EXPECT_THAT(text, ::testing::HasSubstr("context index 7 is beyond the 2 granted"));
  EXPECT_THAT(text, ::testing::Not(::testing::HasSubstr("index 5"))) << "reported once a communicator";
}

TEST_F(NcclGinOps, railed_connections_count_rail_ranks) {
  comm_.ginConnectionsRailed = true;
  const ncclGin gin(comm_, 0);
  gin.put(ncclTeamRail(comm_), 1, window_, 0, window_, 0, 8);
  gin.put(ncclTeamWorld(comm_), 2, window_, 0, window_, 0, 8);
  const auto ops = posted();
  ASSERT_THAT(ops, SizeIs(2));
  EXPECT_EQ(ops[0].peer, 1);
  EXPECT_EQ(ops[1].peer, 1);
}

TEST_F(NcclGinOps, the_dispatch_layer_reaches_the_same_cells) {
  const ncclGin gin(comm_, 1);
  add_signal(4, 11, 1);
  const ncclGinOffsetPtr cell = ncclGinCall<ncclGinApi_GetSignalPtr>(gin._makeCtx(), 4u);
  EXPECT_EQ(*cell.ptr - cell.offset, 11u);
  ncclGinApi_ResetSignal<NCCL_NET_DEVICE_GIN_PROXY>::call(gin._makeCtx(), gin::indexed_signal(4, true));
  EXPECT_EQ(gin.readSignal(4), 0u);
}

}  // namespace
}  // namespace anygin::testing
