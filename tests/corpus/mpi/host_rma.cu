// SPDX-License-Identifier: Apache-2.0
// One-sided operations from the host: ncclPutSignal, ncclSignal, ncclWaitSignal on streams.
#include "corpus_mpi.h"

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    constexpr size_t kCount = 1024;
    Window window(ranks, 2 * kCount * sizeof(int));
    std::vector<int> values(2 * kCount, 0);
    for (size_t i = 0; i < kCount; ++i) values[kCount + i] = ranks.rank * 10000 + static_cast<int>(i);
    window.write(values);
    const int next = (ranks.rank + 1) % ranks.size, left = (ranks.rank + ranks.size - 1) % ranks.size;
    MPI_Barrier(MPI_COMM_WORLD);
    const int* source = static_cast<const int*>(window.data) + kCount;
    NCCLCHECK(ncclPutSignal(source, kCount, ncclInt32, next, window.handle, 0, 0, 0, 0, ranks.comm, ranks.stream));
    ncclWaitSignalDesc_t wait{};
    wait.opCnt = 1;
    wait.peer = left;
    NCCLCHECK(ncclWaitSignal(1, &wait, ranks.comm, ranks.stream));
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    int wrong = 0;
    const std::vector<int> got = window.read<int>(kCount);
    for (size_t i = 0; i < kCount; ++i) wrong += got[i] != left * 10000 + static_cast<int>(i);
    MPI_Barrier(MPI_COMM_WORLD);
    return wrong;
  });
}
