// SPDX-License-Identifier: Apache-2.0
// Datatypes and reductions.
#pragma once

#include <cstddef>

#include "mpi.h"

namespace anygin::mpi {

size_t size_of(MPI_Datatype type);  // 0: no datatype of ours

// into[i] = into[i] op more[i]. False if the operation is not defined for the type.
bool reduce(MPI_Op op, MPI_Datatype type, void* into, const void* more, size_t count);

}  // namespace anygin::mpi
