// SPDX-License-Identifier: Apache-2.0
// Host collectives beside device communication, as programs use them to check results: ncclAllReduce, ncclAllGather,
// ncclBroadcast, ncclSend and ncclRecv in a group.
#include "corpus_mpi.h"

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    constexpr size_t kCount = 256;
    float *send, *receive;
    const auto n = static_cast<size_t>(ranks.size);
    CUDACHECK(cudaMallocManaged(&send, kCount * sizeof(float)));
    CUDACHECK(cudaMallocManaged(&receive, n * kCount * sizeof(float)));
    for (size_t i = 0; i < kCount; ++i) send[i] = static_cast<float>(ranks.rank + 1);
    NCCLCHECK(ncclAllReduce(send, receive, kCount, ncclFloat, ncclSum, ranks.comm, ranks.stream));
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    int wrong = receive[kCount - 1] != static_cast<float>(n * (n + 1) / 2);
    NCCLCHECK(ncclAllGather(send, receive, kCount, ncclFloat, ranks.comm, ranks.stream));
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    for (size_t i = 0; i < n * kCount; ++i) wrong += receive[i] != static_cast<float>(i / kCount + 1);
    NCCLCHECK(ncclGroupStart());
    NCCLCHECK(ncclSend(send, kCount, ncclFloat, (ranks.rank + 1) % ranks.size, ranks.comm, ranks.stream));
    NCCLCHECK(
        ncclRecv(receive, kCount, ncclFloat, (ranks.rank + ranks.size - 1) % ranks.size, ranks.comm, ranks.stream));
    NCCLCHECK(ncclGroupEnd());
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    wrong += receive[0] != static_cast<float>((ranks.rank + ranks.size - 1) % ranks.size + 1);
    CUDACHECK(cudaFree(send));
    CUDACHECK(cudaFree(receive));
    return wrong;
  });
}
