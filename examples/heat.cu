// SPDX-License-Identifier: Apache-2.0
// Heat in a rod that is cut among the ranks: every step each rank sends its outermost cells to its neighbours by
// putValue, the signal that comes with a value says that it is there. Two halos in turns: a neighbour is at most one step
// ahead. Ends are kept at 100 and 0 degrees; the host computes the whole rod and compares.
#include <algorithm>
#include <cmath>

#include "common.h"

namespace {

constexpr int kCells = 512;  // a rank, and threads of its block
constexpr int kSteps = 200;
constexpr float kRate = 0.25f;
constexpr float kHot = 100.0f, kCold = 0.0f;
constexpr ncclGinSignal_t kFromLeft = 0, kFromRight = 1;

// What neighbours write.
struct Halos {
  struct {
    uint64_t left, right;  // a float in the low half
  } of_step[2];
};

__device__ float neighbour(const uint64_t& cell) {
  const uint32_t bits = static_cast<uint32_t>(cell);
  float value;
  memcpy(&value, &bits, sizeof(value));
  return value;
}

__global__ void __launch_bounds__(kCells) heat(ncclDevComm comm, ncclWindow_t window, float* rod) {
  __shared__ float cells[kCells + 2];
  const ncclCoopCta block;
  const ncclGin gin(comm, 0);
  const ncclTeam world = ncclTeamWorld(comm);
  const bool first = world.rank == 0, last = world.rank == world.nRanks - 1;
  auto* const halos = static_cast<Halos*>(ncclGetLocalPointer(window, 0));
  const int me = static_cast<int>(threadIdx.x) + 1;
  cells[me] = rod[threadIdx.x];
  if (threadIdx.x == 0) {
    cells[0] = kHot;
    cells[kCells + 1] = kCold;
  }
  __syncthreads();
  for (uint64_t step = 0; step < kSteps; ++step) {
    const size_t halo = step % 2 * sizeof(halos->of_step[0]);
    if (threadIdx.x == 0 && !first) {
      gin.putValue(world, world.rank - 1, window, halo + 8, cells[1], ncclGin_StrongSignalInc{kFromRight});
    }
    if (threadIdx.x == 0 && !last) {
      gin.putValue(world, world.rank + 1, window, halo, cells[kCells], ncclGin_StrongSignalInc{kFromLeft});
    }
    if (!first) gin.waitSignal(block, kFromLeft, step + 1);
    if (!last) gin.waitSignal(block, kFromRight, step + 1);
    if (threadIdx.x == 0 && !first) cells[0] = neighbour(halos->of_step[step % 2].left);
    if (threadIdx.x == 0 && !last) cells[kCells + 1] = neighbour(halos->of_step[step % 2].right);
    __syncthreads();
    const float next = cells[me] + kRate * (cells[me - 1] - 2 * cells[me] + cells[me + 1]);
    __syncthreads();
    cells[me] = next;
    __syncthreads();
  }
  rod[threadIdx.x] = cells[me];
  gin.flush(block);
}

float begin_of(size_t cell) { return 50.0f + 40.0f * std::sin(static_cast<float>(cell) * 0.02f); }

// The whole rod after kSteps.
std::vector<double> reference(int ranks) {
  const size_t cells = static_cast<size_t>(ranks) * kCells;
  std::vector<double> rod(cells + 2), next(cells + 2);
  for (size_t i = 0; i < cells; ++i) rod[i + 1] = begin_of(i);
  rod.front() = next.front() = kHot;
  rod.back() = next.back() = kCold;
  for (int step = 0; step < kSteps; ++step) {
    for (size_t i = 1; i <= cells; ++i) next[i] = rod[i] + kRate * (rod[i - 1] - 2 * rod[i] + rod[i + 1]);
    rod.swap(next);
  }
  return {rod.begin() + 1, rod.end() - 1};
}

int warm_up(RankEnv& env) {
  void* memory;
  ncclWindow_t window;
  CHECK_NCCL(ncclMemAlloc(&memory, sizeof(Halos)));
  CHECK_NCCL(ncclCommWindowRegister(env.comm, memory, sizeof(Halos), &window, NCCL_WIN_COLL_SYMMETRIC));
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  requirements.ginSignalCount = 2;
  ncclDevComm device_comm;
  CHECK_NCCL(ncclDevCommCreate(env.comm, &requirements, &device_comm));

  const size_t own = static_cast<size_t>(env.rank) * kCells;
  std::vector<float> host(kCells);
  for (size_t i = 0; i < kCells; ++i) host[i] = begin_of(own + i);
  float* rod;
  CHECK_CUDA(cudaMalloc(&rod, kCells * sizeof(float)));
  CHECK_CUDA(cudaMemcpyAsync(rod, host.data(), kCells * sizeof(float), cudaMemcpyHostToDevice, env.stream));
  heat<<<1, kCells, 0, env.stream>>>(device_comm, window, rod);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpyAsync(host.data(), rod, kCells * sizeof(float), cudaMemcpyDeviceToHost, env.stream));
  CHECK_CUDA(cudaStreamSynchronize(env.stream));

  const std::vector<double> want = reference(env.ranks);
  double sum = 0, worst = 0;
  for (size_t i = 0; i < kCells; ++i) {
    sum += host[i];
    worst = std::max(worst, std::fabs(host[i] - want[own + i]));
  }
  const int wrong = worst < 1e-3 ? 0 : 1;
  std::printf("rank %d of %d: heat %.6e after %d steps, off by %.1e at most: %s\n", env.rank, env.ranks, sum, kSteps, worst,
              wrong == 0 ? "PASSED" : "FAILED");

  CHECK_CUDA(cudaFree(rod));
  CHECK_NCCL(ncclDevCommDestroy(env.comm, &device_comm));
  CHECK_NCCL(ncclCommWindowDeregister(env.comm, window));
  CHECK_NCCL(ncclMemFree(memory));
  return wrong;
}

}  // namespace

int main(int argc, char** argv) { return run_example(argc, argv, warm_up); }
