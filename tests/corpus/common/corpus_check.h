// SPDX-License-Identifier: Apache-2.0
// How the programs of the corpus check calls, as programs commonly do.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdio>
#include <cstdlib>

#define CUDACHECK(call)                                                                         \
  do {                                                                                          \
    cudaError_t cuda_result = (call);                                                           \
    if (cuda_result != cudaSuccess) {                                                           \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(cuda_result)); \
      std::exit(EXIT_FAILURE);                                                                  \
    }                                                                                           \
  } while (0)

#define NCCLCHECK(call)                                                                             \
  do {                                                                                              \
    ncclResult_t nccl_result = (call);                                                              \
    if (nccl_result != ncclSuccess) {                                                               \
      std::fprintf(stderr, "%s:%d: %s (%s)\n", __FILE__, __LINE__, ncclGetErrorString(nccl_result), \
                   ncclGetLastError(nullptr));                                                      \
      std::exit(EXIT_FAILURE);                                                                      \
    }                                                                                               \
  } while (0)
