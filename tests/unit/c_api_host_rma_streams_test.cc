// SPDX-License-Identifier: Apache-2.0
// The host's one-sided operations and what streams do: captures, devices that are lost, communicators that end,
// reports.
#include <atomic>
#include <chrono>
#include <thread>

#include "anygin/base/world.h"
#include "anygin/simt/cuda_error.h"
#include "anygin/simt/device.h"
#include "support/reaches.h"
#include "unit/rma_rank.h"

namespace anygin::comm {
namespace {

// What engines have in flight, as a report says it.
std::string in_flight() {
  std::vector<std::string> lines;
  world().executor.visit_engines(
      [](Engine& engine, void* all) { engine.describe_pending(*static_cast<std::vector<std::string>*>(all)); }, &lines);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

TEST(CApiHostRmaStreams, AReportNamesWhatAStreamWaitsFor) {
  on_rma_ranks(2, 8192, [](RmaRank& mine) {
    if (mine.rank() == 1) {
      ANYGIN_NCCL_OK(mine.signal(0));
      mine.finish();
      mine.meet();
      mine.meet();
      ANYGIN_NCCL_OK(mine.signal(0));
      mine.finish();
      return;
    }
    mine.meet();
    ANYGIN_NCCL_OK(mine.wait(1, 2));
    ANYGIN_NCCL_OK(mine.put(3, 1));
    const std::string text = in_flight();
    EXPECT_NE(text.find("rank 0 waits for signals of rank 1: want 2, is 1"), std::string::npos) << text;
    EXPECT_NE(text.find("rank 0 to rank 1: 1 queued, first a put of 12 bytes, whose stream is not there yet"),
              std::string::npos)
        << text;
    mine.meet();
    mine.finish();
    EXPECT_EQ(in_flight().find("rank 0 waits"), std::string::npos) << in_flight();
  });
}

// --- Captures --------------------------------------------------------------------------------------------------------
TEST(CApiHostRmaStreams, StreamsOfAGroupAreAllCapturedOrNone) {
  on_rma_ranks(1, 8192, [](RmaRank& mine) {
    cudaStream_t other = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(other, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    ANYGIN_NCCL_OK(ncclGroupStart());
    ANYGIN_NCCL_OK(mine.signal(0));
    EXPECT_EQ(mine.wait_on(other, 0, 1), ncclInvalidUsage);
    EXPECT_TRUE(last_error_says("all be captured by one graph, or none")) << last_error();
    REACHES(GIN_ERR_CAPTURE_MIXED, last_error());
    EXPECT_EQ(ncclGroupEnd(), ncclInvalidUsage);
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(other, &graph), cudaSuccess);
    ANYGIN_NCCL_OK(ncclGroupStart());
    ANYGIN_NCCL_OK(mine.signal(0));
    ANYGIN_NCCL_OK(mine.wait_on(other, 0, 1));
    ANYGIN_NCCL_OK(ncclGroupEnd());
    mine.finish();
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(other), cudaSuccess);
  });
}

TEST(CApiHostRmaStreams, CommunicatorsOfAGroupAreAllCapturedOrNone) {
  ncclComm_t comms[2] = {};
  ASSERT_EQ(ncclCommInitAll(comms, 2, nullptr), ncclSuccess) << last_error();
  cudaStream_t streams[2] = {};
  for (int rank : {0, 1}) {
    ASSERT_EQ(cudaSetDevice(rank), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&streams[rank], cudaStreamNonBlocking), cudaSuccess);
  }
  const auto both = [&] {
    ANYGIN_NCCL_OK(ncclGroupStart());
    for (int rank : {0, 1}) ANYGIN_NCCL_OK(ncclSignal(1 - rank, 0, 0, 0, comms[rank], streams[rank]));
    return ncclGroupEnd();
  };
  ASSERT_EQ(cudaStreamBeginCapture(streams[1], cudaStreamCaptureModeRelaxed), cudaSuccess);
  EXPECT_EQ(both(), ncclInvalidUsage);
  EXPECT_TRUE(last_error_says("streams of one communicator capture and those of another do not")) << last_error();
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(cudaStreamEndCapture(streams[1], &graph), cudaSuccess);
  EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
  EXPECT_EQ(both(), ncclSuccess) << last_error();
  for (int rank : {0, 1}) {
    EXPECT_EQ(cudaStreamSynchronize(streams[rank]), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(streams[rank]), cudaSuccess);
  }
  for (ncclComm_t comm : comms) ANYGIN_NCCL_OK(ncclCommDestroy(comm));
}

// Two descriptors of one peer add up in a graph too.
TEST(CApiHostRmaStreams, ACapturedWaitSumsWhatItNamesTwice) {
  on_rma_ranks(1, 8192, [](RmaRank& mine) {
    cudaStream_t sender = nullptr;
    ASSERT_EQ(cudaStreamCreateWithFlags(&sender, cudaStreamNonBlocking), cudaSuccess);
    cudaGraph_t one_signal = nullptr, wait = nullptr;
    cudaGraphExec_t send = nullptr, receive = nullptr;
    ASSERT_EQ(cudaStreamBeginCapture(sender, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    ANYGIN_NCCL_OK(ncclSignal(0, 0, 0, 0, mine.comm(), sender));
    ASSERT_EQ(cudaStreamEndCapture(sender, &one_signal), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(mine.stream(), cudaStreamCaptureModeThreadLocal), cudaSuccess);
    ncclWaitSignalDesc_t twice[] = {{1, 0, 0, 0}, {2, 0, 0, 0}};
    ANYGIN_NCCL_OK(ncclWaitSignal(2, twice, mine.comm(), mine.stream()));
    ASSERT_EQ(cudaStreamEndCapture(mine.stream(), &wait), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&send, one_signal, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&receive, wait, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(receive, mine.stream()), cudaSuccess);
    for (int i = 0; i < 2; ++i) ASSERT_EQ(cudaGraphLaunch(send, sender), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(sender), cudaSuccess);
    ANYGIN_NCCL_OK(ncclSignal(0, 0, 0, 0, mine.comm(), sender));  // not captured: does not count
    EXPECT_EQ(cudaStreamSynchronize(sender), cudaSuccess);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(cudaStreamQuery(mine.stream()), cudaErrorNotReady);
    ASSERT_EQ(cudaGraphLaunch(send, sender), cudaSuccess);
    mine.finish();
    EXPECT_EQ(cudaStreamSynchronize(sender), cudaSuccess);
    for (cudaGraphExec_t exec : {send, receive}) EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
    for (cudaGraph_t graph : {one_signal, wait}) EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(sender), cudaSuccess);
  });
}

// --- Ends ------------------------------------------------------------------------------------------------------------
// A stream whose device is lost never gets to its put: it neither holds up later ones nor the communicator's end.
TEST(CApiHostRmaStreams, APutOfALostDeviceIsDropped) {
  constexpr int kLost = 5;
  on_rma_ranks(1, 8192, [](RmaRank& mine) {
    cudaStream_t lost = nullptr;
    ASSERT_EQ(cudaSetDevice(kLost), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&lost, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaSetDevice(mine.rank()), cudaSuccess);
    ASSERT_EQ(simt::enqueue_wait(
                  simt::resolve_stream(lost), [] { return false; }, "for ever"),
              0);
    ANYGIN_NCCL_OK(mine.put_on(lost, mine.source(), 1, 0));
    ANYGIN_NCCL_OK(mine.put(1, 0));
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(cudaStreamQuery(mine.stream()), cudaErrorNotReady);
    simt::poison_device(kLost, simt::kCudaLaunchFailure, "the test says so");
    mine.finish();
    EXPECT_EQ(mine.put_on(lost, mine.source(), 1, 0), ncclUnhandledCudaError);
    EXPECT_TRUE(last_error_says("cannot be queued: device 5: cudaError 719")) << last_error();
    REACHES(GIN_ERR_CUDA_CALL, last_error());
    ANYGIN_NCCL_OK(mine.wait(0, 1));
    mine.finish();
  });
  simt::reset_device(kLost);
}

// After a peer's abort the streams that wait have ended, and each call says why.
TEST(CApiHostRmaStreams, AnEndedCommunicatorRefusesCalls) {
  ncclUniqueId id;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  std::vector<std::thread> ranks;
  for (int rank : {0, 1}) {
    ranks.emplace_back([&, rank] {
      ASSERT_EQ(cudaSetDevice(rank), cudaSuccess);
      ncclComm_t comm = nullptr;
      ASSERT_EQ(ncclCommInitRank(&comm, 2, id, rank), ncclSuccess) << last_error();
      cudaStream_t stream = nullptr;
      ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
      if (rank == 0) {
        ncclWaitSignalDesc_t one{1, 1, 0, 0};
        EXPECT_EQ(ncclWaitSignal(1, &one, comm, stream), ncclSuccess) << last_error();
        EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
        EXPECT_EQ(ncclSignal(1, 0, 0, 0, comm, stream), ncclRemoteError);
        EXPECT_TRUE(last_error_says("rank 1 ended it: GIN_ERR_ABORTED: ")) << last_error();
        REACHES(GIN_ERR_PEER_ENDED, last_error());
        REACHES(GIN_ERR_ABORTED, last_error().substr(last_error().find("ended it")));
        EXPECT_EQ(ncclWaitSignal(1, &one, comm, stream), ncclRemoteError);
      } else {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
      }
      ANYGIN_NCCL_OK(ncclCommAbort(comm));
      EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    });
  }
  for (std::thread& rank : ranks) rank.join();
  simt::reset_device(0);
}

template <typename Predicate>
void until(const char* what, const Predicate& predicate) {
  for (int ms = 0; ms < 5000 && !predicate(); ++ms) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(predicate()) << "5 s passed before " << what;
}

// A window goes while a put waits for its stream.
std::string deregister_under_a_put(int who, ncclResult_t code, const char* words) {
  std::string said;
  ncclUniqueId id;
  ANYGIN_NCCL_OK(ncclGetUniqueId(&id));
  std::atomic<int> ready{0};
  std::atomic<bool> seen{false};
  std::vector<std::thread> ranks;
  for (int rank : {0, 1}) {
    ranks.emplace_back([&, rank] {
      ASSERT_EQ(cudaSetDevice(rank), cudaSuccess);
      ncclComm_t comm = nullptr;
      ncclWindow_t window = nullptr;
      cudaStream_t stream = nullptr;
      const DeviceMemory memory(4096);
      ASSERT_EQ(ncclCommInitRank(&comm, 2, id, rank), ncclSuccess) << last_error();
      ANYGIN_NCCL_OK(ncclCommWindowRegister(comm, memory.at(), 4096, &window, NCCL_WIN_COLL_SYMMETRIC));
      ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
      if (rank == 0) {
        ASSERT_EQ(simt::enqueue_wait(
                      simt::resolve_stream(stream), [&] { return ready == 1; }, "the test"),
                  0);
        ANYGIN_NCCL_OK(ncclPutSignal(memory.at(), 5, ncclInt8, 1, window, 0, 0, 0, 0, comm, stream));
      }
      if (rank == who) {
        if (rank == 1) until("rank 0 has queued its put", [&] { return ready == -1; });
        ANYGIN_NCCL_OK(ncclCommWindowDeregister(comm, window));
        ready = 1;
      } else if (rank == 0) {
        ready = -1;
      }
      if (rank == 0) {
        EXPECT_EQ(cudaStreamSynchronize(stream), cudaErrorLaunchFailure);
        ncclResult_t async = ncclSuccess;
        ANYGIN_NCCL_OK(ncclCommGetAsyncError(comm, &async));
        EXPECT_EQ(async, code);
        EXPECT_TRUE(last_error_says(words)) << last_error();
        EXPECT_TRUE(last_error_says("a put of 5 bytes to rank 1")) << last_error();
        said = last_error();
        seen = true;
      }
      until("rank 0 has seen the end", [&] { return seen.load(); });
      ANYGIN_NCCL_OK(ncclCommAbort(comm));
      EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
    });
  }
  for (std::thread& rank : ranks) rank.join();
  simt::reset_device(0);
  return said;
}

TEST(CApiHostRmaStreams, APutWhoseOwnWindowIsGoneEndsTheCommunicator) {
  REACHES(GIN_ERR_SIGNAL_PENDING,
          deregister_under_a_put(0, ncclInvalidUsage, "deregistered before its stream came to it"));
}

TEST(CApiHostRmaStreams, AFailedPutIsTheAsynchronousError) {
  REACHES(GIN_ERR_NIC_OPERATION, deregister_under_a_put(1, ncclRemoteError, "failed: "));
}

// A graph outlives its communicator: its replay ends as a failed kernel does.
TEST(CApiHostRmaStreams, AReplayWithoutItsCommunicatorFails) {
  cudaGraphExec_t exec = nullptr;
  constexpr int kDevice = 6;
  on_comms(1, [&](ncclComm_t comm, int) {
    cudaStream_t stream = nullptr;
    ASSERT_EQ(cudaSetDevice(kDevice), cudaSuccess);
    ASSERT_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), cudaSuccess);
    ASSERT_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), cudaSuccess);
    ANYGIN_NCCL_OK(ncclSignal(0, 0, 0, 0, comm, stream));
    cudaGraph_t graph = nullptr;
    ASSERT_EQ(cudaStreamEndCapture(stream, &graph), cudaSuccess);
    ASSERT_EQ(cudaGraphInstantiate(&exec, graph, 0), cudaSuccess);
    ASSERT_EQ(cudaGraphLaunch(exec, stream), cudaSuccess);
    EXPECT_EQ(cudaStreamSynchronize(stream), cudaSuccess);
    EXPECT_EQ(cudaGraphDestroy(graph), cudaSuccess);
    EXPECT_EQ(cudaStreamDestroy(stream), cudaSuccess);
  });
  ASSERT_EQ(cudaSetDevice(kDevice), cudaSuccess);
  ASSERT_EQ(cudaGraphLaunch(exec, cudaStreamPerThread), cudaSuccess);
  EXPECT_EQ(cudaStreamSynchronize(cudaStreamPerThread), cudaErrorLaunchFailure);
  simt::reset_device(kDevice);
  EXPECT_EQ(cudaGraphExecDestroy(exec), cudaSuccess);
  ASSERT_EQ(cudaSetDevice(0), cudaSuccess);
}

}  // namespace
}  // namespace anygin::comm
