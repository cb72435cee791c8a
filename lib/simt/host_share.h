// SPDX-License-Identifier: Apache-2.0
// How many processes of this job run on this host, so that they share its cores.
#pragma once

namespace anygin::simt {

// What the launcher says (anygin run, torchrun, Open MPI, MPICH, in this order); 1 if none says.
int processes_of_host();

}  // namespace anygin::simt
