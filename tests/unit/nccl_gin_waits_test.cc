// SPDX-License-Identifier: Apache-2.0
// ncclGin's reads and waits: completion, signals, counters, shadows.
#include "unit/nccl_gin_rig.h"

namespace anygin::testing {
namespace {

class NcclGinWaits : public NcclGinRig {
 protected:
  // True if `wait` comes back by itself; the executor gives up when nothing can make progress.
  void put_one(const ncclGin& gin, int peer) { gin.put(ncclTeamWorld(comm_), peer, window_, 0, window_, 0, 8); }
};

TEST_F(NcclGinWaits, P11_a_request_covers_what_was_posted_before_it) {
  const ncclGin gin(comm_, 0);
  put_one(gin, 1);
  ncclGinRequest_t first{}, second{};
  gin.flushAsync(ncclTeamWorld(comm_), 1, &first);
  put_one(gin, 1);
  gin.flushAsync(ncclTeamWorld(comm_), 1, &second);
  settle();
  rig_.transport.complete();
  settle();
  const gin::Call call = gin::call_of(gin, DeviceCall::kWait, nullptr);
  EXPECT_EQ(gin::wait_request(call, second, 0), ncclTimeout);
  EXPECT_EQ(gin::wait_request(call, first, 0), ncclSuccess);
  gin.wait(first);
  rig_.transport.complete();
  settle();
  EXPECT_EQ(gin::wait_request(call, second, 0), ncclSuccess);
  EXPECT_EQ(gin::wait_request(call, first, 0), ncclSuccess) << "may be waited for again";
}

TEST_F(NcclGinWaits, P10_flush_waits_for_every_peer) {
  const ncclGin gin(comm_, 0);
  put_one(gin, 1);
  put_one(gin, 3);
  settle();
  rig_.transport.complete_queue(ProxyRig::kFirstContext, 1);
  settle();
  const gin::Call call = gin::call_of(gin, DeviceCall::kFlush, nullptr);
  EXPECT_EQ(gin::flush_all(call, ncclCoopThread{}, 0), ncclTimeout);
  rig_.transport.complete_queue(ProxyRig::kFirstContext, 3);
  settle();
  gin.flush(ncclCoopThread{});
  EXPECT_EQ(gin::flush_all(call, ncclCoopThread{}, 0), ncclSuccess);
}

TEST_F(NcclGinWaits, P13_reads_and_waits_count_modulo_their_width) {
  const ncclGin gin(comm_, 0);
  add_signal(2, 0x1ff);
  // covers: ncclGin.readSignal(ncclGinSignal_t); ncclGin.waitSignal(ncclGinSignal_t)
  EXPECT_EQ(gin.readSignal(2, 8), 0xffu);
  EXPECT_EQ(gin.readSignal(2), 0x1ffu);
  gin.waitSignal(ncclCoopThread{}, 2, 0x1ff);
  gin.waitSignal(ncclCoopThread{}, 2, 0xf0, 8);
  const gin::Call call = gin::call_of(gin, DeviceCall::kWaitSignal, nullptr);
  EXPECT_EQ(gin::timed_wait_cell(call, gin::awaited_signal(call, 2), 0x200, 64, 0), ncclTimeout);
  EXPECT_EQ(gin::timed_wait_cell(call, gin::awaited_signal(call, 2), 0x00, 8, 0), ncclTimeout);
  add_signal(2, ~uint64_t{0} - 0x1ff);  // 2^64 - 1
  add_signal(2, 1);
  gin.waitSignal(ncclCoopThread{}, 2, 0);
  EXPECT_EQ(gin.readSignal(2), 0u);
}

TEST_F(NcclGinWaits, P14_after_a_reset_counts_start_at_zero) {
  const ncclGin gin(comm_, 0);
  add_signal(1, 100);
  *gin.getSignalShadowPtr(1) = 33;
  // covers: ncclGin.resetSignal(ncclGinSignal_t)
  gin.resetSignal(1);
  EXPECT_EQ(gin.readSignal(1), 0u);
  EXPECT_EQ(*gin.getSignalShadowPtr(1), 0u);
  add_signal(1, 3);
  EXPECT_EQ(gin.readSignal(1), 3u);
  gin.waitSignal(ncclCoopThread{}, 1, 3);
}

TEST_F(NcclGinWaits, P15_one_id_on_two_contexts_is_two_signals) {
  const ncclGin first(comm_, 0), second(comm_, 1);
  add_signal(3, 5, 1);
  EXPECT_EQ(first.readSignal(3), 0u);
  EXPECT_EQ(second.readSignal(3), 5u);
  EXPECT_NE(first.getSignalShadowPtr(3), second.getSignalShadowPtr(3));
}

TEST_F(NcclGinWaits, P12_counters_count_56_bits_and_start_again_when_reset) {
  const ncclGin gin(comm_, 0);
  gin.put(ncclTeamWorld(comm_), 1, window_, 0, window_, 0, 8, ncclGin_None{}, ncclGin_WeakCounterInc{4});
  settle();
  EXPECT_EQ(gin.readCounter(4), 0u);
  rig_.transport.complete();
  settle();
  EXPECT_EQ(gin.readCounter(4), 1u);
  gin.waitCounter(ncclCoopThread{}, 4, 1);
  gin.resetCounter(4);
  EXPECT_EQ(gin.readCounter(4), 0u);
}

TEST_F(NcclGinWaits, P16_shadows_meet_and_follow) {
  const ncclGin gin(comm_, 0);
  gin.increaseSignalShadow(2, 3);
  gin.increaseSignalShadow(2, 4);
  EXPECT_EQ(*gin.getSignalShadowPtr(2), 7u);
  add_signal(2, 9);
  gin.waitSignalMeetShadow(ncclCoopThread{}, 2);
  EXPECT_EQ(*gin.getSignalShadowPtr(2), 7u);
  uint32_t before = 0, delta = 0;
  gin.waitSignalFollowShadow(ncclCoopThread{}, 2, 1u, &before, &delta);
  EXPECT_EQ(before, 7u);
  EXPECT_EQ(delta, 2u);
  EXPECT_EQ(*gin.getSignalShadowPtr(2), 9u);
  add_signal(2, 0x100);
  uint64_t wide_before = 0, wide_delta = 0;
  gin.waitSignalFollowShadow(ncclCoopThread{}, 2, uint64_t{1}, &wide_before, &wide_delta);
  EXPECT_EQ(wide_before, 9u);
  EXPECT_EQ(wide_delta, 0x100u);
}

TEST_F(NcclGinWaits, a_wait_tells_what_it_waits_for) {
  const ncclGin gin(comm_, 1);
  const gin::Call call = gin::call_of(gin, DeviceCall::kWaitSignal, nullptr);
  const gin::Awaited awaited = gin::awaited_signal(call, 6);
  EXPECT_EQ(awaited.kind, WaitKind::kSignal);
  EXPECT_EQ(awaited.index, 6u);
  EXPECT_EQ(awaited.cell.cell, &rig_.signals[static_cast<size_t>(ranks_.total_signals()) + 6]);
  EXPECT_EQ(call.context, 1u);
  EXPECT_EQ(gin::awaited_counter(call, 2).kind, WaitKind::kCounter);
  EXPECT_EQ(gin::awaited_place(call, ordered_, 8).kind, WaitKind::kVaSignal);
}

}  // namespace
}  // namespace anygin::testing
