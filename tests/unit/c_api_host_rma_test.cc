// SPDX-License-Identifier: Apache-2.0
// The host's one-sided operations through nccl.h: what arrives, in which order, and when a stream goes on.
#include <atomic>
#include <thread>

#include "anygin/comm/communicator.h"
#include "anygin/comm/host_queue.h"
#include "unit/rma_rank.h"

namespace anygin::comm {
namespace {

TEST(CApiHostRma, APutIsThereWhenItsSignalWasWaitedFor) {
  on_rma_ranks(2, 8192, [](RmaRank& mine) {
    if (mine.rank() == 0) {
      mine.fill(1000, 1001);
      ASSERT_EQ(mine.put(1000, 1, 16), ncclSuccess) << last_error();
      mine.finish();
      return;
    }
    ASSERT_EQ(mine.wait(0, 1), ncclSuccess) << last_error();
    mine.finish();
    for (uint32_t i = 0; i < 1000; ++i) ASSERT_EQ(mine.words(16)[i], 1000 + i) << i;
    EXPECT_EQ(mine.words(16)[1000], 0u);
    EXPECT_EQ(mine.words()[3], 0u);
  });
}

// Four ranks as two nodes: the same calls go over the network.
TEST(CApiHostRma, RanksOfOtherNodesAreReachedToo) {
  const WithOptions two_nodes([](Options& o) { o.topology.ranks_of_node = {2, 2}; });
  on_rma_ranks(4, 8192, [](RmaRank& mine) {
    mine.fill(100u * static_cast<uint32_t>(mine.rank()), 8);
    const int peers[] = {(mine.rank() + 2) % 4, (mine.rank() + 1) % 4, mine.rank()};
    for (const int peer : peers) {
      ASSERT_EQ(mine.put(8, peer, 64 * static_cast<size_t>(mine.rank())), ncclSuccess) << last_error();
    }
    const int sources[] = {(mine.rank() + 2) % 4, (mine.rank() + 3) % 4, mine.rank()};
    for (const int source : sources) ASSERT_EQ(mine.wait(source, 1), ncclSuccess) << last_error();
    mine.finish();
    for (const int source : sources) {
      EXPECT_EQ(mine.words(64 * static_cast<size_t>(source))[7], 100u * static_cast<uint32_t>(source) + 7);
    }
  });
}

TEST(CApiHostRma, AllTypesCountTheirBytesAndNoElementIsASignal) {
  constexpr size_t kBytes[ncclNumTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  on_rma_ranks(2, 8192, [&](RmaRank& mine) {
    if (mine.rank() == 1) {
      ASSERT_EQ(mine.wait(0, ncclNumTypes + 1), ncclSuccess) << last_error();
      mine.finish();
      for (int type = 0; type < ncclNumTypes; ++type) {
        const auto* at = reinterpret_cast<unsigned char*>(mine.words(64 * static_cast<size_t>(type)));
        EXPECT_EQ(at[3 * kBytes[type] - 1], 0xabu) << type;
        EXPECT_EQ(at[3 * kBytes[type]], 0u) << type;
      }
      return;
    }
    std::memset(mine.source(), 0xab, 64);
    for (int type = 0; type < ncclNumTypes; ++type) {
      ANYGIN_NCCL_OK(ncclPutSignal(mine.source(), 3, static_cast<ncclDataType_t>(type), 1, mine.window(),
                                   64 * static_cast<size_t>(type), 0, 0, 0, mine.comm(), mine.stream()));
    }
    ANYGIN_NCCL_OK(mine.put(0, 1));
    mine.finish();
  });
}

TEST(CApiHostRma, WaitsAreCumulativeAndSurplusIsKept) {
  on_rma_ranks(2, 8192, [](RmaRank& mine) {
    std::atomic<int> passed{0};
    if (mine.rank() == 0) {
      for (int i = 0; i < 5; ++i) ANYGIN_NCCL_OK(mine.signal(1));
      mine.finish();
      mine.meet();  // rank 1 begins to wait when five are there
      mine.meet();  // it saw five, and waits for a sixth
      ANYGIN_NCCL_OK(mine.signal(1));
      mine.finish();
      return;
    }
    mine.meet();
    ANYGIN_NCCL_OK(mine.wait(0, 2));
    ANYGIN_NCCL_OK(mine.wait(0, 3));
    mine.finish();
    ANYGIN_NCCL_OK(mine.wait(0, 1));
    mine.then([&] { passed = 1; });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(cudaStreamQuery(mine.stream()), cudaErrorNotReady);
    EXPECT_EQ(passed, 0);
    mine.meet();
    mine.finish();
    EXPECT_EQ(passed, 1);
  });
}

TEST(CApiHostRma, OneWaitNamesSeveralPeersAndOnePeerTwice) {
  on_rma_ranks(3, 8192, [](RmaRank& mine) {
    if (mine.rank() != 0) {
      ANYGIN_NCCL_OK(mine.signal(0));
      if (mine.rank() == 1) {
        mine.finish();
        mine.meet();
        ANYGIN_NCCL_OK(mine.signal(0));
      } else {
        mine.meet();
      }
      mine.finish();
      return;
    }
    ncclWaitSignalDesc_t all[] = {{1, 1, 0, 0}, {1, 2, 0, 0}, {1, 1, 0, 0}};
    ANYGIN_NCCL_OK(ncclWaitSignal(3, all, mine.comm(), mine.stream()));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(cudaStreamQuery(mine.stream()), cudaErrorNotReady);  // one of rank 1 is missing
    mine.meet();
    mine.finish();
  });
}

// The put reads its source when the stream gets there, and has read it when the stream goes on.
TEST(CApiHostRma, ASourceIsReadAtItsPlaceInTheStream) {
  on_rma_ranks(2, 1 << 16, [](RmaRank& mine) {
    constexpr int kRounds = 50;
    for (int round = 0; round < kRounds; ++round) {
      if (mine.rank() == 0) {
        mine.then([&mine, round] { mine.fill(1000u * static_cast<uint32_t>(round), 4096); });
        ANYGIN_NCCL_OK(mine.put(4096, 1));
        mine.then([&mine] { mine.fill(0xdead0000u, 4096); });
        ANYGIN_NCCL_OK(mine.wait(1, 1));
      } else {
        ANYGIN_NCCL_OK(mine.wait(0, 1));
        mine.then([&mine, round] {
          for (uint32_t i = 0; i < 4096; i += 4095) {
            EXPECT_EQ(mine.words()[i], 1000u * static_cast<uint32_t>(round) + i);
          }
        });
        ANYGIN_NCCL_OK(mine.signal(0));
      }
    }
    mine.finish();
  });
}

// Launch order holds for one peer, whichever stream gets there first.
TEST(CApiHostRma, APutOfAnotherStreamDoesNotOvertake) {
  on_rma_ranks(2, 8192, [](RmaRank& mine) {
    if (mine.rank() == 1) {
      ANYGIN_NCCL_OK(mine.wait(0, 2));
      mine.finish();
      EXPECT_EQ(mine.words()[0], 8u);
      return;
    }
    cudaStream_t held = nullptr, free = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&free, cudaStreamNonBlocking), cudaSuccess);
    mine.source()[0] = 7;
    mine.source(64)[0] = 8;
    ANYGIN_NCCL_OK(mine.wait_on(held, 0, 1));
    ANYGIN_NCCL_OK(mine.put_on(held, mine.source(), 1, 1));
    ANYGIN_NCCL_OK(mine.put_on(free, mine.source(64), 1, 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(cudaStreamQuery(free), cudaErrorNotReady);
    ANYGIN_NCCL_OK(mine.signal(0));  // releases `held`
    for (cudaStream_t one : {held, free}) {
      EXPECT_EQ(cudaStreamSynchronize(one), cudaSuccess);
      EXPECT_EQ(cudaStreamDestroy(one), cudaSuccess);
    }
  });
}

TEST(CApiHostRma, ALargePutIsCutAndIsOneSignal) {
  on_rma_ranks(2, 1 << 16, [](RmaRank& mine) {
    Communicator& communicator = *reinterpret_cast<Communicator*>(mine.comm());
    communicator.host_queue()->set_piece_bytes_for_test(1000);  // 32 pieces and a rest
    if (mine.rank() == 0) {
      mine.fill(5, 8190);
      ANYGIN_NCCL_OK(mine.put(8190, 1, 8));
      mine.finish();
      mine.meet();
      ANYGIN_NCCL_OK(mine.signal(1));
      mine.finish();
      return;
    }
    ANYGIN_NCCL_OK(mine.wait(0, 1));
    mine.finish();
    for (uint32_t i = 0; i < 8190; ++i) ASSERT_EQ(mine.words(8)[i], 5 + i) << i;
    ANYGIN_NCCL_OK(mine.wait(0, 1));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(cudaStreamQuery(mine.stream()), cudaErrorNotReady);  // 33 pieces, one signal
    mine.meet();
    mine.finish();
  });
}

TEST(CApiHostRma, AGroupLaunchesItsCallsAtItsEndInTheirOrder) {
  on_rma_ranks(3, 8192, [](RmaRank& mine) {
    const int next = (mine.rank() + 1) % 3, left = (mine.rank() + 2) % 3;
    mine.fill(10u * static_cast<uint32_t>(mine.rank()), 4);
    ANYGIN_NCCL_OK(ncclGroupStart());
    ANYGIN_NCCL_OK(mine.put(1, next, 0));
    ANYGIN_NCCL_OK(mine.put(2, left, 64));
    ANYGIN_NCCL_OK(mine.wait(left, 1));
    ANYGIN_NCCL_OK(mine.wait(next, 1));
    ANYGIN_NCCL_OK(mine.put(3, next, 128));
    ANYGIN_NCCL_OK(mine.wait(left, 1));
    EXPECT_EQ(cudaStreamQuery(mine.stream()), cudaSuccess);  // nothing is queued before the end
    ANYGIN_NCCL_OK(ncclGroupEnd());
    mine.finish();
    EXPECT_EQ(mine.words(0)[0], 10u * static_cast<uint32_t>(left));
    EXPECT_EQ(mine.words(64)[1], 10u * static_cast<uint32_t>(next) + 1);
    EXPECT_EQ(mine.words(128)[2], 10u * static_cast<uint32_t>(left) + 2);
  });
}

// What was queued on any stream of the group comes before its launch, and what is queued later comes behind it.
TEST(CApiHostRma, TheStreamsOfAGroupAreJoined) {
  on_rma_ranks(2, 8192, [](RmaRank& mine) {
    cudaStream_t other = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    const int peer = 1 - mine.rank();
    ANYGIN_NCCL_OK(ncclGroupStart());
    ANYGIN_NCCL_OK(mine.put(1, peer));
    ANYGIN_NCCL_OK(mine.wait_on(other, peer, 1));
    ANYGIN_NCCL_OK(ncclGroupEnd());
    EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
    EXPECT_EQ(cudaStreamQuery(mine.stream()), cudaSuccess);  // the wait ran there
    EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
  });
}

}  // namespace
}  // namespace anygin::comm
