// SPDX-License-Identifier: Apache-2.0
// A layer of a mixture of experts whose kernels route: each rank has a share of the tokens and of the experts. moe.cu
// runs it and checks; `anygin perf moe` measures it.
#pragma once

#include <nccl.h>
#include <nccl_device.h>

#include <cstdio>
#include <vector>

namespace moe {

constexpr int kExperts = 16;
constexpr int kTop = 2;      // experts of a token
constexpr int kHidden = 64;  // numbers of a token
constexpr size_t kRowBytes = kHidden * sizeof(float);
constexpr int kThreads = 128;

// Which experts a token goes to, and how much of each it takes, in sixteenths.
struct Choice {
  int expert[kTop];
  int weight[kTop];
};

// One line a token, below a line of names: token,expert_a,weight_a,expert_b,weight_b. Empty, and says why on stderr, if
// the file is not such a table.
inline std::vector<Choice> read_table(const char* file) {
  std::FILE* const in = std::fopen(file, "r");
  if (in == nullptr) {
    std::fprintf(stderr, "%s: no such file; a routing table as examples/data/moe_routing.csv would be right\n", file);
    return {};
  }
  char line[128];
  std::vector<Choice> table;
  bool good = std::fgets(line, sizeof(line), in) != nullptr;  // the names
  while (good && std::fgets(line, sizeof(line), in) != nullptr) {
    Choice c{};
    size_t token = 0;
    good = std::sscanf(line, "%zu,%d,%d,%d,%d", &token, &c.expert[0], &c.weight[0], &c.expert[1], &c.weight[1]) == 5 &&
           token == table.size() && c.expert[0] != c.expert[1];
    for (const int expert : c.expert) good = good && expert >= 0 && expert < kExperts;
    if (good) table.push_back(c);
  }
  std::fclose(in);
  if (good && !table.empty()) return table;
  std::fprintf(stderr, "%s: line %zu: token,expert,weight,expert,weight with two experts of 0 to %d would be right\n",
               file, table.size() + 2, kExperts - 1);
  return {};
}

// What an expert does to a number: small integers, so that floats are exact.
__host__ __device__ inline float work_of(int expert, float x) {
  return static_cast<float>(expert + 1) * x + static_cast<float>(expert);
}
__host__ __device__ inline float token_value(size_t token, int i) {
  return static_cast<float>(token + static_cast<size_t>(i));
}

// What of the window is for what. Everything has room for the worst case: all tokens of a rank for one expert.
struct Court {
  int ranks = 1;
  size_t tokens = 0;  // of a rank

  __host__ __device__ int experts_here() const { return kExperts / ranks; }
  __host__ __device__ int home_of(int expert) const { return expert / experts_here(); }
  __host__ __device__ size_t sheet() const { return tokens * kRowBytes; }  // rows of one rank for one expert
  // Packed rows for an expert; the same rows when they come back.
  __host__ __device__ size_t outbox(int expert) const { return static_cast<size_t>(expert) * sheet(); }
  __host__ __device__ size_t back(int expert) const { return outbox(kExperts) + static_cast<size_t>(expert) * sheet(); }
  // At the expert's home: rows from each rank, and how many there are.
  __host__ __device__ size_t inbox(int expert, int from) const {
    return back(kExperts) + pair_of(expert, from) * sheet();
  }
  __host__ __device__ size_t rows(int expert, int from) const {
    return back(kExperts) + kExperts * sheet() + pair_of(expert, from) * sizeof(uint64_t);
  }
  __host__ __device__ size_t bytes() const { return back(kExperts) + kExperts * (sheet() + sizeof(uint64_t)); }

 private:
  __host__ __device__ size_t pair_of(int expert, int from) const {
    return static_cast<size_t>(expert % experts_here()) * static_cast<size_t>(ranks) + static_cast<size_t>(from);
  }
};

struct Layer {
  ncclDevComm comm;
  ncclWindow_t window;
  Court court;
  const float* tokens;    // [court.tokens][kHidden], this rank's
  const Choice* choices;  // [court.tokens]
  int* places;            // [court.tokens][kTop]: in which row for its expert a token travels
  float* out;             // [court.tokens][kHidden]
};

// Signals: rows for the expert came to its home; they came back.
__device__ inline ncclGinSignal_t dispatched(int expert) {
  return static_cast<ncclGinSignal_t>(expert);
}
__device__ inline ncclGinSignal_t returned(int expert) {
  return static_cast<ncclGinSignal_t>(kExperts + expert);
}
constexpr int kSignals = 2 * kExperts;

__device__ inline float* row_at(const Layer& layer, size_t offset, size_t row) {
  return static_cast<float*>(ncclGetLocalPointer(layer.window, offset)) + row * kHidden;
}

// Packs the rank's tokens for an expert; returns how many there are. Which token gets which row does not matter.
__device__ inline uint64_t pack(const Layer& layer, int expert, uint64_t step) {
  __shared__ unsigned long long rows;
  if (threadIdx.x == 0) rows = 0;
  __syncthreads();
  for (size_t token = threadIdx.x; token < layer.court.tokens; token += blockDim.x) {
    for (int k = 0; k < kTop; ++k) {
      if (layer.choices[token].expert[k] != expert) continue;
      const auto place = static_cast<size_t>(atomicAdd(&rows, 1ull));
      layer.places[token * kTop + static_cast<size_t>(k)] = static_cast<int>(place);
      float* const row = row_at(layer, layer.court.outbox(expert), place);
      for (int i = 0; i < kHidden; ++i)
        row[i] = layer.tokens[token * kHidden + static_cast<size_t>(i)] + static_cast<float>(step);
    }
  }
  __syncthreads();
  return rows;
}

// The home's part: what came from each rank is worked on where it lies, and goes back.
__device__ inline void serve(const Layer& layer, const ncclGin& gin, int expert, uint64_t step) {
  const ncclCoopCta block;
  const ncclTeam world = ncclTeamWorld(layer.comm);
  const Court& court = layer.court;
  gin.waitSignal(block, dispatched(expert), (step + 1) * static_cast<uint64_t>(world.nRanks));
  for (int from = 0; from < world.nRanks; ++from) {
    const size_t rows = *static_cast<uint64_t*>(ncclGetLocalPointer(layer.window, court.rows(expert, from)));
    float* const numbers = row_at(layer, court.inbox(expert, from), 0);
    for (size_t i = threadIdx.x; i < rows * kHidden; i += blockDim.x) numbers[i] = work_of(expert, numbers[i]);
    gin.put(world, from, layer.window, court.back(expert), layer.window, court.inbox(expert, from), rows * kRowBytes,
            ncclGin_WeakSignalInc{returned(expert)}, ncclGin_None{}, block);
  }
}

// A block an expert. The rows travel by a put of their own; their number's signal is strong, so that it covers them.
__global__ void __launch_bounds__(kThreads) dispatch(Layer layer, uint64_t step) {
  const ncclCoopCta block;
  const int expert = static_cast<int>(blockIdx.x);
  const ncclGin gin(layer.comm, expert % static_cast<int>(layer.comm.ginContextCount));
  const ncclTeam world = ncclTeamWorld(layer.comm);
  const Court& court = layer.court;
  const int home = court.home_of(expert);
  const uint64_t rows = pack(layer, expert, step);
  if (rows > 0) {
    gin.put(world, home, layer.window, court.inbox(expert, world.rank), layer.window, court.outbox(expert),
            rows * kRowBytes, ncclGin_None{}, ncclGin_None{}, block);
  }
  gin.putValue(world, home, layer.window, court.rows(expert, world.rank), rows,
               ncclGin_StrongSignalInc{dispatched(expert)}, block);
  if (home == world.rank) serve(layer, gin, expert, step);
  gin.waitSignal(block, returned(expert), step + 1);
  gin.flush(block);
}

// Each token takes its share of what its experts made of it.
__global__ void combine(Layer layer) {
  const size_t numbers = layer.court.tokens * kHidden;
  for (size_t at = blockIdx.x * blockDim.x + threadIdx.x; at < numbers;
       at += static_cast<size_t>(gridDim.x) * blockDim.x) {
    const size_t token = at / kHidden;
    float sum = 0;
    for (int k = 0; k < kTop; ++k) {
      const Choice& choice = layer.choices[token];
      const auto place = static_cast<size_t>(layer.places[token * kTop + static_cast<size_t>(k)]);
      sum += static_cast<float>(choice.weight[k]) / 16 *
             row_at(layer, layer.court.back(choice.expert[k]), place)[at % kHidden];
    }
    layer.out[at] = sum;
  }
}

// What `combine` should leave behind a step, computed token by token.
inline float reference(const Choice& choice, size_t token, int i, uint64_t step) {
  float sum = 0;
  for (int k = 0; k < kTop; ++k) {
    sum += static_cast<float>(choice.weight[k]) / 16 *
           work_of(choice.expert[k], token_value(token, i) + static_cast<float>(step));
  }
  return sum;
}

}  // namespace moe
