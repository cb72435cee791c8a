// SPDX-License-Identifier: Apache-2.0
// Which rank am I, if a launcher started this process? anygin run, torchrun, srun and mpirun each have their variables;
// a program without MPI needs besides them a place where its ranks meet.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

struct Place {
  int rank = 0;
  int ranks = 0;  // 0: nobody launched us
  int local = 0;  // among the ranks of this host
};

inline int number_of(const char* variable, int otherwise) {
  const char* const text = std::getenv(variable);
  return text != nullptr ? std::atoi(text) : otherwise;
}

// SLURM_STEP_NUM_TASKS and not SLURM_NTASKS: that one is also set in a batch script, which is no rank.
inline Place find_place() {
  static const char* const kVariables[][3] = {
      {"RANK", "WORLD_SIZE", "LOCAL_RANK"},
      {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"},
      {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID"},
      {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID"}};
  for (const auto& [rank, ranks, local] : kVariables) {
    if (std::getenv(rank) == nullptr || std::getenv(ranks) == nullptr) continue;
    return {number_of(rank, 0), number_of(ranks, 0), number_of(local, number_of(rank, 0))};
  }
  return {};
}

// Sets NCCL_COMM_ID, if it is not set: beside torchrun's own store, or at a port that the Slurm job's number chooses.
// Ranks of one host meet on its loopback address. Before the first call of NCCL.
inline bool find_meeting_place() {
  if (std::getenv("NCCL_COMM_ID") != nullptr) return true;
  const char* const address = std::getenv("MASTER_ADDR");
  const int port = number_of("MASTER_PORT", 0);
  const bool one_host = number_of("LOCAL_WORLD_SIZE", number_of("WORLD_SIZE", 1)) == number_of("WORLD_SIZE", 1);
  std::string place;
  if (address != nullptr && port > 0) {
    place = (one_host ? std::string("127.0.0.1") : std::string(address)) + ":" + std::to_string(port + 1);
  } else if (const int job = number_of("SLURM_JOB_ID", 0); job > 0) {
    place = "127.0.0.1:" + std::to_string(15000 + (job * 16 + number_of("SLURM_STEP_ID", 0)) % 15000);
  } else {
    std::fprintf(
        stderr,
        "the launcher does not say where ranks meet: set NCCL_COMM_ID=host:port (or MASTER_ADDR and MASTER_PORT) to "
        "the same on all ranks, e.g. mpirun -x NCCL_COMM_ID=127.0.0.1:15500\n");
    return false;
  }
  return setenv("NCCL_COMM_ID", place.c_str(), 1) == 0;
}
