// SPDX-License-Identifier: Apache-2.0
// What every example does before its own idea: find its ranks, create communicators, check errors.
// Started by a launcher (anygin run, torchrun, srun, mpirun) the process is one rank; else all ranks run as threads.
// Ranks may share a device, so nobody uses the legacy stream: it would wait for the other rank's kernel.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>
#include <nccl_device.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "launcher.h"

#define CHECK_CUDA(call)                                                                                    \
  do {                                                                                                      \
    const cudaError_t check_error_ = (call);                                                                \
    if (check_error_ != cudaSuccess) {                                                                      \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, cudaGetErrorString(check_error_)); \
      std::exit(1);                                                                                         \
    }                                                                                                       \
  } while (false)

#define CHECK_NCCL(call)                                                                                         \
  do {                                                                                                           \
    const ncclResult_t check_result_ = (call);                                                                   \
    if (check_result_ != ncclSuccess) {                                                                          \
      std::fprintf(stderr, "%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call, ncclGetErrorString(check_result_), \
                   ncclGetLastError(nullptr));                                                                   \
      std::exit(1);                                                                                              \
    }                                                                                                            \
  } while (false)

// One rank's part of the program.
struct RankEnv {
  int rank = 0;
  int ranks = 1;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
};

// Returns the number of wrong values the rank saw.
using RankMain = std::function<int(RankEnv&)>;

inline int run_rank(int rank, int ranks, int device, const ncclUniqueId& id, const RankMain& rank_main) {
  RankEnv env;
  env.rank = rank;
  env.ranks = ranks;
  CHECK_CUDA(cudaSetDevice(device));
  CHECK_NCCL(ncclCommInitRank(&env.comm, ranks, id, rank));
  CHECK_CUDA(cudaStreamCreateWithFlags(&env.stream, cudaStreamNonBlocking));
  const int wrong = rank_main(env);
  CHECK_CUDA(cudaStreamDestroy(env.stream));
  CHECK_NCCL(ncclCommDestroy(env.comm));
  return wrong;
}

// One line that is the same wherever the program computed the same bytes.
inline void print_digest(const RankEnv& env, const void* data, size_t bytes) {
  uint64_t digest = 14695981039346656037u;  // FNV-1a
  for (size_t i = 0; i < bytes; ++i) digest = (digest ^ static_cast<const unsigned char*>(data)[i]) * 1099511628211u;
  std::printf("rank %d of %d: digest %016llx\n", env.rank, env.ranks, static_cast<unsigned long long>(digest));
}

// Runs `rank_main` on every rank and returns the process's exit code. `-r N` chooses how many ranks run as threads.
inline int run_example(int argc, char** argv, const RankMain& rank_main) {
  ncclUniqueId id;
  if (const Place place = find_place(); place.ranks > 0) {
    if (!find_meeting_place()) return 2;
    CHECK_NCCL(ncclGetUniqueId(&id));  // NCCL_COMM_ID is set: every rank gets the same rendezvous
    return run_rank(place.rank, place.ranks, place.local, id, rank_main) == 0 ? 0 : 1;
  }
  int ranks = 4;
  for (int i = 1; i + 1 < argc; ++i) {
    if (std::strcmp(argv[i], "-r") == 0) ranks = std::atoi(argv[i + 1]);
  }
  int devices = 0;
  CHECK_CUDA(cudaGetDeviceCount(&devices));
  CHECK_NCCL(ncclGetUniqueId(&id));
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int r = 0; r < ranks; ++r) {
    threads.emplace_back([&, r] { wrong += run_rank(r, ranks, r % devices, id, rank_main); });
  }
  for (std::thread& thread : threads) thread.join();
  return wrong == 0 ? 0 : 1;
}
