// SPDX-License-Identifier: Apache-2.0
// Computing while the network works. Each rank makes tiles for its right neighbour and adds up those of its left one; a
// tile travels in a slot. With one slot a rank waits for each tile at once. With four it computes three tiles further
// before it needs an answer. Each slot has a counter (my source is free), a signal "arrived" and a signal back,
// "taken".
#include <algorithm>

#include "common.h"

namespace {

constexpr int kThreads = 128;
constexpr int kMostSlots = 4;
constexpr int kTiles = 16;  // a pass; a multiple of the slots
constexpr int kPasses = 5;  // the first warms up
constexpr size_t kWords = 4096;
constexpr size_t kTileBytes = kWords * sizeof(uint64_t);
constexpr int kWork = 16;  // how often a word is mixed

__host__ __device__ uint64_t word_of(int rank, uint64_t tile, size_t i) {
  uint64_t word = (static_cast<uint64_t>(rank) << 48) + (tile << 32) + i;
  for (int turn = 0; turn < kWork; ++turn) word = word * 6364136223846793005u + 1442695040888963407u;
  return word;
}

struct Pipe {
  ncclDevComm comm;
  ncclWindow_t inbox, outbox;
  uint64_t* sums;  // of the words at each place
  int slots;
};

// The how manieth tile of its slot, from 0.
__device__ uint64_t use_of(const Pipe& pipe, uint64_t tile) {
  return tile / static_cast<uint64_t>(pipe.slots);
}

__device__ void send_tile(const Pipe& pipe, const ncclGin& gin, uint64_t tile) {
  const ncclCoopCta block;
  const ncclTeam world = ncclTeamWorld(pipe.comm);
  const auto slot = static_cast<uint32_t>(tile % static_cast<uint64_t>(pipe.slots));
  const uint64_t use = use_of(pipe, tile);
  auto* const source = static_cast<uint64_t*>(ncclGetLocalPointer(pipe.outbox, slot * kTileBytes));
  gin.waitCounter(block, slot, use);  // the NIC has read the tile before
  for (size_t i = threadIdx.x; i < kWords; i += blockDim.x) source[i] = word_of(world.rank, tile, i);
  gin.waitSignal(block, kMostSlots + slot, use);  // the neighbour has taken it
  gin.put(world, (world.rank + 1) % world.nRanks, pipe.inbox, slot * kTileBytes, pipe.outbox, slot * kTileBytes,
          kTileBytes, ncclGin_WeakSignalInc{slot}, ncclGin_WeakCounterInc{slot}, block);
}

__device__ void take_tile(const Pipe& pipe, const ncclGin& gin, uint64_t tile) {
  const ncclCoopCta block;
  const ncclTeam world = ncclTeamWorld(pipe.comm);
  const auto slot = static_cast<uint32_t>(tile % static_cast<uint64_t>(pipe.slots));
  const auto* const arrived = static_cast<const uint64_t*>(ncclGetLocalPointer(pipe.inbox, slot * kTileBytes));
  gin.waitSignal(block, slot, use_of(pipe, tile) + 1);
  for (size_t i = threadIdx.x; i < kWords; i += blockDim.x) pipe.sums[i] += arrived[i];
  gin.signal(world, (world.rank + world.nRanks - 1) % world.nRanks, ncclGin_WeakSignalInc{kMostSlots + slot}, block);
}

__global__ void __launch_bounds__(kThreads) pass(Pipe pipe, int number) {
  const ncclGin gin(pipe.comm, 0);
  const int ahead = pipe.slots - 1;
  const uint64_t first = static_cast<uint64_t>(number) * kTiles;
  for (int step = 0; step < kTiles + ahead; ++step) {
    if (step < kTiles) send_tile(pipe, gin, first + static_cast<uint64_t>(step));
    if (step >= ahead) take_tile(pipe, gin, first + static_cast<uint64_t>(step - ahead));
  }
  gin.flush(ncclCoopCta{});
}

struct Outcome {
  float ms = 0;  // of the median pass
  int wrong = 0;
};

Outcome run(RankEnv& env, int slots) {
  const SharedMemory inbox(env.comm, kMostSlots * kTileBytes), outbox(env.comm, kMostSlots * kTileBytes);
  ncclDevCommRequirements_t requirements = NCCL_DEV_COMM_REQUIREMENTS_INITIALIZER;
  requirements.ginConnectionType = NCCL_GIN_CONNECTION_FULL;
  requirements.ginSignalCount = 2 * kMostSlots;
  requirements.ginCounterCount = kMostSlots;
  const DeviceComm comm(env.comm, requirements);
  const DeviceArray<uint64_t> sums(env, kWords);
  Stopwatch watch(env.stream);
  std::vector<float> ms;
  for (int number = 0; number < kPasses; ++number) {
    watch.start();
    pass<<<1, kThreads, 0, env.stream>>>({comm.view(), inbox.window(), outbox.window(), sums.data(), slots}, number);
    CHECK_CUDA(cudaGetLastError());
    ms.push_back(watch.stop_ms());
  }
  std::sort(ms.begin() + 1, ms.end());
  Outcome outcome{ms[kPasses / 2], 0};
  const std::vector<uint64_t> got = sums.on_host();
  const int left = (env.rank + env.ranks - 1) % env.ranks;
  for (size_t i = 0; i < kWords; ++i) {
    uint64_t want = 0;
    for (uint64_t tile = 0; tile < kPasses * kTiles; ++tile) want += word_of(left, tile, i);
    outcome.wrong += got[i] != want;
  }
  return outcome;
}

int compare(RankEnv& env) {
  const Outcome apart = run(env, 1), overlapped = run(env, kMostSlots);
  char text[128];
  std::snprintf(text, sizeof(text), "%d tiles: 1 slot %.3f ms, %d slots %.3f ms, ratio %.2f", kTiles, apart.ms,
                kMostSlots, overlapped.ms, apart.ms / overlapped.ms);
  return verdict(env, text, apart.wrong + overlapped.wrong);
}

}  // namespace

int main(int argc, char** argv) {
  return run_example(argc, argv, compare);
}
