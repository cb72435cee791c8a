// SPDX-License-Identifier: Apache-2.0
// What the host's one-sided operations refuse, row by row of contract 3.1: each with the call that differs in that one
// field and is taken.
#include "support/reaches.h"
#include "unit/mapped_memory.h"
#include "unit/rma_rank.h"

namespace anygin::comm {
namespace {

struct Put {
  const void* source;
  size_t count = 1;
  ncclDataType_t type = ncclUint32;
  int peer = 0;
  ncclWindow_t window;
  size_t offset = 0;
  int signal = 0, context = 0;
  unsigned int flags = 0;
  ncclComm_t comm;
  cudaStream_t stream;
  ncclResult_t operator()() const {
    return ncclPutSignal(source, count, type, peer, window, offset, signal, context, flags, comm, stream);
  }
};

Put good_put(RmaRank& mine) {
  Put put{mine.source()};
  put.window = mine.window();
  put.comm = mine.comm();
  put.stream = mine.stream();
  return put;
}

// The put with one field changed is refused with `code` and `words`; the good one is taken.
template <typename Change>
void expect_refused(RmaRank& mine, const Change& change, ncclResult_t code, const std::string& words) {
  Put put = good_put(mine);
  change(put);
  EXPECT_EQ(put(), code) << words;
  EXPECT_TRUE(last_error_says(words)) << last_error();
  EXPECT_EQ(good_put(mine)(), ncclSuccess) << last_error();
}

TEST(CApiHostRmaChecks, PutRefusesWhatIsWrongInOneField) {
  on_rma_ranks(1, 8192, [](RmaRank& mine) {
    expect_refused(
        mine, [](Put& p) { p.comm = nullptr; }, ncclInvalidArgument, "the communicator is NULL");
    expect_refused(
        mine, [](Put& p) { p.peer = 1; }, ncclInvalidArgument, "peer is 1; 0 to 0");
    expect_refused(
        mine, [](Put& p) { p.peer = -1; }, ncclInvalidArgument, "peer is -1");
    expect_refused(
        mine, [](Put& p) { p.type = ncclNumTypes; }, ncclInvalidArgument, "datatype is 12; 0 to 11");
    expect_refused(
        mine, [](Put& p) { p.context = 1; }, ncclInvalidArgument, "ctx is 1; only 0");
    expect_refused(
        mine, [](Put& p) { p.signal = 1; }, ncclInvalidArgument, "sigIdx is 1; only 0");
    expect_refused(
        mine, [](Put& p) { p.flags = 4; }, ncclInvalidArgument, "flags is 4; only 0");
    expect_refused(
        mine, [](Put& p) { p.window = nullptr; }, ncclInvalidArgument, "peerWin is NULL");
    int other = 0;
    expect_refused(
        mine, [&](Put& p) { p.window = reinterpret_cast<ncclWindow_t>(&other); }, ncclInternalError,
        "no window of this communicator");
    expect_refused(
        mine, [](Put& p) { p.source = nullptr; }, ncclInvalidArgument, "localbuff is NULL");
    expect_refused(
        mine, [](Put& p) { p.source = nullptr, p.count = 0; }, ncclInvalidArgument, "localbuff is NULL");
    expect_refused(
        mine, [&](Put& p) { p.source = &other; }, ncclInvalidArgument, "NCCL_WIN_COLL_SYMMETRIC");
    expect_refused(
        mine, [](Put& p) { p.offset = 8192; }, ncclInvalidArgument, "the peer's window: 4 bytes from byte");
    expect_refused(
        mine, [](Put& p) { p.count = 1025; }, ncclInvalidArgument, "the window of localbuff: 4100 bytes");
    expect_refused(
        mine, [](Put& p) { p.count = ~size_t{0}; }, ncclInvalidArgument, "beyond any window");
    expect_refused(
        mine, [&](Put& p) { p.stream = reinterpret_cast<cudaStream_t>(&other); }, ncclUnhandledCudaError,
        "stream is no stream");
    mine.finish();
  });
}

// The first thing that is wrong is told.
TEST(CApiHostRmaChecks, RowsComeInOrder) {
  on_rma_ranks(1, 8192, [](RmaRank& mine) {
    Put put = good_put(mine);
    put.source = nullptr;
    put.window = nullptr;
    put.flags = 1;
    put.signal = put.context = put.peer = 1;
    put.type = ncclNumTypes;
    put.comm = nullptr;
    const auto says = [&](const char* words) {
      EXPECT_EQ(put(), ncclInvalidArgument);
      EXPECT_TRUE(last_error_says(words)) << last_error();
    };
    says("communicator");
    put.comm = mine.comm(), says("peer is 1");
    put.peer = 0, says("datatype");
    put.type = ncclInt8, says("ctx is 1");
    put.context = 0, says("sigIdx is 1");
    put.signal = 0, says("flags is 1");
    put.flags = 0, says("peerWin");
    put.window = mine.window(), says("localbuff");
    put.source = mine.source();
    EXPECT_EQ(put(), ncclSuccess) << last_error();
    mine.finish();
  });
}

TEST(CApiHostRmaChecks, SignalRefusesWhatIsWrongInOneField) {
  on_rma_ranks(1, 8192, [](RmaRank& mine) {
    const auto refused = [&](int peer, int signal, int context, unsigned flags, const char* words) {
      EXPECT_EQ(ncclSignal(peer, signal, context, flags, mine.comm(), mine.stream()), ncclInvalidArgument) << words;
      EXPECT_TRUE(last_error_says(words)) << last_error();
    };
    EXPECT_EQ(ncclSignal(0, 0, 0, 0, nullptr, mine.stream()), ncclInvalidArgument);
    refused(1, 0, 0, 0, "peer is 1");
    refused(0, 1, 0, 0, "sigIdx is 1");
    refused(0, 0, 1, 0, "ctx is 1");
    refused(0, 0, 0, 1, "flags is 1");
    EXPECT_EQ(mine.signal(0), ncclSuccess) << last_error();
    mine.finish();
  });
}

TEST(CApiHostRmaChecks, WaitRefusesWhatIsWrongInOneField) {
  on_rma_ranks(1, 8192, [](RmaRank& mine) {
    const auto refused = [&](int count, ncclWaitSignalDesc_t one, const char* words) {
      ncclWaitSignalDesc_t both[] = {{1, 0, 0, 0}, one};
      EXPECT_EQ(ncclWaitSignal(count, both, mine.comm(), mine.stream()), ncclInvalidArgument) << words;
      EXPECT_TRUE(last_error_says(words)) << last_error();
    };
    EXPECT_EQ(ncclWaitSignal(1, nullptr, mine.comm(), mine.stream()), ncclInvalidArgument);
    EXPECT_TRUE(last_error_says("signalDescs is NULL")) << last_error();
    refused(0, {1, 0, 0, 0}, "nDesc is 0");
    refused(-1, {1, 0, 0, 0}, "nDesc is -1");
    refused(2, {0, 0, 0, 0}, "signalDescs[1].opCnt is 0");
    refused(2, {-2, 0, 0, 0}, "signalDescs[1].opCnt is -2");
    refused(2, {1, 0, 1, 0}, "signalDescs[1].sigIdx is 1");
    refused(2, {1, 0, 0, 1}, "signalDescs[1].ctx is 1");
    refused(2, {1, 1, 0, 0}, "signalDescs[1].peer is 1");
    // Nothing was consumed: two signals satisfy a wait for two.
    ncclWaitSignalDesc_t both[] = {{1, 0, 0, 0}, {1, 0, 0, 0}};
    ANYGIN_NCCL_OK(mine.signal(0));
    ANYGIN_NCCL_OK(mine.signal(0));
    EXPECT_EQ(ncclWaitSignal(2, both, mine.comm(), mine.stream()), ncclSuccess) << last_error();
    mine.finish();
  });
}

TEST(CApiHostRmaChecks, TheSourceMustLieInASymmetricWindowAndTheTargetNeedNot) {
  on_rma_ranks(1, 8192, [](RmaRank& mine) {
    const DeviceMemory memory(4096);
    ncclWindow_t plain = nullptr;
    ANYGIN_NCCL_OK(ncclCommWindowRegister(mine.comm(), memory.at(), 4096, &plain, NCCL_WIN_DEFAULT));
    expect_refused(
        mine, [&](Put& p) { p.source = memory.at(); }, ncclInvalidArgument, "NCCL_WIN_COLL_SYMMETRIC");
    Put put = good_put(mine);
    put.window = plain;
    put.offset = 4092;
    EXPECT_EQ(put(), ncclSuccess) << last_error();
    put.offset = 4093;
    EXPECT_EQ(put(), ncclInvalidArgument);
    mine.finish();
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(mine.comm(), plain));
    put.offset = 0;
    EXPECT_EQ(put(), ncclInternalError);
    EXPECT_TRUE(last_error_says("deregistered")) << last_error();
    REACHES(GIN_ERR_WINDOW_FOREIGN, last_error());
    put.window = mine.window();
    put.source = memory.at();
    EXPECT_EQ(put(), ncclInvalidArgument);
    REACHES(GIN_ERR_RMA_SOURCE, last_error());
  });
}

// Two pieces of memory, of which the second is the host's or not.
TEST(CApiHostRmaChecks, WindowsOfSeveralPiecesAreRefusedOnBothSides) {
  on_rma_ranks(2, 8192, [](RmaRank& mine) {
    for (const bool host : {false, true}) {
      const MappedMemory memory(mine.rank(), {host, host, host ? 0 : mine.rank()});
      ncclWindow_t pieces = nullptr;
      ANYGIN_NCCL_OK(ncclCommWindowRegister(mine.comm(), memory.base, 2 * kPiece, &pieces, NCCL_WIN_COLL_SYMMETRIC));
      expect_refused(
          mine, [&](Put& p) { p.window = pieces; }, ncclInvalidArgument, "peerWin spans several pieces");
      expect_refused(
          mine, [&](Put& p) { p.source = memory.base; }, ncclInvalidArgument, "the window of localbuff spans several");
      ANYGIN_NCCL_OK(ncclCommWindowDeregister(mine.comm(), pieces));
      // The second piece alone is one piece; of the host it is refused still.
      ANYGIN_NCCL_OK(
          ncclCommWindowRegister(mine.comm(), memory.base + kPiece, kPiece, &pieces, NCCL_WIN_COLL_SYMMETRIC));
      Put put = good_put(mine);
      put.window = pieces;
      put.peer = mine.rank();
      EXPECT_EQ(put(), host ? ncclInvalidArgument : ncclSuccess) << last_error();
      if (host) {
        EXPECT_TRUE(last_error_says("peerWin has host memory")) << last_error();
        REACHES(GIN_ERR_RMA_MEMORY, last_error());
      }
      put = good_put(mine);
      put.source = memory.base + kPiece;
      EXPECT_EQ(put(), host ? ncclInvalidArgument : ncclSuccess) << last_error();
      mine.finish();
      mine.meet();
      ANYGIN_NCCL_OK(ncclCommWindowDeregister(mine.comm(), pieces));
    }
  });
}

// Of a window that is smaller at the peer, the peer's size counts.
TEST(CApiHostRmaChecks, OffsetsAreCheckedAgainstThePeersSize) {
  on_rma_ranks(2, 8192, [](RmaRank& mine) {
    const size_t bytes = mine.rank() == 0 ? 8192 : 4096;
    const DeviceMemory memory(bytes);
    ncclWindow_t uneven = nullptr;
    ANYGIN_NCCL_OK(ncclCommWindowRegister(mine.comm(), memory.at(), bytes, &uneven, NCCL_WIN_COLL_SYMMETRIC));
    Put put = good_put(mine);
    put.window = uneven;
    put.offset = 4096;
    put.peer = 0;
    EXPECT_EQ(put(), ncclSuccess) << last_error();
    put.peer = 1;
    EXPECT_EQ(put(), ncclInvalidArgument);
    EXPECT_TRUE(last_error_says("its 4096 bytes")) << last_error();
    mine.finish();
    mine.meet();
    ANYGIN_NCCL_OK(ncclCommWindowDeregister(mine.comm(), uneven));
  });
}

TEST(CApiHostRmaChecks, WhereThereIsNoneItIsAnInvalidArgument) {
  ncclUniqueId id;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.numRmaCtx = 0;
  ncclComm_t comm = nullptr;
  ASSERT_EQ(ncclCommInitRankConfig(&comm, 1, id, 0, &config), ncclSuccess) << last_error();
  EXPECT_EQ(ncclSignal(0, 0, 1, 0, comm, nullptr), ncclInvalidArgument);
  EXPECT_TRUE(last_error_says("numRmaCtx 0")) << last_error();
  ncclWaitSignalDesc_t one{1, 0, 0, 0};
  EXPECT_EQ(ncclWaitSignal(1, &one, comm, nullptr), ncclInvalidArgument);
  ncclCommProperties_t properties = NCCL_COMM_PROPERTIES_INITIALIZER;
  ANYGIN_NCCL_OK(ncclCommQueryProperties(comm, &properties));
  EXPECT_FALSE(properties.hostRmaSupport);
  ANYGIN_NCCL_OK(ncclCommDestroy(comm));
  on_rma_ranks(1, 8192, [](RmaRank& mine) {
    ncclCommProperties_t with = NCCL_COMM_PROPERTIES_INITIALIZER;
    ANYGIN_NCCL_OK(ncclCommQueryProperties(mine.comm(), &with));
    EXPECT_TRUE(with.hostRmaSupport);
  });
}

TEST(CApiHostRmaChecks, NodesWhoseRailsAreApartHaveNone) {
  const WithOptions apart([](Options& o) {
    o.topology.ranks_of_node = {1, 1};
    o.topology.rail_only = true;
  });
  on_comms(2, [](ncclComm_t comm, int) {
    EXPECT_EQ(ncclSignal(0, 0, 0, 0, comm, nullptr), ncclInvalidArgument);
    EXPECT_TRUE(last_error_says("rails apart")) << last_error();
  });
}

TEST(CApiHostRmaChecks, AWrongCallInAGroupLaunchesNothing) {
  on_rma_ranks(1, 8192, [](RmaRank& mine) {
    ANYGIN_NCCL_OK(ncclGroupStart());
    ANYGIN_NCCL_OK(mine.put(1, 0));
    EXPECT_EQ(mine.put(1, 7), ncclInvalidArgument);
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidArgument);
    ANYGIN_NCCL_OK(mine.wait(0, 1));
    EXPECT_EQ(cudaStreamQuery(mine.stream()), cudaErrorNotReady);  // no signal came
    ANYGIN_NCCL_OK(ncclGroupStart());
    ANYGIN_NCCL_OK(ncclGroupEnd());
    cudaStream_t other = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    ANYGIN_NCCL_OK(ncclSignal(0, 0, 0, 0, mine.comm(), other));
    mine.finish();
    EXPECT_EQ(cudaStreamSynchronize(other), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
  });
}

}  // namespace
}  // namespace anygin::comm
