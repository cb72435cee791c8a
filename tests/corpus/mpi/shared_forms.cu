// SPDX-License-Identifier: Apache-2.0
// Demand 7: static and dynamic shared memory, in templates too, of structs and several dimensions; __noinline__.
#include <vector>

#include "corpus_mpi.h"

struct alignas(16) Pair {
  int key;
  float value;
};

template <typename T, int N>
__device__ T block_sum(T mine) {
  __shared__ T parts[N];
  parts[threadIdx.x] = mine;
  __syncthreads();
  for (int step = N / 2; step > 0; step /= 2) {
    if (static_cast<int>(threadIdx.x) < step) parts[threadIdx.x] += parts[threadIdx.x + step];
    __syncthreads();
  }
  const T sum = parts[0];
  __syncthreads();
  return sum;
}

__noinline__ __device__ int transposed(int row, int column) {
  __shared__ int tile[8][9];
  tile[row][column] = row * 8 + column;
  __syncthreads();
  return tile[column][row];
}

template <typename T>
__global__ void reduce(ncclDevComm comm, ncclWindow_t window) {
  extern __shared__ __align__(16) unsigned char raw[];
  T* scratch = reinterpret_cast<T*>(raw);
  Pair* pairs = reinterpret_cast<Pair*>(raw + blockDim.x * sizeof(T));
  scratch[threadIdx.x] = static_cast<T>(threadIdx.x);
  pairs[threadIdx.x] = Pair{static_cast<int>(threadIdx.x), 0.5f};
  __syncthreads();
  const T mirrored = scratch[blockDim.x - 1 - threadIdx.x] + static_cast<T>(pairs[threadIdx.x].key);
  const T sum =
      block_sum<T, 64>(mirrored) + block_sum<T, 64>(static_cast<T>(transposed(threadIdx.x / 8, threadIdx.x % 8)));
  if (threadIdx.x != 0) return;
  ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  gin.putValue(world, (world.rank + 1) % world.nRanks, window, 0, sum, ncclGin_StrongSignalInc{0});
  gin.waitSignal(ncclCoopThread(), 0, 1);
  gin.flush(ncclCoopThread());
}

extern __shared__ int counts[];  // at namespace scope

__global__ void count(int* out) {
  counts[threadIdx.x] = 1;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (unsigned i = 0; i < blockDim.x; ++i) *out += counts[i];
  }
}

int main(int argc, char** argv) {
  return run_mpi(argc, argv, [](Ranks& ranks) {
    Window window(ranks, 4096);
    DeviceComm device(ranks, 1);
    reduce<double><<<1, 64, 64 * (sizeof(double) + sizeof(Pair)), ranks.stream>>>(device.comm, window.handle);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    const int sum = 63 * 64 / 2;  // of 0..63; mirrored, keys and the tile each bring it once
    int wrong = window.read<double>(1)[0] == 3.0 * sum ? 0 : 1;
    int* out;
    CUDACHECK(cudaMallocHost(&out, sizeof *out));
    *out = 0;
    count<<<1, 96, 96 * sizeof(int), ranks.stream>>>(out);
    CUDACHECK(cudaStreamSynchronize(ranks.stream));
    wrong += *out != 96;
    CUDACHECK(cudaFreeHost(out));
    return wrong;
  });
}
