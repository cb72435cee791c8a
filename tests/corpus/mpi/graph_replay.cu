// SPDX-License-Identifier: Apache-2.0
// A step of communication captured into a graph and replayed.
#include "corpus_mpi.h"

__global__ void step(ncclDevComm comm, ncclWindow_t window) {
  ncclCoopCta cta;
  ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  auto* words = static_cast<int*>(ncclGetLocalPointer(window, 0));
  if (threadIdx.x == 0) words[1] = words[0] + 1;
  gin.put(world, (world.rank + 1) % world.nRanks, window, 2 * sizeof(int), window, sizeof(int), sizeof(int),
          ncclGin_StrongSignalInc{0}, ncclGin_None{}, cta);
  if (threadIdx.x == 0) gin.increaseSignalShadow(0, 1);
  cta.sync();
  gin.waitSignalMeetShadow(cta, 0);
  gin.flush(cta);
  if (threadIdx.x == 0) words[0] = words[2];
  ncclBarrierSession<ncclCoopCta> bar(cta, ncclTeamTagWorld(), gin, 0);
  bar.sync(cta, cuda::memory_order_acq_rel, ncclGinFenceLevel::Relaxed);
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    constexpr int kReplays = 7;
    Window window(ranks, 4096);
    DeviceComm device(ranks, 1, 1);
    cudaGraph_t graph;
    cudaGraphExec_t replay;
    cudaStreamCaptureStatus status;
    CUDACHECK(cudaStreamBeginCapture(ranks.stream, cudaStreamCaptureModeThreadLocal));
    CUDACHECK(cudaStreamIsCapturing(ranks.stream, &status));
    step<<<1, 32, 0, ranks.stream>>>(device.comm, window.handle);
    CUDACHECK(cudaStreamEndCapture(ranks.stream, &graph));
    CUDACHECK(cudaGraphInstantiate(&replay, graph, 0));
    for (int i = 0; i < kReplays; ++i) CUDACHECK(cudaGraphLaunch(replay, ranks.stream));
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    CUDACHECK(cudaGraphExecDestroy(replay));
    CUDACHECK(cudaGraphDestroy(graph));
    return window.read<int>(1)[0] == kReplays && status == cudaStreamCaptureStatusActive ? 0 : 1;
  });
}
