// SPDX-License-Identifier: Apache-2.0
// A captured wait that names a network peer twice waits for the sum (contract A.24).
#include "../../conformance/conformance.h"

namespace {

using conformance::Rank;

CONFORMANCE_CASE_WITH(AppendixA_24_captured_waits_sum, 2, {"ANYGIN_TOPOLOGY=2x1"}) {
  const int other = 1 - rank.rank;
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t executable = nullptr;
  rank.must(cudaStreamBeginCapture(rank.stream, cudaStreamCaptureModeThreadLocal), "cudaStreamBeginCapture");
  if (rank.rank == 0) {
    rank.must(ncclSignal(other, 0, 0, 0, rank.comm, rank.stream), "ncclSignal");
  } else {
    ncclWaitSignalDesc_t twice[] = {{1, other, 0, 0}, {2, other, 0, 0}};
    rank.must(ncclWaitSignal(2, twice, rank.comm, rank.stream), "ncclWaitSignal");
  }
  rank.must(cudaStreamEndCapture(rank.stream, &graph), "cudaStreamEndCapture");
  rank.must(cudaGraphInstantiate(&executable, graph, 0), "cudaGraphInstantiate");
  cudaStream_t aside = nullptr;
  rank.must(cudaStreamCreateWithFlags(&aside, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  const auto meet = [&] {  // both ranks, beside the graph
    ncclWaitSignalDesc_t one{1, other, 0, 0};
    rank.must(ncclSignal(other, 0, 0, 0, rank.comm, aside), "ncclSignal");
    rank.must(ncclWaitSignal(1, &one, rank.comm, aside), "ncclWaitSignal");
    rank.must(cudaStreamSynchronize(aside), "cudaStreamSynchronize");
  };
  if (rank.rank == 1) rank.must(cudaGraphLaunch(executable, rank.stream), "cudaGraphLaunch");
  for (int i = 0; i < 2 && rank.rank == 0; ++i) rank.must(cudaGraphLaunch(executable, rank.stream), "cudaGraphLaunch");
  if (rank.rank == 0) rank.finish();
  meet();
  if (rank.rank == 1) rank.expect_eq(static_cast<int>(cudaStreamQuery(rank.stream)), static_cast<int>(cudaErrorNotReady), "the wait after two signals of three");
  meet();
  if (rank.rank == 0) rank.must(cudaGraphLaunch(executable, rank.stream), "cudaGraphLaunch");
  rank.finish();
  meet();
  rank.must(cudaGraphExecDestroy(executable), "cudaGraphExecDestroy");
  rank.must(cudaGraphDestroy(graph), "cudaGraphDestroy");
  rank.must(cudaStreamDestroy(aside), "cudaStreamDestroy");
}

}  // namespace

int main(int argc, char** argv) { return conformance::conformance_main(argc, argv); }
