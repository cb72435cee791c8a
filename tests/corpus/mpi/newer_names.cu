// SPDX-License-Identifier: Apache-2.0
// Demand 14: names of 2.32 (this file is compiled with -DANYGIN_NCCL_VERSION=23203): segment tags on put,
// waits with a limit.
#include "limited_ring.h"

int main(int argc, char** argv) {
  return put_round_the_ring(argc, argv, NCCL_WIN_COLL_SYMMETRIC);
}
