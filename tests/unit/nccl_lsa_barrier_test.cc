// SPDX-License-Identifier: Apache-2.0
// LSA barriers on lanes: block b of a grid plays rank b (contract 8.1; P17, P21, P22).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/hand_made_ranks.h"
#include "unit/lane_builtins.h"

namespace anygin::testing {
namespace {

constexpr int kRanks = 4;
constexpr unsigned kThreads = 64;

struct Shared {
  ncclDevComm comms[kRanks];
  uint32_t entered[kRanks];
  uint32_t plain[kRanks];
  uint32_t early, stale, timeouts;
};

class NcclLsaBarrier : public ::testing::Test {
 protected:
  NcclLsaBarrier() : ranks_({.ranks = kRanks, .lsa_size = kRanks, .barriers = 3}) {
    EXPECT_EQ(cudaMallocHost(&shared_, sizeof(Shared)), cudaSuccess);
    *shared_ = Shared{};
    for (int r = 0; r < kRanks; ++r) shared_->comms[r] = ranks_.comm(r, nullptr);
  }
  ~NcclLsaBarrier() override { EXPECT_EQ(cudaFreeHost(shared_), cudaSuccess); }

  template <typename Body>
  void run(Body body, unsigned blocks = kRanks) {
    Shared* const shared = shared_;
    simt::LaunchShape shape;
    shape.grid = {blocks, 1, 1};
    shape.block = {kThreads, 1, 1};
    ASSERT_EQ(simt::launch_callable(shape, [=] { body(shared, static_cast<int>(blockIdx.x)); }), cudaSuccess);
    ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  }

  NcclRanks ranks_;
  Shared* shared_ = nullptr;
};

// Thread 0 of each rank says where it is; nobody may be seen elsewhere than in this round or on the way to the next.
template <typename Coop>
void rounds(Shared* shared, int rank, Coop coop, int turns) {
  const ncclDevComm& comm = shared->comms[rank];
  // covers: ncclLsaBarrierSession.ncclLsaBarrierSession(ncclTeamTagLsa)
  ncclLsaBarrierSession<Coop> session(coop, comm, ncclTeamTagLsa{}, 1);
  for (int turn = 0; turn < turns; ++turn) {
    const uint32_t round = load_relaxed(&shared->entered[rank]) + 1;
    coop.sync();
    if (coop.thread_rank() == 0) {
      if (turn % kRanks == rank) __nanosleep(1000);
      shared->plain[rank] = round;
      store_relaxed(&shared->entered[rank], round);
    }
    // covers: ncclLsaBarrierSession.sync(untimed)
    session.sync(coop, cuda::memory_order_acq_rel);
    for (int peer = coop.thread_rank(); peer < kRanks; peer += coop.size()) {
      const uint32_t seen = load_relaxed(&shared->entered[peer]);
      if (seen != round && seen != round + 1) claim(&shared->early, 1u);
      if (load_relaxed(&shared->plain[peer]) < round) claim(&shared->stale, 1u);
    }
    session.sync(coop, cuda::memory_order_acq_rel);
  }
}

TEST_F(NcclLsaBarrier, P17_P22_nobody_leaves_before_all_have_entered) {
  for (int kernel = 0; kernel < 3; ++kernel) {  // later kernels go on where the last one ended
    run([](Shared* shared, int rank) { rounds(shared, rank, ncclCoopCta{}, 20); });
    EXPECT_EQ(shared_->early, 0u) << "kernel " << kernel;
    EXPECT_EQ(shared_->stale, 0u) << "kernel " << kernel;
    EXPECT_EQ(shared_->entered[3], 20u * static_cast<uint32_t>(kernel + 1));
  }
}

TEST_F(NcclLsaBarrier, P17_one_warp_or_thread_is_enough) {
  run([](Shared* shared, int rank) {
    if (threadIdx.x >= 32) return;
    rounds(shared, rank, ncclCoopWarp{}, 10);
    if (threadIdx.x == 0) rounds(shared, rank, ncclCoopThread{}, 10);
  });
  EXPECT_EQ(shared_->early, 0u);
  EXPECT_EQ(shared_->entered[0], 20u);
}

TEST_F(NcclLsaBarrier, arrive_and_wait_may_stand_apart) {
  run([](Shared* shared, int rank) {
    ncclLsaBarrierSession<ncclCoopCta> session(ncclCoopCta{}, shared->comms[rank], ncclTeamTagLsa{}, 0);
    if (threadIdx.x == 0) shared->plain[rank] = 1;
    session.arrive(ncclCoopCta{}, cuda::memory_order_release);
    if (threadIdx.x == 0) claim(&shared->entered[rank], 1u);
    // covers: ncclLsaBarrierSession.wait(untimed)
    session.wait(ncclCoopCta{}, cuda::memory_order_acquire);
    for (int peer = 0; peer < kRanks; ++peer) {
      if (shared->plain[peer] != 1) claim(&shared->stale, 1u);
    }
  });
  EXPECT_EQ(shared_->stale, 0u);
}

constexpr uint64_t kHalfASecond = 500'000'000;  // the ranks that are there come well before, on a busy machine, too

TEST_F(NcclLsaBarrier, P21_the_timed_form_says_when_a_member_is_missing) {
  run(
      [](Shared* shared, int rank) {
        ncclLsaBarrierSession<ncclCoopCta> session(ncclCoopCta{}, shared->comms[rank], ncclTeamTagLsa{}, 2);
        // covers: ncclLsaBarrierSession.sync(timed)
        const ncclResult_t result = session.sync(ncclCoopCta{}, cuda::memory_order_acq_rel, kHalfASecond);
        if (result == ncclTimeout) claim(&shared->timeouts, 1u);
      },
      kRanks - 1);
  // Threads 0..2 of a block each wait for one peer, and only one of the three peers is the missing rank.
  EXPECT_EQ(shared_->timeouts, static_cast<uint32_t>(kRanks - 1));
}

TEST_F(NcclLsaBarrier, epochs_roll_over) {
  for (int r = 0; r < kRanks; ++r) {
    const ncclDevComm& comm = shared_->comms[r];
    auto* const words = static_cast<uint32_t*>(ncclGetResourceBufferLocalPointer(comm, comm.lsaBarrier.bufHandle));
    words[3 + 1] = 0xfffffffeu;  // the saved epoch of barrier 1, of 3
    for (int peer = 0; peer < kRanks; ++peer) words[9 + kRanks + peer] = 0xfffffffeu;
  }
  run([](Shared* shared, int rank) { rounds(shared, rank, ncclCoopCta{}, 4); });
  EXPECT_EQ(shared_->early, 0u);
  EXPECT_EQ(shared_->entered[0], 4u);
}

class KeepingListener final : public MisuseListener {
 public:
  bool on_misuse(const Misuse& misuse, const char* report) override {
    kind = misuse.kind;
    text = report;
    return true;
  }
  MisuseKind kind = MisuseKind::kKinds;
  std::string text;
};

// M6 on a lane: the kernel fails, the communicator is poisoned, and the listener has the line.
TEST_F(NcclLsaBarrier, M6_an_index_out_of_range_ends_the_kernel) {
  KeepingListener listener;
  ranks_.view().misuseSink = static_cast<MisuseListener*>(&listener);
  Shared* const shared = shared_;
  simt::LaunchShape shape;
  shape.block = {kThreads, 1, 1};
  ASSERT_EQ(simt::launch_callable(shape,
                                  [=] {
                                    if (threadIdx.x != 0) return;
                                    ncclLsaBarrierSession<ncclCoopThread> session(ncclCoopThread{}, shared->comms[0],
                                                                                  ncclTeamTagLsa{}, 3);
                                    shared->early = 1;
                                  }),
            cudaSuccess);
  EXPECT_EQ(cudaDeviceSynchronize(), cudaErrorLaunchFailure);
  EXPECT_EQ(listener.kind, MisuseKind::kBarrierIndex);
  EXPECT_THAT(listener.text, ::testing::HasSubstr("barrier index 3 is beyond the 3 granted"));
  EXPECT_EQ(ranks_.abort_word, static_cast<uint32_t>(AbortCause::kMisuse));
  EXPECT_EQ(shared_->early, 0u);
  EXPECT_EQ(cudaDeviceReset(), cudaSuccess);
  EXPECT_EQ(cudaMallocHost(&shared_, sizeof(Shared)), cudaSuccess);
}

TEST_F(NcclLsaBarrier, a_team_of_one_passes) {
  run(
      [](Shared* shared, int rank) {
        // covers: ncclLsaBarrierSession.ncclLsaBarrierSession(handle)
        ncclLsaBarrierSession<ncclCoopCta> session(ncclCoopCta{}, shared->comms[rank], ncclTeam{1, 0, 1},
                                                   shared->comms[rank].lsaBarrier, 0);
        session.sync(ncclCoopCta{}, cuda::memory_order_acq_rel);
        if (threadIdx.x == 0) shared->entered[rank] = session.epoch;
      },
      1);
  EXPECT_EQ(shared_->entered[0], 1u);
}

}  // namespace
}  // namespace anygin::testing
