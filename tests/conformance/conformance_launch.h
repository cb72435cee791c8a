// SPDX-License-Identifier: Apache-2.0
// Which rank this process is: one that `anygin run` or torchrun (RANK), mpirun or srun started, or none. The ranks find each
// other through NCCL_COMM_ID.
#pragma once

#include <cstdlib>

namespace conformance {

struct Launched {
  int rank = -1, ranks = 0, local_rank = 0;
  bool as_process() const { return rank >= 0; }
};

inline Launched launched() {
  struct Names {
    const char *rank, *ranks, *local_rank;
  };
  constexpr Names kLaunchers[] = {{"RANK", "WORLD_SIZE", "LOCAL_RANK"},
                                  {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
                                  {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"},
                                  {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"}};
  if (std::getenv("NCCL_COMM_ID") == nullptr) return {};  // a shell of a job has some of these, too
  for (const Names& names : kLaunchers) {
    const char *const rank = std::getenv(names.rank), *const ranks = std::getenv(names.ranks), *const local = std::getenv(names.local_rank);
    if (rank != nullptr && ranks != nullptr) return {std::atoi(rank), std::atoi(ranks), std::atoi(local != nullptr ? local : rank)};
  }
  return {};
}

}  // namespace conformance
