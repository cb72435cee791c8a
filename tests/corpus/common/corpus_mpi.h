// SPDX-License-Identifier: Apache-2.0
// One process a rank, started by mpirun: the commonest beginning and end of a program.
#pragma once

#include <mpi.h>

#include "corpus_ranks.h"

// `body` returns the number of wrong values that this rank saw.
template <typename Body>
int run_mpi(int argc, char** argv, const Body& body) {
  Ranks ranks;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &ranks.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks.size);
  MPI_Comm node;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, ranks.rank, MPI_INFO_NULL, &node);
  MPI_Comm_rank(node, &ranks.local);
  MPI_Comm_free(&node);

  ncclUniqueId id;
  if (ranks.rank == 0) NCCLCHECK(ncclGetUniqueId(&id));
  MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
  open_ranks(&ranks, id);
  long wrong = body(ranks), all_wrong = 0;
  MPI_Allreduce(&wrong, &all_wrong, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  close_ranks(&ranks);
  if (ranks.rank == 0)
    std::printf("%d ranks, %ld wrong: %s\n", ranks.size, all_wrong, all_wrong == 0 ? "PASSED" : "FAILED");
  MPI_Finalize();
  return all_wrong == 0 ? 0 : 1;
}
